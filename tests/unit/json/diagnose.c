/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "json/diagnose.h"

static struct diagnostics problems;
static struct json_tape tape;

static void read_tape(const char *text)
{
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void give_back(void)
{
	diagnostics_deinit(&problems);
	json_tape_deinit(&tape);
}

TestSuite(diagnose, .fini = give_back);

static void expect_first(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	diagnostics_write_first(&problems, "FILE", &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
}

Test(diagnose, is_told_with_its_place_in_the_file)
{
	read_tape("{\"a\":\n[1,\n2]}");
	diagnose(&problems, DIAGNOSTIC_ERROR, &tape, json_find(&tape, 0, "a") + 2, "not %d", 2);
	cr_expect_eq(problems.items[0].line, 3);
	expect_first("FILE:3 /a/1: not 2");
}

Test(diagnose, may_be_told_by_a_pointer_to_what_is_missing)
{
	read_tape("{\n\"a\":{}}");
	diagnose_at(&problems, DIAGNOSTIC_ERROR, &tape, "/a/b", "is missing");
	expect_first("FILE:2 /a/b: is missing");
}

Test(diagnose, may_have_no_place)
{
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "cannot be read");
	expect_first("FILE: cannot be read");
}

Test(diagnose, may_have_a_place_that_was_found_out_elsewhere)
{
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 7, "/library", "%s", "is not there");
	expect_first("FILE:7 /library: is not there");
}

Test(diagnose, that_is_an_error_goes_before_a_warning)
{
	diagnostics_add(&problems, DIAGNOSTIC_WARNING, 0, "", "odd");
	expect_first("FILE: cannot be loaded");
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "wrong");
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "wrong, too");
	expect_first("FILE: wrong (and 1 more)");
	cr_expect_eq(problems.n_errors, 2);
}

Test(diagnose, is_only_counted_where_there_is_no_room)
{
	read_tape("[1]");
	for (int i = 0; i < DIAGNOSTICS_MAX + 5; i++) {
		char text[32];

		snprintf(text, sizeof(text), "two %d", i);
		diagnose(&problems, DIAGNOSTIC_ERROR, &tape, 1, "one %d", i);
		diagnose_at(&problems, DIAGNOSTIC_ERROR, &tape, "/0", text);
		diagnostics_add(&problems, DIAGNOSTIC_ERROR, 1, "", "three %d", i);
	}
	cr_expect_eq(problems.n_items, DIAGNOSTICS_MAX);
	cr_expect_eq(problems.n_errors, (size_t)3 * (DIAGNOSTICS_MAX + 5));
}

static void add_many(enum diagnostic_severity severity, unsigned int count)
{
	static unsigned int number;

	while (count-- > 0)
		diagnostics_add(&problems, severity, 0, "", "problem %u", ++number);
}

Test(diagnose, that_is_an_error_takes_the_place_of_the_last_warning)
{
	add_many(DIAGNOSTIC_ERROR, DIAGNOSTICS_MAX - 1);
	add_many(DIAGNOSTIC_WARNING, 1);
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "the cause");
	cr_expect_eq(problems.n_items, DIAGNOSTICS_MAX);
	cr_expect_str_eq(problems.items[DIAGNOSTICS_MAX - 1].text, "the cause");
	cr_expect_eq(problems.items[DIAGNOSTICS_MAX - 1].severity, DIAGNOSTIC_ERROR);
}

Test(diagnose, that_is_an_error_leaves_errors_and_earlier_warnings_in_place)
{
	add_many(DIAGNOSTIC_ERROR, DIAGNOSTICS_MAX - 2);
	add_many(DIAGNOSTIC_WARNING, 1);
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "the cause");
	diagnostics_add(&problems, DIAGNOSTIC_ERROR, 0, "", "one too many");
	cr_expect_eq(problems.n_items, DIAGNOSTICS_MAX);
	cr_expect_eq(problems.items[DIAGNOSTICS_MAX - 2].severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(problems.items[DIAGNOSTICS_MAX - 1].text, "the cause");
}

Test(diagnose, that_is_a_warning_takes_no_place_from_a_warning)
{
	add_many(DIAGNOSTIC_WARNING, DIAGNOSTICS_MAX - 1);
	diagnostics_add(&problems, DIAGNOSTIC_WARNING, 0, "", "the last");
	diagnostics_add(&problems, DIAGNOSTIC_WARNING, 0, "", "one too many");
	cr_expect_eq(problems.n_items, DIAGNOSTICS_MAX);
	cr_expect_str_eq(problems.items[DIAGNOSTICS_MAX - 1].text, "the last");
}

Test(diagnose, is_told_once_of_a_place)
{
	read_tape("[1,2]");
	for (int i = 0; i < 3; i++) {
		diagnose(&problems, DIAGNOSTIC_ERROR, &tape, 1, "wrong");
		diagnostics_add(&problems, DIAGNOSTIC_WARNING, 1, "/1", "odd");
	}
	diagnose(&problems, DIAGNOSTIC_ERROR, &tape, 2, "wrong");
	cr_expect_eq(problems.n_items, 3);
	cr_expect_eq(problems.n_errors, 2);
}
