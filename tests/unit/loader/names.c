/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/names.h"

#include <criterion/criterion.h>

#include "boxes.h"

static struct buffer reported;

static void report(void *data, const struct diagnostic *diagnostic)
{
	cr_expect_null(data);
	cr_expect_null(diagnostic->file);
	cr_expect_eq(diagnostic->line, 0);
	cr_expect_eq(diagnostic->severity, DIAGNOSTIC_WARNING);
	buffer_printf(&reported, "%s: %s\n", diagnostic->pointer, diagnostic->text);
}

Test(names, of_no_tool_are_reported_once_for_each_key)
{
	char *enabled[] = {(char *)"sum", (char *)"one", (char *)"a/two"};
	char *disabled[] = {(char *)"a/one", (char *)"three"};
	char *allowed[] = {(char *)"four", (char *)"b/one", (char *)"five"};
	struct config config = {
		.tools_enabled = {enabled, 3},
		.tools_disabled = {disabled, 2},
		.approval_allow = {allowed, 3},
	};
	struct catalogue *catalogue =
		make_catalogue(make_box("a", BOX_TOOL("one", "") "," BOX_TOOL("two", "")), NULL);

	names_report_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported),
		"tools_enabled: no tool is called 'sum'\n"
		"tools_disabled: no tool is called 'three'\n"
		"approval.allow: no tool is called 'four', 'b/one', 'five'\n");
	buffer_deinit(&reported);
	catalogue_free(catalogue);
}
