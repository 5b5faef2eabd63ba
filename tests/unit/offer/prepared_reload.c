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

/* Make the catalogue of @a and @b that holds the packages of @c and @d. */
static struct catalogue *make_holding(
	struct toolbox *a, struct toolbox *b, struct toolbox *c, struct toolbox *d)
{
	struct catalogue *catalogue;

	package_ref(a->package);
	package_ref(b->package);
	catalogue = make_catalogue(a, b, NULL);
	cr_assert_eq(catalogue_hold(catalogue, c->package), 0);
	cr_assert_eq(catalogue_hold(catalogue, d->package), 0);
	return catalogue;
}

/* Return whether @catalogue, taken over, has the packages of @before. */
static bool keeps_packages(struct catalogue *catalogue)
{
	static const struct config config;
	bool is_kept;

	prepared_reload_make(&next, &config, before, catalogue);
	is_kept = next.keeps_packages;
	prepared_reload_deinit(&next);
	catalogue_free(catalogue);
	return is_kept;
}

Test(next, keeps_the_packages_unless_one_is_read_anew)
{
	struct toolbox *a = make_box("a", BOX_TOOL("f", ""));
	struct toolbox *b = make_box("b", BOX_TOOL("g", ""));
	struct toolbox *new_a = make_box("a", BOX_TOOL("f", ""));
	struct toolbox *new_b = make_box("b", BOX_TOOL("g", ""));

	cr_expect_not(keeps_packages(make_holding(a, b, a, b)), "it is the first");
	before = make_holding(a, b, a, b);
	cr_expect(keeps_packages(make_holding(a, b, a, b)));
	cr_expect_not(keeps_packages(make_holding(new_a, b, a, b)));
	cr_expect_not(keeps_packages(make_holding(a, new_b, a, b)));
	cr_expect_not(keeps_packages(make_holding(a, b, new_a, b)));
	cr_expect_not(keeps_packages(make_holding(a, b, a, new_b)));
	cr_expect_not(keeps_packages(make_catalogue(a, b, NULL)), "nothing is held");
	cr_expect_not(keeps_packages(make_catalogue(new_a, NULL)), "one is gone");
	package_unref(new_b->package);
}
