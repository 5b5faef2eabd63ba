/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "manifest/problem.h"

static struct problems problems;
static struct json_tape tape;

static void read_tape(const char *text)
{
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void give_back(void)
{
	problems_deinit(&problems);
	json_tape_deinit(&tape);
}

TestSuite(problem, .fini = give_back);

static void expect_first(const char *expected)
{
	struct buffer text = {0};

	problems_write_first(&problems, "FILE", &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	buffer_deinit(&text);
}

Test(problem, is_told_with_its_place_in_the_file)
{
	read_tape("{\"a\":\n[1,\n2]}");
	problems_add(&problems, PROBLEM_ERROR, &tape, json_find(&tape, 0, "a") + 2, "not %d", 2);
	cr_expect_eq(problems.items[0].line, 3);
	expect_first("FILE:3 /a/1: not 2");
}

Test(problem, may_be_told_by_a_pointer_to_what_is_missing)
{
	read_tape("{\n\"a\":{}}");
	problems_add_at(&problems, PROBLEM_ERROR, &tape, "/a/b", "is missing");
	expect_first("FILE:2 /a/b: is missing");
}

Test(problem, may_have_no_place)
{
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "cannot be read");
	expect_first("FILE: cannot be read");
}

Test(problem, may_have_a_place_that_was_found_out_elsewhere)
{
	problems_add_line(&problems, PROBLEM_ERROR, 7, "/library", "%s", "is not there");
	expect_first("FILE:7 /library: is not there");
}

Test(problem, that_is_an_error_goes_before_a_warning)
{
	problems_add(&problems, PROBLEM_WARNING, NULL, 0, "odd");
	expect_first("FILE: cannot be loaded");
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "wrong");
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "wrong, too");
	expect_first("FILE: wrong (and 1 more)");
	cr_expect_eq(problems.n_errors, 2);
}

Test(problem, is_only_counted_where_there_is_no_room)
{
	read_tape("[1]");
	for (int i = 0; i < PROBLEMS_MAX + 5; i++) {
		char text[32];

		snprintf(text, sizeof(text), "two %d", i);
		problems_add(&problems, PROBLEM_ERROR, &tape, 1, "one %d", i);
		problems_add_at(&problems, PROBLEM_ERROR, &tape, "/0", text);
		problems_add_line(&problems, PROBLEM_ERROR, 1, "", "three %d", i);
	}
	cr_expect_eq(problems.n_items, PROBLEMS_MAX);
	cr_expect_eq(problems.n_errors, 3 * (PROBLEMS_MAX + 5));
}

static void add_many(enum problem_severity severity, unsigned int count)
{
	static unsigned int number;

	while (count-- > 0)
		problems_add(&problems, severity, NULL, 0, "problem %u", ++number);
}

Test(problem, that_is_an_error_takes_the_place_of_the_last_warning)
{
	add_many(PROBLEM_ERROR, PROBLEMS_MAX - 1);
	add_many(PROBLEM_WARNING, 1);
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "the cause");
	cr_expect_eq(problems.n_items, PROBLEMS_MAX);
	cr_expect_str_eq(problems.items[PROBLEMS_MAX - 1].text, "the cause");
	cr_expect_eq(problems.items[PROBLEMS_MAX - 1].severity, PROBLEM_ERROR);
}

Test(problem, that_is_an_error_leaves_errors_and_earlier_warnings_in_place)
{
	add_many(PROBLEM_ERROR, PROBLEMS_MAX - 2);
	add_many(PROBLEM_WARNING, 1);
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "the cause");
	problems_add(&problems, PROBLEM_ERROR, NULL, 0, "one too many");
	cr_expect_eq(problems.n_items, PROBLEMS_MAX);
	cr_expect_eq(problems.items[PROBLEMS_MAX - 2].severity, PROBLEM_WARNING);
	cr_expect_str_eq(problems.items[PROBLEMS_MAX - 1].text, "the cause");
}

Test(problem, that_is_a_warning_takes_no_place_from_a_warning)
{
	add_many(PROBLEM_WARNING, PROBLEMS_MAX - 1);
	problems_add(&problems, PROBLEM_WARNING, NULL, 0, "the last");
	problems_add(&problems, PROBLEM_WARNING, NULL, 0, "one too many");
	cr_expect_eq(problems.n_items, PROBLEMS_MAX);
	cr_expect_str_eq(problems.items[PROBLEMS_MAX - 1].text, "the last");
}

Test(problem, is_told_once_of_a_place)
{
	read_tape("[1,2]");
	for (int i = 0; i < 3; i++) {
		problems_add(&problems, PROBLEM_ERROR, &tape, 1, "wrong");
		problems_add_line(&problems, PROBLEM_WARNING, 1, "/1", "odd");
	}
	problems_add(&problems, PROBLEM_ERROR, &tape, 2, "wrong");
	cr_expect_eq(problems.n_items, 3);
	cr_expect_eq(problems.n_errors, 2);
}
