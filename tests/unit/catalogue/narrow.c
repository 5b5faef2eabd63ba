/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "scarce.h"

/* Parts of a catalogue, and the place of a tool in one. */

static struct toolbox *first;
static struct toolbox *second;
static struct toolbox *third;
static struct catalogue *whole;

static void set_up(void)
{
	first = make_toolbox("a", "one", "two", "three", NULL);
	second = make_toolbox("b", "one", NULL);
	third = make_toolbox("c", "four", "two", NULL);
	whole = catalogue_new((struct toolbox *[]){first, second, third}, 3, NULL, NULL, 7);
	cr_assert(whole);
	package_unref(first->package);
	package_unref(second->package);
	package_unref(third->package);
}

static void tear_down(void)
{
	catalogue_free(whole);
}

TestSuite(narrow, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return the part that has the tools at the indexes whose bits are set in @bits. */
static struct catalogue *make_part(unsigned int bits)
{
	struct catalogue_set set;
	struct catalogue *part;

	cr_assert_eq(catalogue_set_init(&set, whole), 0);
	for (size_t i = 0; i < catalogue_n_tools(whole); i++)
		if (bits & 1u << i)
			catalogue_set_add(&set, i);
	for (size_t i = 0; i < catalogue_n_tools(whole); i++)
		cr_expect_eq(catalogue_set_has(&set, i), (bits & 1u << i) != 0);
	cr_expect_not(catalogue_set_has(&set, CATALOGUE_NONE));
	part = catalogue_narrow(whole, &set);
	catalogue_set_deinit(&set);
	cr_assert(part);
	return part;
}

/* Every part has its tools in the order of the whole, and each of them at its own place. */
Test(narrow, has_exactly_the_tools_of_its_set)
{
	size_t n_all = catalogue_n_tools(whole);

	cr_assert_eq(n_all, 6);
	for (unsigned int bits = 0; bits < 1u << n_all; bits++) {
		cleanup(catalogue_cleanup) struct catalogue *part = make_part(bits);
		size_t n = 0;

		for (size_t i = 0; i < n_all; i++) {
			const struct tool *tool = catalogue_tool(whole, i);
			size_t index = catalogue_index(part, tool);

			if (!(bits & 1u << i)) {
				cr_assert_eq(index, CATALOGUE_NONE, "%x %zu", bits, i);
				continue;
			}
			cr_assert_eq(index, n, "%x %zu: %zu", bits, i, index);
			cr_assert_eq(catalogue_tool(part, n++), tool);
		}
		cr_assert_eq(catalogue_n_tools(part), n);
	}
}

Test(narrow, has_the_toolboxes_of_its_tools_and_no_other)
{
	static const struct {
		unsigned int bits;
		const char *expected;
	} cases[] = {
		{0, ""},
		{0x3F, "a 0+3, b 3+1, c 4+2, "},
		{0x07, "a 0+3, "},
		{0x08, "b 0+1, "},
		{0x22, "a 0+1, c 1+1, "},
		{0x38, "b 0+1, c 1+2, "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(catalogue_cleanup) struct catalogue *part = make_part(cases[i].bits);
		char text[128] = "";

		for (size_t j = 0; j < catalogue_n_toolboxes(part); j++) {
			size_t first_tool;
			size_t n_tools;
			const struct toolbox *toolbox =
				catalogue_toolbox(part, j, &first_tool, &n_tools);

			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %zu+%zu, ",
				toolbox->id, first_tool, n_tools);
		}
		cr_expect_str_eq(text, cases[i].expected, "%x: %s", cases[i].bits, text);
	}
}

Test(narrow, finds_tools_by_their_names_among_its_own)
{
	cleanup(catalogue_cleanup) struct catalogue *part = make_part(0x22);
	size_t at;

	cr_expect_eq(catalogue_first_named(part, "one", 3), CATALOGUE_NONE);
	at = catalogue_first_named(part, "two", 3);
	cr_assert_neq(at, CATALOGUE_NONE);
	cr_expect_eq(catalogue_tool(part, at), &first->tools[1]);
	at = catalogue_next_named(part, at);
	cr_assert_neq(at, CATALOGUE_NONE);
	cr_expect_eq(catalogue_tool(part, at), &third->tools[1]);
	cr_expect_eq(catalogue_next_named(part, at), CATALOGUE_NONE);
}

Test(narrow, outlives_the_whole)
{
	cleanup(catalogue_cleanup) struct catalogue *part = make_part(0x09);

	catalogue_free(whole);
	whole = NULL;
	cr_expect_str_eq(catalogue_tool(part, 0)->name, "one");
	cr_expect_str_eq(catalogue_tool(part, 1)->toolbox->id, "b");
}

Test(narrow, has_sets_of_more_tools_than_a_word_has_bits)
{
	enum { N_BOXES = 30 };
	struct toolbox *boxes[N_BOXES];
	struct catalogue_set set;
	struct catalogue *many;
	struct catalogue *part;
	char id[16];

	for (size_t i = 0; i < N_BOXES; i++) {
		snprintf(id, sizeof(id), "box%02zu", i);
		boxes[i] = make_toolbox(id, "p", "q", "r", "s", "t", NULL);
	}
	many = catalogue_new(boxes, N_BOXES, NULL, NULL, 1);
	cr_assert(many);
	cr_assert_eq(catalogue_set_init(&set, many), 0);
	for (size_t i = 0; i < catalogue_n_tools(many); i += 7)
		catalogue_set_add(&set, i);
	part = catalogue_narrow(many, &set);
	cr_assert(part);
	cr_expect_eq(catalogue_n_tools(part), (catalogue_n_tools(many) + 6) / 7);
	for (size_t i = 0; i < catalogue_n_tools(part); i++)
		cr_expect_eq(catalogue_tool(part, i), catalogue_tool(many, 7 * i));
	catalogue_free(part);
	catalogue_set_deinit(&set);
	catalogue_free(many);
	for (size_t i = 0; i < N_BOXES; i++)
		package_unref(boxes[i]->package);
}

Test(narrow, knows_no_place_of_a_tool_that_is_of_another_catalogue)
{
	struct toolbox *same_id = make_toolbox("a", "one", "two", "three", NULL);
	struct toolbox *other_id = make_toolbox("z", "one", NULL);

	cr_expect_eq(catalogue_index(whole, &same_id->tools[0]), CATALOGUE_NONE);
	cr_expect_eq(catalogue_index(whole, &other_id->tools[0]), CATALOGUE_NONE);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(catalogue_index(whole, &first->tools[i]), i);
	package_unref(same_id->package);
	package_unref(other_id->package);
}

Test(narrow, is_null_when_memory_is_short)
{
	struct catalogue_set set;
	size_t n = 0;

	cr_assert_eq(catalogue_set_init(&set, whole), 0);
	catalogue_set_add(&set, 1);
	catalogue_set_add(&set, 4);
	for (; scarce_once_after(n); n++) {
		cleanup(catalogue_cleanup) struct catalogue *part = catalogue_narrow(whole, &set);

		cr_expect_eq(!part, scarce_has_failed(), "after %zu", n);
	}
	cr_expect_gt(n, 2);
	catalogue_set_deinit(&set);
}

/* ── names that are near ─────────────────────────────────────────────────────────────────────── */

Test(narrow, suggests_each_name_once_though_several_toolboxes_have_it)
{
	static const char *const boxes[] = {"p", "q", "r"};
	struct toolbox *toolboxes[3];
	struct catalogue *catalogue;
	const char *names[CATALOGUE_SUGGESTIONS_MAX];
	size_t n;

	for (size_t i = 0; i < 3; i++)
		toolboxes[i] = make_toolbox(boxes[i], "gets", "getx", "gety", NULL);
	catalogue = catalogue_new(toolboxes, 3, NULL, NULL, 1);
	cr_assert(catalogue);
	n = catalogue_suggest(catalogue, "get_", 4, NULL, 0, names);
	cr_expect_eq(n, 3);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(names[i], names[j]);
	catalogue_free(catalogue);
	for (size_t i = 0; i < 3; i++)
		package_unref(toolboxes[i]->package);
}
