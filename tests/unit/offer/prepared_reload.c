/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/prepared_reload.h"

#include <criterion/criterion.h>
#include <string.h>

#include "boxes.h"

static struct catalogue *before;
static struct catalogue *after;
static struct prepared_reload next;

static void tear_down(void)
{
	prepared_reload_deinit(&next);
	catalogue_free(before);
	catalogue_free(after);
}

TestSuite(next, .fini = tear_down);

Test(next, has_the_members_of_the_announcement)
{
	static const struct config config;

	before = make_catalogue(make_box("a", BOX_TOOL("same", "") "," BOX_TOOL("gone", "")), NULL);
	after = make_catalogue(
		make_box("a", BOX_TOOL("same", "")), make_box("b", BOX_TOOL("fresh", "")), NULL);
	prepared_reload_make(&next, &config, before, after);
	cr_assert_eq(next.status, 0);
	cr_expect(next.has_changes);
	cr_expect_str_eq(buffer_terminate(&next.members),
		"\"loaded\":[\"a\",\"b\"],\"total_tools\":2,\"added\":[\"b/fresh\"],"
		"\"removed\":[\"a/gone\"],\"changed\":[]");
}

Test(next, announces_nothing_without_changes)
{
	static const struct config config;

	before = make_catalogue(make_box("a", BOX_TOOL("same", "")), NULL);
	prepared_reload_make(&next, &config, before, before);
	cr_assert_eq(next.status, 0);
	cr_expect_not(next.has_changes);
	cr_expect_eq(next.members.size + next.unknown.n_items + next.shared.n_items, 0);
}

Test(next, warns_of_names_that_nothing_or_two_toolboxes_have)
{
	char *disabled[] = {(char *)"none"};
	struct config config = {.tools_disabled = {disabled, 1}};

	after = make_catalogue(make_box("a", BOX_TOOL("twice", "")),
		make_box("b", BOX_TOOL("twice", "") "," BOX_TOOL("once", "")), NULL);
	prepared_reload_make(&next, &config, NULL, after);
	cr_assert_eq(next.status, 0);
	cr_assert_eq(next.unknown.n_items, 1);
	cr_expect_str_eq(next.unknown.items[0].pointer, "tools_disabled");
	cr_expect_str_eq(next.unknown.items[0].text, "no tool is called 'none'");
	cr_assert_eq(next.shared.n_items, 1);
	cr_expect_eq(strncmp(next.shared.items[0], "The tool name 'twice' is in ", 28), 0, "%s",
		next.shared.items[0]);
}

Test(next, has_all_tools_for_an_answer_if_there_is_one)
{
	static const struct config config;
	cleanup(buffer_deinit) struct buffer expected = {0};

	after = make_catalogue(
		make_box("a", BOX_TOOL("f", "")), make_box("b", BOX_TOOL("g", "")), NULL);
	prepared_reload_make(&next, &config, NULL, after);
	cr_expect_eq(next.tools.size, 0);
	prepared_reload_deinit(&next);
	next.is_answered = true;
	prepared_reload_make(&next, &config, NULL, after);
	buffer_printf(&expected, "[%s,%s]", catalogue_tool(after, 0)->definition,
		catalogue_tool(after, 1)->definition);
	cr_expect_str_eq(buffer_terminate(&next.tools), buffer_terminate(&expected));
}
