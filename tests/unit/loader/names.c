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

Test(names, of_no_tool_of_a_toolbox_are_reported)
{
	struct config_tool tools[] = {{.name = (char *)"one"}, {.name = (char *)"three"}};
	struct config_toolbox said[] = {
		{.toolbox_id = (char *)"a", .tools = tools, .n_tools = 2},
		{.toolbox_id = (char *)"gone", .tools = tools, .n_tools = 1},
		{.toolbox_id = (char *)"failed", .tools = tools, .n_tools = 1},
		{.toolbox_id = (char *)"asleep", .tools = tools, .n_tools = 1},
	};
	struct config config = {.toolboxes = said, .n_toolboxes = 4};
	struct catalogue *catalogue =
		make_catalogue(make_box("a", BOX_TOOL("one", "") "," BOX_TOOL("two", "")), NULL);

	cr_assert_eq(catalogue_add_failure(catalogue, "failed", "broken"), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "asleep", NULL, "not enabled"), 0);
	names_report_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported),
		"toolboxes.a.tools: it has no tool called 'three'\n"
		"toolboxes.gone.tools: it has no tool called 'one'\n");
	buffer_deinit(&reported);
	catalogue_free(catalogue);
}
