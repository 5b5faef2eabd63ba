/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/problems.h"

#include <criterion/criterion.h>

#include "logged.h"

static struct problems problems;

static void tear_down(void)
{
	problems_deinit(&problems);
}

TestSuite(problems, .fini = tear_down);

static void expect_round(const char *const *texts, const char *expected)
{
	const char *logged;

	logged_begin();
	for (size_t i = 0; texts[i]; i++)
		problems_log(&problems, LOG_LEVEL_WARNING, texts[i]);
	logged = logged_end();
	problems_end_round(&problems);
	cr_expect_str_eq(logged, expected);
}

Test(problems, are_logged_when_they_are_new)
{
	expect_round((const char *const[]){"a", "b", NULL}, "WARN  a\nWARN  b\n");
	expect_round((const char *const[]){"b", "c", "a", NULL}, "WARN  c\n");
	expect_round((const char *const[]){"c", NULL}, "");
	expect_round((const char *const[]){"a", "c", NULL}, "WARN  a\n");
	expect_round((const char *const[]){NULL}, "");
	expect_round((const char *const[]){"c", NULL}, "WARN  c\n");
}

Test(problems, are_logged_with_their_place_and_severity)
{
	const struct diagnostic diagnostic = {
		DIAGNOSTIC_ERROR, "/box.json", 3, "/tools", "is wrong"};

	logged_begin();
	problems_log_diagnostic(&problems, &diagnostic);
	cr_expect_str_eq(logged_end(), "ERROR /box.json:3 /tools: is wrong\n");
}
