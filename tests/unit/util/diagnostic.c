/* SPDX-License-Identifier: Apache-2.0 */
#include "util/diagnostic.h"

#include <criterion/criterion.h>

#include "util/cleanup.h"

static void expect_line(const struct diagnostic *diagnostic, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	diagnostic_write(diagnostic, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
}

Test(diagnostic, is_written_without_what_is_unknown)
{
	expect_line(&(struct diagnostic){.file = "F", .line = 3, .pointer = "/a", .text = "bad"},
		"F:3 /a: bad");
	expect_line(&(struct diagnostic){.file = "F", .pointer = "/a", .text = "bad"}, "F /a: bad");
	expect_line(&(struct diagnostic){.file = "F", .pointer = "", .text = "bad"}, "F: bad");
	expect_line(&(struct diagnostic){.pointer = "--bus", .text = "bad"}, "--bus: bad");
	expect_line(&(struct diagnostic){.line = 3, .text = "bad"}, "bad");
}

static void take(void *data, const struct diagnostic *diagnostic)
{
	cr_expect_eq(diagnostic->severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(diagnostic->file, "F");
	cr_expect_eq(diagnostic->line, 7);
	cr_expect_str_eq(diagnostic->pointer, "/a");
	cr_expect_str_eq(diagnostic->text, "not 2");
	++*(int *)data;
}

Test(diagnostic, is_reported_with_its_text_formatted)
{
	int n = 0;
	const struct diagnostic_sink sink = {take, &n};

	diagnostic_report(&sink, DIAGNOSTIC_WARNING, "F", 7, "/a", "not %d", 2);
	cr_expect_eq(n, 1);
}
