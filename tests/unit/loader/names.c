/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/names.h"

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
	char *allowed[] = {(char *)"four", (char *)"b/one", (char *)"five", (char *)"four",
		(char *)"o*", (char *)"six", (char *)"one"};
	char *in_profile[] = {(char *)"z", (char *)"*/one", (char *)"b/*", (char *)"c/any"};
	struct config_profile profiles[] = {{(char *)"kids", false, {in_profile, 4}, 0}};
	struct config_access access[] = {
		{.profile = (char *)"friends"},
		{.profile = (char *)"guests"},
		{.profile = (char *)"kids"},
		{.profile = (char *)"default"},
		{.profile = (char *)"guests"},
	};
	struct config config = {
		.tools_enabled = {enabled, 3},
		.tools_disabled = {disabled, 2},
		.approval_allow = {allowed, 7},
		.allowed = {.names = {&allowed[5], 2}},
		.profiles = {profiles, 1},
		.access = access,
		.n_access = 5,
	};
	struct catalogue *catalogue =
		make_catalogue(make_box("a", BOX_TOOL("one", "") "," BOX_TOOL("two", "")), NULL);

	/* The tools of a toolbox that is left out as a whole are not known. */
	cr_assert_eq(catalogue_add_skipped(catalogue, "c", NULL, "left out"), 0);
	warn_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported),
		"tools_enabled: no tool is called 'sum'\n"
		"profiles.kids: no tool is called 'b/*', 'z'\n"
		"access: these profiles do not exist, and grant nothing: 'friends', 'guests'\n"
		"approval.allow: no tool is called 'b/one', 'five', 'four'\n"
		"allow.json: no tool is called 'six'\n");
	buffer_reset(&reported);
	config = (struct config){.tools_disabled = {disabled, 2}};
	warn_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported), "tools_disabled: no tool is called 'three'\n",
		"nothing is enabled by name");
	buffer_deinit(&reported);
	catalogue_free(catalogue);
}

Test(names, of_no_tool_of_a_toolbox_are_reported)
{
	struct config_tool tools[] = {{.name = (char *)"one"}, {.name = (char *)"three"}};
	const struct catalogue_failure failure = {.toolbox_id = (char *)"failed",
		.file = (char *)"/x.json",
		.error = (char *)"broken"};
	struct config_toolbox said[] = {
		{.toolbox_id = (char *)"a", .tools = {tools, 2, 0}},
		{.toolbox_id = (char *)"gone", .tools = {tools, 2, 0}},
		{.toolbox_id = (char *)"failed", .tools = {tools, 1, 0}},
		{.toolbox_id = (char *)"asleep", .tools = {tools, 1, 0}},
	};
	struct config config = {.toolboxes = said, .n_toolboxes = 4};
	struct catalogue *catalogue =
		make_catalogue(make_box("a", BOX_TOOL("one", "") "," BOX_TOOL("two", "")), NULL);

	cr_assert_eq(catalogue_add_failure(catalogue, &failure, NULL), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "asleep", NULL, "not enabled"), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "gone", "three", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "other", "one", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "a", NULL, "x is replaced by y"), 0);
	warn_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported),
		"toolboxes.a.tools: it has no tool called 'three'\n"
		"toolboxes.gone.tools: it has no tool called 'one'\n");
	buffer_deinit(&reported);
	catalogue_free(catalogue);
}

Test(names, of_no_setting_of_a_toolbox_are_reported)
{
	struct config_toolbox said[] = {
		{.toolbox_id = (char *)"a"},
		{.toolbox_id = (char *)"gone"},
	};
	struct config config = {.toolboxes = said, .n_toolboxes = 2};
	struct toolbox *box = make_box("a", BOX_TOOL("one", ""));
	struct catalogue *catalogue = make_catalogue(box, NULL);

	cr_assert_eq(text_list_add(&box->package->unknown_settings, "x.rots"), 0);
	cr_assert_eq(text_list_add(&box->package->unknown_settings, "rots"), 0);
	cr_assert_eq(text_list_add(&box->package->unknown_settings, "rots"), 0);
	warn_unknown(&config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported),
		"toolboxes.a.sandbox: it has no setting called 'rots', 'x.rots'\n");
	buffer_deinit(&reported);
	catalogue_free(catalogue);
}
