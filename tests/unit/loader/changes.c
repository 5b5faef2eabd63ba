/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/changes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "boxes.h"
#include "scarce.h"

static struct catalogue *before;
static struct catalogue *after;
static struct changes changes;

static void give_back(void)
{
	catalogue_free(before);
	catalogue_free(after);
	changes_deinit(&changes);
}

TestSuite(changes, .fini = give_back);

static void expect_names(const struct text_list *list, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < list->n_items; i++)
		buffer_printf(&text, "%s ", list->items[i]);
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

static void expect_changes(const char *added, const char *removed, const char *changed)
{
	cr_assert_eq(changes_find(before, after, &changes), 0);
	expect_names(&changes.added, added);
	expect_names(&changes.removed, removed);
	expect_names(&changes.changed, changed);
	cr_expect_eq(changes_are_empty(&changes), !*added && !*removed && !*changed);
}

Test(changes, are_all_there_is_at_first)
{
	after = make_catalogue(make_box("b", BOX_TOOL("y", "") "," BOX_TOOL("x", "")),
		make_box("a", BOX_TOOL("z", "")), NULL);
	expect_changes("a/z b/x b/y ", "", "");
}

Test(changes, are_none_between_equals)
{
	before = make_catalogue(make_box("a", BOX_TOOL("x", "")), NULL);
	after = make_catalogue(make_box("a", BOX_TOOL("x", "")), NULL);
	expect_changes("", "", "");
}

Test(changes, are_told_by_kind_and_sorted)
{
	before = make_catalogue(make_box("a", BOX_TOOL("same", "") "," BOX_TOOL(
						      "other", "") "," BOX_TOOL("gone", "")),
		make_box("b", BOX_TOOL("gone", "")), NULL);
	after = make_catalogue(make_box("a", BOX_TOOL("same", "") "," BOX_TOOL(
						     "other", "{'name':'x','type':'i32'}")),
		make_box("c", BOX_TOOL("same", "")), NULL);
	expect_changes("c/same ", "a/gone b/gone ", "a/other ");
}

Test(changes, are_seen_in_the_library_behind_a_tool)
{
	struct toolbox *box = make_box("a", BOX_TOOL("x", ""));

	box->package->library.digest = 7;
	before = make_catalogue(make_box("a", BOX_TOOL("x", "")), NULL);
	after = make_catalogue(box, NULL);
	expect_changes("", "", "a/x ");
}

/* A name with its toolbox in it also finds the tool without. */
Test(changes, tell_names_apart_that_hold_their_toolbox)
{
	before = make_catalogue(make_box("a", BOX_TOOL("a__x", "")), NULL);
	after = make_catalogue(make_box("a", BOX_TOOL("x", "")), NULL);
	expect_changes("a/x ", "a/a__x ", "");
}

static bool offers_all_but_x(void *data, const struct tool *tool)
{
	(void)data;
	return strcmp(tool->name, "x") != 0;
}

Test(changes, are_seen_in_the_filter_of_the_same_toolbox)
{
	struct toolbox *box = make_box("a", BOX_TOOL("x", "") "," BOX_TOOL("y", ""));
	struct toolbox *other = make_box("b", BOX_TOOL("y", ""));
	struct toolbox *boxes[] = {box, other};

	before = catalogue_new(boxes, 2, NULL, NULL, 1);
	after = catalogue_new(boxes, 2, offers_all_but_x, NULL, 2);
	package_unref(box->package);
	package_unref(other->package);
	expect_changes("", "a/x ", "");
}

Test(changes, are_all_found_or_memory_is_short)
{
	size_t n = 0;

	before = make_catalogue(make_box("a", BOX_TOOL("x", "") "," BOX_TOOL("gone", "")), NULL);
	after = make_catalogue(make_box("a", BOX_TOOL("x", "{'name':'n','type':'i32'}")),
		make_box("b", BOX_TOOL("y", "")), NULL);
	for (; scarce_once_after(n); n++) {
		int r = changes_find(before, after, &changes);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r == 0) {
			expect_names(&changes.added, "b/y ");
			expect_names(&changes.removed, "a/gone ");
			expect_names(&changes.changed, "a/x ");
		}
		changes_deinit(&changes);
		changes = (struct changes){0};
	}
	cr_expect_gt(n, 5);
}
