/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/mistakes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "logged.h"
#include "util/cleanup.h"

static struct mistakes mistakes;

static void tear_down(void)
{
	mistakes_deinit(&mistakes);
}

TestSuite(mistakes, .fini = tear_down);

static const struct diagnostic wrong = {DIAGNOSTIC_ERROR, "/a.conf", 1, "/x", "is wrong"};
static const struct diagnostic flag = {DIAGNOSTIC_ERROR, NULL, 3, NULL, "is no flag"};
static const struct diagnostic whole = {DIAGNOSTIC_ERROR, "/a.conf", 0, "", "is no JSON"};
static const struct diagnostic odd = {DIAGNOSTIC_WARNING, "/a.conf", 4, "/y", "is odd"};

/* Read a configuration with these mistakes, up to NULL, and expect its lines in the log. */
static void expect_round(const struct diagnostic *const *all, const char *expected)
{
	const char *logged;

	logged_begin();
	mistakes_begin(&mistakes);
	for (size_t i = 0; all[i]; i++)
		mistakes_take(&mistakes, all[i]);
	mistakes_end(&mistakes);
	logged = logged_end();
	cr_expect_str_eq(logged, expected);
}

Test(mistakes, are_logged_when_they_are_new_and_when_none_is_left)
{
#define ROUND(...) ((const struct diagnostic *const[]){__VA_ARGS__})
#define LINE       "ERROR /a.conf:1 /x: is wrong\n"
	expect_round(ROUND(NULL), "");
	expect_round(ROUND(&wrong, NULL), LINE);
	expect_round(ROUND(&wrong, &odd, NULL), "WARN  /a.conf:4 /y: is odd\n");
	expect_round(ROUND(&odd, NULL), "INFO  The configuration has no errors any more\n");
	expect_round(ROUND(NULL), "");
	expect_round(ROUND(&wrong, NULL), LINE);
}

static void expect_written(const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mistakes_write(&mistakes, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

Test(mistakes, are_answered_as_long_as_they_are_there)
{
	mistakes_begin(&mistakes);
	mistakes_take(&mistakes, &odd);
	cr_expect_not(mistakes_exist(&mistakes), "a warning is none");
	mistakes_take(&mistakes, &wrong);
	mistakes_take(&mistakes, &flag);
	mistakes_take(&mistakes, &whole);
	cr_expect(mistakes_exist(&mistakes));
	expect_written(
		"[{\"file\":\"/a.conf\",\"line\":1,\"path\":\"/x\",\"error\":\"is wrong\"},"
		"{\"file\":null,\"line\":null,\"path\":\"\",\"error\":\"is no flag\"},"
		"{\"file\":\"/a.conf\",\"line\":null,\"path\":\"\",\"error\":\"is no JSON\"}]");
	mistakes_begin(&mistakes);
	cr_expect_not(mistakes_exist(&mistakes));
}

Test(mistakes, are_twenty_in_an_answer_at_most)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t n = 0;

	mistakes_begin(&mistakes);
	for (int i = 0; i < 21; i++)
		mistakes_take(&mistakes, &whole);
	mistakes_write(&mistakes, &out);
	for (const char *at = buffer_terminate(&out); (at = strstr(at, "{\"file\"")); at++)
		n++;
	cr_expect_eq(n, 20);
}
