/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "scarce.h"

#define LONG "a234567890123456789012345678901234567890123456789012345678901234567890"

/* Two toolboxes of long names with a tool of the same name: toolbox__name has over 64
 * characters. */
static struct catalogue *make_two(const char *first, const char *tool, const char *second)
{
	struct toolbox *toolboxes[] = {
		make_toolbox(first, tool, NULL), make_toolbox(second, tool, NULL)};
	struct catalogue *catalogue = catalogue_new(toolboxes, 2, NULL, NULL, 1);

	cr_assert(catalogue);
	for (size_t i = 0; i < 2; i++)
		package_unref(toolboxes[i]->package);
	return catalogue;
}

static void expect_called(const struct catalogue *catalogue, size_t index, const char *name)
{
	char text[MODEL_NAME_BYTES];
	const struct tool *tool = NULL;

	cr_expect_str_eq(catalogue_model_name(catalogue, index, text), name);
	cr_assert_eq(catalogue_find(catalogue, name, strlen(name), NULL, 0, false, &tool), 0, "%s",
		name);
	cr_expect_eq(tool, catalogue_tool(catalogue, index));
}

Test(model_names, over_64_characters_end_with_their_digest)
{
	/* echo -n LONG__m1 | sha256sum */
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(LONG, "m1", "b");

	expect_called(
		catalogue, 0, "a23456789012345678901234567890123456789012345678901234567_1a8000");
	expect_called(catalogue, 1, "b__m1");
}

/* The digests are of LONG__m1, of LONG/m1, and of "LONG/m1 2". */
Test(model_names, whose_digests_are_taken_end_with_another)
{
#define KEPT "a23456789012345678901234567890123456789012345678901234567_"
	struct toolbox *toolboxes[] = {make_toolbox("a", "m1", NULL),
		make_toolbox(LONG, "m1", NULL),
		make_toolbox("c", KEPT "1a8000", KEPT "895b3d", NULL)};
	cleanup(catalogue_cleanup) struct catalogue *catalogue =
		catalogue_new(toolboxes, 3, NULL, NULL, 1);

	for (size_t i = 0; i < 3; i++)
		package_unref(toolboxes[i]->package);
	expect_called(catalogue, 1, KEPT "5ef014");
	expect_called(catalogue, 2, KEPT "1a8000");
	expect_called(catalogue, 3, KEPT "895b3d");
}

Test(model_names, have_64_characters_as_they_are)
{
	static const char id[] = "a2345678901234567890123456789012345678901234567890123456789_";
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(id, "m1", "b");

	cr_assert_eq(strlen(id) + strlen("__m1"), 64);
	expect_called(
		catalogue, 0, "a2345678901234567890123456789012345678901234567890123456789___m1");
}

Test(model_names, that_are_taken_end_with_their_digest)
{
	struct toolbox *toolboxes[] = {
		make_toolbox("a", "b__c", "c", NULL),
		make_toolbox("a__b", "c", NULL),
		make_toolbox("z", "b__c", NULL),
	};
	cleanup(catalogue_cleanup) struct catalogue *catalogue =
		catalogue_new(toolboxes, 3, NULL, NULL, 1);

	for (size_t i = 0; i < 3; i++)
		package_unref(toolboxes[i]->package);
	expect_called(catalogue, 0, "a__b__c");
	expect_called(catalogue, 1, "a__c");
	expect_called(catalogue, 2, "a__b__c_8a954b");
	expect_called(catalogue, 3, "z__b__c");
}

Test(model_names, leave_a_bare_name_to_its_tool)
{
	struct toolbox *toolboxes[] = {
		make_toolbox("b", "get", "b__get", NULL), make_toolbox("c", "get", NULL)};
	cleanup(catalogue_cleanup) struct catalogue *catalogue =
		catalogue_new(toolboxes, 2, NULL, NULL, 1);

	for (size_t i = 0; i < 2; i++)
		package_unref(toolboxes[i]->package);
	expect_called(catalogue, 0, "b__get_672678");
	expect_called(catalogue, 1, "b__get");
	expect_called(catalogue, 2, "c__get");
}

Test(model_names, are_found_for_tools_after_one_whose_name_nobody_shares)
{
	struct toolbox *toolboxes[] = {make_toolbox("a", "other", NULL),
		make_toolbox("b", "get", "b__get", NULL), make_toolbox("c", "get", NULL)};
	cleanup(catalogue_cleanup) struct catalogue *catalogue =
		catalogue_new(toolboxes, 3, NULL, NULL, 1);

	for (size_t i = 0; i < 3; i++)
		package_unref(toolboxes[i]->package);
	expect_called(catalogue, 0, "other");
	expect_called(catalogue, 1, "b__get_672678");
	expect_called(catalogue, 2, "b__get");
	expect_called(catalogue, 3, "c__get");
}

Test(model_names, of_servers_give_way_to_those_of_installed_tools)
{
	static const struct model_candidate tools[] = {
		{"a", "b__c", .is_guest = true, .is_shared = true, .index = 0},
		{"a__b", "c", .is_shared = true, .index = 1},
	};
	char names[2][MODEL_NAME_BYTES];

	cr_assert_eq(model_names_write_whole(tools, 2, names), 0);
	cr_expect_str_eq(names[1], "a__b__c");
	cr_expect_eq(strncmp(names[0], "a__b__c_", 8), 0, "%s", names[0]);
}

/* ── with the toolbox in each name ───────────────────────────────────────────────────────────── */

/* Expect the names that the @n @tools have where each is called toolbox__name. */
static void expect_whole(const struct model_candidate *tools, size_t n, const char *const *expected)
{
	char names[8][MODEL_NAME_BYTES];

	cr_assert_eq(model_names_write_whole(tools, n, names), 0);
	for (size_t i = 0; i < n; i++) {
		cr_expect_str_eq(names[i], expected[i], "%zu: %s", i, names[i]);
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(names[i], names[j], "%zu and %zu", i, j);
	}
}

Test(model_names, may_all_have_their_toolbox)
{
	static const struct model_candidate tools[] = {
		{"a", "x", .is_shared = true, .index = 0},
		{"a", "y", .is_shared = true, .index = 1},
		{"b", "x", .is_shared = true, .index = 2},
		{LONG, "m1", .is_shared = true, .index = 3},
	};

	expect_whole(tools, 4,
		(const char *const[]){"a__x", "a__y", "b__x",
			"a23456789012345678901234567890123456789012345678901234567_1a8000"});
}

Test(model_names, have_their_toolbox_only_where_they_are_the_same)
{
	struct model_candidate tools[] = {
		{"a", "x", .is_shared = true, .index = 0},
		{"a", "y", .is_shared = true, .index = 1},
		{"b", "x", .index = 2},
		{"c", "a__x", .index = 3},
	};

	cr_assert_eq(model_names_share_same(tools, 4), 0);
	/* A bare name goes first, as in the lookup of a call. */
	expect_whole(tools, 4, (const char *const[]){"a__x_4a190d", "y", "b__x", "a__x"});
	cr_assert_eq(model_names_share_same(tools, 0), 0);
}

Test(model_names, with_their_toolbox_need_memory)
{
	static const struct model_candidate tools[] = {
		{LONG, "m1", .is_shared = true, .index = 0},
		{LONG, "m2", .is_shared = true, .index = 1},
	};
	char names[2][MODEL_NAME_BYTES];
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		int r = model_names_write_whole(tools, 2, names);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "after %zu: %d", n, r);
	}
	cr_expect_gt(n, 1);
}
