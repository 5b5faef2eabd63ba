/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/summary.h"

#include <criterion/criterion.h>
#include <string.h>

#include "boxes.h"

static struct catalogue *before;
static struct catalogue *after;
static struct buffer text;

static void tear_down(void)
{
	catalogue_free(before);
	catalogue_free(after);
	buffer_deinit(&text);
}

TestSuite(summary, .fini = tear_down);

static void expect_summary(const char *expected)
{
	struct changes changes = {0};

	buffer_reset(&text);
	cr_assert_eq(changes_find(before, after, &changes), 0);
	cr_assert_eq(summary_write(before, after, &changes, &text), 0);
	cr_expect_str_eq(buffer_terminate(&text), expected);
	changes_deinit(&changes);
}

static void fail(struct catalogue *catalogue, const char *id, bool is_new)
{
	const struct catalogue_failure failure = {
		(char *)id, (char *)"/x.json", (char *)"broken", 1, is_new, NULL};

	cr_assert_eq(catalogue_add_failure(catalogue, &failure, NULL), 0);
}

Test(summary, names_what_has_changed)
{
	before = make_catalogue(make_box("box1", BOX_TOOL("m1", "") "," BOX_TOOL("m2", "")),
		make_box("old", BOX_TOOL("x", "") "," BOX_TOOL("y", "")), NULL);
	after = make_catalogue(
		make_box("box1", BOX_TOOL("m1", "{'name':'x','type':'i32'}") "," BOX_TOOL(
					 "m2", "") "," BOX_TOOL("m3", "")),
		make_box("zlib", BOX_TOOL("a", "") "," BOX_TOOL("b", "")), NULL);
	expect_summary("box1/m1 changed, box1/m3 added, zlib added, old removed");
}

Test(summary, is_empty_when_nothing_has_changed)
{
	before = make_catalogue(make_box("box1", BOX_TOOL("m1", "")), NULL);
	after = make_catalogue(make_box("box1", BOX_TOOL("m1", "")), NULL);
	fail(before, "bad", true);
	fail(after, "bad", false);
	expect_summary("");
	summary_write_failing(after, &text);
	cr_expect_str_eq(buffer_terminate(&text), "1 still fails");
}

Test(summary, names_what_fails_and_what_is_mended)
{
	before = make_catalogue(make_box("mended", BOX_TOOL("m1", "")), NULL);
	after = make_catalogue(make_box("mended", BOX_TOOL("m1", "")),
		make_box("first", BOX_TOOL("m1", "")), NULL);
	fail(before, "first", true);
	fail(before, "mended", true);
	fail(before, "unlinked", true);
	fail(before, "same", true);
	fail(before, "asked", true);
	fail(after, "same", false);
	fail(after, "fresh", true);
	cr_assert_eq(catalogue_add_skipped(after, "asked", NULL, "its server is being asked"), 0);
	expect_summary(
		"first added, mended is loaded again, unlinked no longer fails, fresh fails");
	summary_write_failing(after, &text);
	cr_expect(strstr(buffer_terminate(&text), ", fresh fails, 1 still fails"));
}

Test(summary, names_tools_that_come_and_are_left_out)
{
	before = make_catalogue(make_box("box", BOX_TOOL("a", "") "," BOX_TOOL("b", "")), NULL);
	after = make_catalogue(make_box("box", BOX_TOOL("a", "")), NULL);
	cr_assert_eq(catalogue_add_skipped(before, "box", "known", "why"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "box", "known", "why"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "box", "b", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "box", "c", "it is not executable"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "whole", NULL, "masked"), 0);
	expect_summary("box/b is left out (disabled), box/c is left out (it is not executable)");
}

Test(summary, names_a_toolbox_that_is_left_out_as_a_whole)
{
	before = make_catalogue(make_box("box", BOX_TOOL("a", "") "," BOX_TOOL("b", "")),
		make_box("other", BOX_TOOL("c", "") "," BOX_TOOL("d", "")),
		make_box("rest", BOX_TOOL("r", "")), NULL);
	after = make_catalogue(make_box("rest", BOX_TOOL("r", "")), NULL);
	cr_assert_eq(catalogue_add_skipped(after, "box", "a", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "box", "b", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "other", "c", "disabled"), 0);
	cr_assert_eq(catalogue_add_skipped(after, "other", "d", "it is not executable"), 0);
	expect_summary("box is left out (disabled), other/c is left out (disabled), "
		       "other/d is left out (it is not executable)");
}

#define T(name) BOX_TOOL(name, "")

Test(summary, counts_what_has_no_room)
{
	before = make_catalogue(
		make_box("box", T("a") "," T("b") "," T("c") "," T("d") "," T("e") "," T("kept")),
		NULL);
	after = make_catalogue(make_box("box", T("f") "," T("g") "," T("h") "," T("i") "," T(
						       "j") "," T("k") "," T("kept")),
		NULL);
	fail(after, "late", true);
	expect_summary("box/f added, box/g added, box/h added, box/i added, box/j added, "
		       "box/k added, box/a removed, box/b removed, 3 more removed, 1 fails");
}

Test(summary, has_every_name_for_the_level_debug)
{
	struct text_list lines = {0};

	after = make_catalogue(make_box("b", BOX_TOOL("y", "") "," BOX_TOOL("x", "")),
		make_box("a", BOX_TOOL("z", "")), NULL);
	fail(after, "worse", true);
	fail(after, "bad", true);
	cr_assert_eq(catalogue_add_skipped(after, "a", "t", "disabled"), 0);
	cr_assert_eq(summary_add_details(NULL, after, &lines), 0);
	cr_assert_eq(lines.n_items, 4);
	cr_expect_str_eq(lines.items[0], "Toolboxes loaded (2): a, b");
	cr_expect_str_eq(lines.items[1], "Toolboxes failed (2): bad, worse");
	cr_expect_str_eq(lines.items[2], "Tools offered (3): a/z, b/x, b/y");
	cr_expect_str_eq(lines.items[3], "Tools left out (1): a/t");
	text_list_deinit(&lines);
	cr_assert_eq(summary_add_details(after, after, &lines), 0);
	cr_expect_str_eq(lines.items[0], "Toolboxes loaded (0)");
	text_list_deinit(&lines);
}
