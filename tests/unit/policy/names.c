/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/names.h"

#include <criterion/criterion.h>

#include "catalogue_fixture.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		(char *[]){__VA_ARGS__}, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)          \
	}

static const struct text_list none;

Test(filter, offers_all_when_nothing_is_set)
{
	struct filter filter = {&none, &none};

	cr_expect(filter_offers(&filter, "math", "add"));
	cr_expect(filter_offers_any(&filter, "math"));
}

Test(filter, offers_only_what_is_enabled)
{
	const struct text_list names = LIST("add", "libm/sqrt", "volume/*");
	struct filter filter = {&names, &none};

	cr_expect(filter_offers(&filter, "math", "add"), "a bare name in any toolbox");
	cr_expect(filter_offers(&filter, "other", "add"));
	cr_expect(filter_offers(&filter, "libm", "sqrt"));
	cr_expect_not(filter_offers(&filter, "math", "sqrt"));
	cr_expect(filter_offers(&filter, "volume", "set"));
	cr_expect_not(filter_offers(&filter, "volume2", "set"));
}

Test(filter, offers_all_but_what_is_disabled)
{
	const struct text_list names = LIST("add", "libm/*");
	struct filter filter = {&none, &names};

	cr_expect_not(filter_offers(&filter, "math", "add"));
	cr_expect_not(filter_offers(&filter, "libm", "sqrt"));
	cr_expect(filter_offers(&filter, "math", "subtract"));
}

Test(filter, does_not_look_at_what_is_disabled_once_anything_is_enabled)
{
	const struct text_list names = LIST("add");
	struct filter filter = {&names, &names};

	cr_expect(filter_offers(&filter, "math", "add"));
}

Test(filter, knows_a_toolbox_without_a_tool_before_its_tools_are_known)
{
	const struct text_list others = LIST("libm/*", "b*/add");
	const struct text_list bare = LIST("libm/*", "add");
	const struct text_list whole = LIST("math/*");
	const struct text_list some = LIST("math/a*", "add", "libm/*", "math/");

	cr_expect_not(filter_offers_any(&(struct filter){&others, &none}, "math"));
	cr_expect(filter_offers_any(&(struct filter){&others, &none}, "box"));
	cr_expect(filter_offers_any(&(struct filter){&bare, &none}, "math"));
	cr_expect_not(filter_offers_any(&(struct filter){&none, &whole}, "math"));
	cr_expect(filter_offers_any(&(struct filter){&none, &whole}, "libm"));
	cr_expect(filter_offers_any(&(struct filter){&none, &some}, "math"));
	for (int i = 0; i < 3; i++) {
		static char *const stars[] = {"*", "*/*", "m*/**"};
		const struct text_list all = {(char **)&stars[i], 1};

		cr_expect_not(filter_offers_any(&(struct filter){&none, &all}, "math"));
	}
}

Test(names, are_taken_exactly)
{
	cr_expect_not(name_means("Add", "math", "add"));
	cr_expect_not(name_means("ad", "math", "add"));
	cr_expect_not(name_means("add ", "math", "add"));
	cr_expect_not(name_means("math/ad", "math", "add"));
	cr_expect_not(name_means("mat/add", "math", "add"));
	cr_expect_not(name_means("math/add/", "math", "add"));
	cr_expect_not(name_means("/add", "math", "add"));
	cr_expect_not(name_means("math/", "math", "add"));
	cr_expect_not(name_means("", "math", "add"));
}

Test(names, have_stars_on_either_side_of_the_slash)
{
	cr_expect(name_means("math/*", "math", "add"));
	cr_expect(name_means("*", "math", "add"));
	cr_expect(name_means("*/add", "math", "add"));
	cr_expect(name_means("m*h/a*", "math", "add"));
	cr_expect_not(name_means("m*d", "math", "add"), "a star does not cross the slash");
	cr_expect_not(name_means("*/a", "math", "add"));
	cr_expect_not(name_means("x*/add", "math", "add"));
}

/* A lookup and a walk over all tools select the same. */
Test(names, select_what_they_mean)
{
	static const char *const names[] = {"get", "a/get", "b/*", "g*", "*/set", "*", "add",
		"c/get", "a/nope", "", "/", "a/", "/get", "a/get/"};
	struct toolbox *boxes[] = {make_toolbox("a", "add", "get", NULL),
		make_toolbox("b", "get", "set", NULL), make_toolbox("c", NULL)};
	struct catalogue *catalogue = catalogue_new(boxes, 3, NULL, NULL, 1);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct catalogue_set set;
		bool is_any = false;

		cr_assert_eq(catalogue_set_init(&set, catalogue), 0);
		is_any = name_select(names[i], catalogue, &set);
		for (size_t j = 0; j < catalogue_n_tools(catalogue); j++) {
			const struct tool *tool = catalogue_tool(catalogue, j);
			bool is_meant = name_means(names[i], tool->toolbox->id, tool->name);

			cr_expect_eq(catalogue_set_has(&set, j), is_meant, "%s: %s/%s", names[i],
				tool->toolbox->id, tool->name);
			cr_expect(is_any || !is_meant, "%s", names[i]);
		}
		catalogue_set_deinit(&set);
	}
	catalogue_free(catalogue);
	for (size_t i = 0; i < 3; i++)
		package_unref(boxes[i]->package);
}

/* A server that lists a tool of the name of an allowed one gets no approval by that. */
Test(names, mean_no_tool_of_a_server_where_an_installed_one_has_the_name)
{
	struct toolbox *toolboxes[] = {
		make_toolbox("a", "add", "own", NULL), make_toolbox("m", "add", "get", NULL)};
	const size_t n_toolboxes = sizeof(toolboxes) / sizeof(*toolboxes);
	static const struct {
		const char *name;
		uint64_t expected; /* bits: a/add, a/own, m/add, m/get */
	} cases[] = {{"add", 4}, {"own", 2}, {"a/add", 1}, {"*/add", 5}, {"get", 8}};
	struct catalogue *catalogue;

	toolboxes[0]->package->kind = KIND_MCP;
	catalogue = catalogue_new(toolboxes, n_toolboxes, NULL, NULL, 1);
	cr_assert(catalogue);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct catalogue_set set = {0};

		cr_assert_eq(catalogue_set_init(&set, catalogue), 0);
		cr_expect(name_select(cases[i].name, catalogue, &set), "%s", cases[i].name);
		cr_expect_eq(set.words[0], cases[i].expected, "%s", cases[i].name);
		catalogue_set_deinit(&set);
	}
	for (size_t i = 0; i < n_toolboxes; i++)
		package_unref(toolboxes[i]->package);
	catalogue_free(catalogue);
}
