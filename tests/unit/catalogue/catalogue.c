/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "scarce.h"

/*
 *   b     get set b__get
 *   a     add get
 *   a__b  get
 */
static struct catalogue *catalogue;

static bool offers_all_but_set(void *data, const struct tool *tool)
{
	cr_expect_str_eq(data, "data");
	return strcmp(tool->toolbox->id, "b") != 0 || strcmp(tool->name, "set") != 0;
}

static void make(catalogue_offers_function offers)
{
	struct toolbox *toolboxes[] = {
		make_toolbox("b", "get", "set", "b__get", NULL),
		make_toolbox("a", "add", "get", NULL),
		make_toolbox("a__b", "get", NULL),
		make_toolbox("empty", NULL),
	};

	catalogue = catalogue_new(toolboxes, 4, offers, "data", 7);
	cr_assert(catalogue);
	for (size_t i = 0; i < 4; i++)
		package_unref(toolboxes[i]->package);
}

static void make_all(void)
{
	make(NULL);
}

static void give_back(void)
{
	catalogue_free(catalogue);
}

TestSuite(catalogue, .init = make_all, .fini = give_back);

static int find(const char *name, const char *id, bool last_wins, const struct tool **ret_tool)
{
	return catalogue_find(
		catalogue, name, strlen(name), id, id ? strlen(id) : 0, last_wins, ret_tool);
}

static void expect_found(const char *name, const char *id, const char *expected)
{
	const struct tool *tool = NULL;
	char found[64];

	cr_assert_eq(find(name, id, false, &tool), 0, "%s", name);
	snprintf(found, sizeof(found), "%s/%s", tool->toolbox->id, tool->name);
	cr_expect_str_eq(found, expected);
}

static void expect_unknown(const char *name, const char *id)
{
	const struct tool *tool;

	cr_expect_eq(find(name, id, false, &tool), CATALOGUE_E_UNKNOWN, "%s", name);
}

Test(catalogue, lists_toolboxes_by_id_and_tools_as_their_manifests_do)
{
	static const char *const ids[] = {"a", "a__b", "b", "empty"};
	static const char *const names[] = {"add", "get", "get", "get", "set", "b__get"};
	size_t first = 99;
	size_t n_tools = 99;

	cr_assert_eq(catalogue_n_toolboxes(catalogue), 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_str_eq(catalogue_toolbox(catalogue, i, NULL, NULL)->id, ids[i]);
	cr_assert_eq(catalogue_n_tools(catalogue), 6);
	for (size_t i = 0; i < 6; i++)
		cr_expect_str_eq(catalogue_tool(catalogue, i)->name, names[i]);
	catalogue_toolbox(catalogue, 2, &first, &n_tools);
	cr_expect(first == 3 && n_tools == 3);
	catalogue_toolbox(catalogue, 3, &first, &n_tools);
	cr_expect_eq(n_tools, 0);
	cr_expect_eq(catalogue_generation(catalogue), 7);
}

Test(catalogue, finds_a_name_that_stands_in_one_toolbox)
{
	expect_found("add", NULL, "a/add");
	expect_found("set", NULL, "b/set");
	expect_found("b__get", NULL, "b/b__get");
	expect_unknown("ad", NULL);
	expect_unknown("add ", NULL);
	expect_unknown("", NULL);
}

Test(catalogue, finds_a_name_in_the_toolbox_that_is_given)
{
	expect_found("get", "a", "a/get");
	expect_found("get", "b", "b/get");
	expect_unknown("add", "b");
	expect_unknown("add", "A");
	expect_unknown("add", "");
}

Test(catalogue, finds_a_name_with_its_toolbox_in_it)
{
	expect_found("a__get", NULL, "a/get");
	expect_found("b__set", NULL, "b/set");
	expect_found("a__b__get", NULL, "a__b/get");
	expect_found("a__add", "a", "a/add");
	expect_found("b__b__get", NULL, "b/b__get");
	expect_unknown("a__set", NULL);
	expect_unknown("a__add", "b");
	expect_unknown("a--add", NULL);
	expect_unknown("a__", NULL);
	expect_unknown("__add", NULL);
	expect_unknown("____", NULL);
}

Test(catalogue, tells_whose_an_ambiguous_name_is)
{
	const struct tool *tool = NULL;

	cr_expect_eq(find("get", NULL, false, &tool), CATALOGUE_E_AMBIGUOUS);
	cr_expect_null(tool);
	cr_expect_str_eq(catalogue_owner(catalogue, "get", 3, 0), "a");
	cr_expect_str_eq(catalogue_owner(catalogue, "get", 3, 1), "a__b");
	cr_expect_str_eq(catalogue_owner(catalogue, "get", 3, 2), "b");
	cr_expect_null(catalogue_owner(catalogue, "get", 3, 3));
	cr_expect_null(catalogue_owner(catalogue, "none", 4, 0));
	cr_expect(catalogue_is_shared_name(catalogue, "get"));
	cr_expect_not(catalogue_is_shared_name(catalogue, "add"));
	cr_expect_not(catalogue_is_shared_name(catalogue, "none"));
}

Test(catalogue, lets_the_last_one_win_where_that_is_wanted)
{
	const struct tool *tool = NULL;

	cr_assert_eq(find("get", NULL, true, &tool), 0);
	cr_expect_str_eq(tool->toolbox->id, "b");
}

Test(catalogue, leaves_out_what_is_not_offered)
{
	const struct tool *tool;
	size_t n_tools;

	catalogue_free(catalogue);
	make(offers_all_but_set);
	cr_expect_eq(catalogue_n_tools(catalogue), 5);
	cr_expect_eq(find("set", NULL, false, &tool), CATALOGUE_E_UNKNOWN);
	cr_expect_eq(find("b__set", NULL, false, &tool), CATALOGUE_E_UNKNOWN);
	catalogue_toolbox(catalogue, 2, NULL, &n_tools);
	cr_expect_eq(n_tools, 2);
}

Test(catalogue, finds_toolboxes)
{
	cr_expect_eq(catalogue_find_toolbox(catalogue, "a", 1), 0);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "a__b", 4), 1);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "empty", 5), 3);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "a__", 3), -1);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "zz", 2), -1);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "", 0), -1);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "a\0", 2), -1);
}

static size_t suggest(const char *name, const char *id, size_t id_size, const char **ret_names)
{
	return catalogue_suggest(catalogue, name, strlen(name), id, id_size, ret_names);
}

Test(catalogue, suggests_near_names_once_nearest_first)
{
	const char *names[CATALOGUE_SUGGESTIONS_MAX];

	cr_assert_eq(suggest("get", NULL, 0, names), 3);
	cr_expect_str_eq(names[0], "get");
	cr_expect_str_eq(names[1], "set");
	cr_expect_str_eq(names[2], "b__get");
	cr_assert_eq(suggest("ADD", NULL, 0, names), 1);
	cr_expect_str_eq(names[0], "add");
	cr_expect_eq(suggest("something_else", NULL, 0, names), 0);
}

Test(catalogue, suggests_names_of_the_toolbox_that_is_given)
{
	const char *names[CATALOGUE_SUGGESTIONS_MAX];

	cr_assert_eq(suggest("gets", "a", 1, names), 1);
	cr_expect_str_eq(names[0], "get");
	cr_expect_eq(suggest("gets", "none", 4, names), 0);
	cr_expect_eq(suggest("gets", "empty", 5, names), 0);
	cr_assert_eq(suggest("set", "b", 1, names), 2);
	cr_expect_str_eq(names[0], "set");
	cr_expect_str_eq(names[1], "get");
}

static const char *suggest_toolbox(const char *id)
{
	return catalogue_suggest_toolbox(catalogue, id, strlen(id));
}

Test(catalogue, suggests_the_nearest_toolbox_that_offers_a_tool)
{
	static const char *const ids[] = {"calendar", "lights", "lighting", "music", "timer"};
	static const struct {
		const char *id;
		const char *suggested; /* NULL: none is near */
	} rows[] = {{"light", "lights"}, {"lightin", "lighting"}, {"Timer", "timer"},
		{"aalendar", "calendar"}, {"calender", "calendar"}, {"zimer", "timer"},
		{"zalendar", "calendar"}, {"aimer", "timer"}, {"aights", "lights"},
		{"musik", "music"}, {"music", "music"}, {"weather", NULL}, {"", NULL}};
	struct toolbox *toolboxes[6];

	cr_expect_null(suggest_toolbox("empt"), "it offers nothing");
	cr_expect_str_eq(suggest_toolbox("a__c"), "a__b");
	catalogue_free(catalogue);
	for (size_t i = 0; i < 5; i++)
		toolboxes[i] = make_toolbox(ids[i], "f", NULL);
	toolboxes[5] = make_toolbox("timers", NULL);
	catalogue = catalogue_new(toolboxes, 6, NULL, NULL, 1);
	for (size_t i = 0; i < 6; i++)
		package_unref(toolboxes[i]->package);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *suggested = suggest_toolbox(rows[i].id);

		cr_expect_str_eq(suggested ? suggested : "none",
			rows[i].suggested ? rows[i].suggested : "none", "%s: %s", rows[i].id,
			suggested);
	}
}

Test(catalogue, has_its_own_tools_and_no_copies)
{
	struct tool copy = *catalogue_tool(catalogue, 1);
	struct tool other = {.name = (char *)"no_such_name", .toolbox = copy.toolbox};

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		cr_expect(catalogue_has(catalogue, catalogue_tool(catalogue, i)), "%zu", i);
		cr_expect_eq(catalogue_index(catalogue, catalogue_tool(catalogue, i)), i);
	}
	cr_expect_not(catalogue_has(catalogue, &copy));
	cr_expect_not(catalogue_has(catalogue, &other));
	cr_expect_eq(catalogue_index(catalogue, &copy), CATALOGUE_NONE);
}

/* A caller made up an id with a U+0000. After it there is nothing of ours to compare with. */
Test(catalogue, is_not_led_astray_by_a_nul_in_an_id)
{
	static const char id[] = "a\0 and much more than any id has";
	const char *names[CATALOGUE_SUGGESTIONS_MAX];
	const struct tool *tool;

	cr_expect_eq(suggest("gets", id, sizeof(id), names), 0);
	cr_expect_eq(catalogue_find_toolbox(catalogue, id, sizeof(id)), -1);
	cr_expect_eq(catalogue_find(catalogue, "add", 3, id, sizeof(id), false, &tool),
		CATALOGUE_E_UNKNOWN);
	cr_expect_eq(
		catalogue_find(catalogue, "add\0", 4, NULL, 0, false, &tool), CATALOGUE_E_UNKNOWN);
}

/* Each "__" in a name may be where an id ends: a long name full of them is not looked through. */
Test(catalogue, looks_for_a_name_of_megabytes_but_once, .timeout = 10)
{
	size_t size = 8u << 20;
	cleanup_free char *name = malloc(size);
	const struct tool *tool;

	memset(name, '_', size);
	cr_expect_eq(
		catalogue_find(catalogue, name, size, NULL, 0, false, &tool), CATALOGUE_E_UNKNOWN);
}

Test(catalogue, finds_the_longest_id_and_name)
{
	char id[TOOLBOX_ID_BYTES + 1];
	char name[TOOL_NAME_BYTES + 1];
	char both[TOOLBOX_ID_BYTES + TOOL_NAME_BYTES + 3];
	const struct tool *tool = NULL;
	struct toolbox *toolbox;

	memset(id, 'i', sizeof(id));
	memset(name, 'n', sizeof(name));
	id[TOOLBOX_ID_BYTES] = name[TOOL_NAME_BYTES] = '\0';
	snprintf(both, sizeof(both), "%s__%s", id, name);
	toolbox = make_toolbox(id, name, NULL);
	catalogue_free(catalogue);
	catalogue = catalogue_new(&toolbox, 1, NULL, NULL, 1);
	package_unref(toolbox->package);
	cr_expect_eq(find(both, NULL, false, &tool), 0);
	cr_assert(tool);
	cr_expect_str_eq(tool->name, name);
}

Test(catalogue, keeps_notes_of_what_is_not_offered)
{
	const struct catalogue_failure broken = {
		(char *)"x", (char *)"/x.json", (char *)"broken", 5, true, NULL};
	const struct catalogue_failure gone = {
		(char *)"y", (char *)"/y.json", (char *)"gone", 6, false, NULL};

	cr_expect_eq(catalogue_add_failure(catalogue, &broken, NULL), 0);
	cr_expect_eq(catalogue_add_failure(catalogue, &gone,
			     catalogue_toolbox(catalogue, 1, NULL, NULL)->package),
		0);
	cr_expect_eq(catalogue_add_skipped(catalogue, "b", "set", "filtered"), 0);
	cr_expect_eq(catalogue_add_skipped(catalogue, "c", NULL, "no interpreter"), 0);
	cr_assert_eq(catalogue_n_failures(catalogue), 2);
	cr_expect_str_eq(catalogue_failure(catalogue, 1)->toolbox_id, "y");
	cr_expect_str_eq(catalogue_failure(catalogue, 1)->file, "/y.json");
	cr_expect_str_eq(catalogue_failure(catalogue, 1)->error, "gone");
	cr_expect_eq(catalogue_failure(catalogue, 1)->since_ns, 6);
	cr_expect_null(catalogue_kept_for(catalogue, 0));
	cr_expect_eq(catalogue_kept_for(catalogue, 1), catalogue_failure(catalogue, 1));
	cr_assert_eq(catalogue_n_skipped(catalogue), 2);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->name, "set");
	cr_expect_null(catalogue_skipped(catalogue, 1)->name);
	cr_expect_str_eq(catalogue_skipped(catalogue, 1)->reason, "no interpreter");
}

Test(catalogue, knows_why_a_toolbox_offers_nothing)
{
	catalogue_disable(catalogue, "empty", "for a reason");
	cr_expect_str_eq(catalogue_disabled_by(
				 catalogue, (size_t)catalogue_find_toolbox(catalogue, "empty", 5)),
		"for a reason");
	cr_expect_null(catalogue_disabled_by(catalogue, 0));
}

/* Give each note of @made once, and return the first error. */
static int note_all(struct catalogue *made)
{
	const struct catalogue_failure failure = {.toolbox_id = (char *)"b",
		.file = (char *)"/b.json",
		.error = (char *)"wrong",
		.since_ns = 7,
		.is_new = true};
	struct package *kept = catalogue_toolbox(made, 0, NULL, NULL)->package;
	int r = catalogue_add_failure(made, &failure, kept);

	r = r ? r : catalogue_add_skipped(made, "c", NULL, "off");
	r = r ? r : catalogue_add_skipped(made, "d", "tool", "off");
	r = r ? r : catalogue_hold(made, kept);
	return r ? r : catalogue_disable(made, "empty", "nobody wants it");
}

Test(catalogue, is_made_and_noted_whole_or_memory_is_short)
{
	size_t n = 0;
	bool goes_on = true;

	while (goes_on) {
		struct toolbox *toolboxes[] = {make_toolbox("a", "get", "a__b", NULL),
			make_toolbox("b", "get", "set", NULL), make_toolbox("empty", NULL)};
		struct catalogue *made = NULL;
		bool has_failed;
		int r = -ENOMEM;

		goes_on = scarce_once_after(n++);
		made = catalogue_new(toolboxes, 3, NULL, NULL, 1);
		if (made)
			r = note_all(made);
		has_failed = scarce_has_failed();
		cr_expect_eq(r, has_failed ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r == 0) {
			cr_expect_eq(catalogue_n_failures(made), 1);
			cr_expect_eq(catalogue_failure(made, 0)->since_ns, 7);
			cr_expect(catalogue_failure(made, 0)->is_new);
			cr_expect_not_null(catalogue_kept_for(made, 0));
			cr_expect_null(catalogue_kept_for(made, 1));
			cr_expect_eq(catalogue_n_skipped(made), 2);
			cr_expect_eq(catalogue_n_held(made), 1);
			cr_expect_eq(catalogue_held(made, 0),
				catalogue_toolbox(made, 0, NULL, NULL)->package);
			cr_expect_str_eq(catalogue_disabled_by(made, 2), "nobody wants it");
			cr_expect_null(catalogue_disabled_by(made, 0));
		}
		catalogue_free(made);
		for (size_t i = 0; i < 3; i++) {
			cr_expect_eq(toolboxes[i]->package->references, 1, "%zu: %zu", n, i);
			package_unref(toolboxes[i]->package);
		}
	}
	cr_expect_gt(n, 15);
}

Test(catalogue, may_be_empty)
{
	const struct tool *tool;

	catalogue_free(catalogue);
	catalogue = catalogue_new(NULL, 0, NULL, NULL, 0);
	cr_assert(catalogue);
	cr_expect_eq(catalogue_n_toolboxes(catalogue) + catalogue_n_tools(catalogue), 0);
	cr_expect_eq(find("add", NULL, false, &tool), CATALOGUE_E_UNKNOWN);
	cr_expect_eq(catalogue_find_toolbox(catalogue, "a", 1), -1);
}

/* The limits of toolboxes and tools, with one name in all toolboxes (contract.md, Limits). */
Test(catalogue, holds_a_thousand_toolboxes_of_ten_tools, .timeout = 60)
{
	static struct toolbox *toolboxes[1000];
	const struct tool *tool = NULL;
	char ids[1000][24];

	for (int i = 0; i < 1000; i++) {
		char names[5][40];

		snprintf(ids[i], sizeof(ids[i]), "box%03d", i);
		for (int j = 0; j < 5; j++)
			snprintf(names[j], sizeof(names[j]), "tool_%d_%d", i, j);
		toolboxes[i] = make_toolbox(
			ids[i], names[0], names[1], names[2], names[3], names[4], "get", NULL);
	}
	catalogue_free(catalogue);
	catalogue = catalogue_new(toolboxes, 1000, NULL, NULL, 1);
	for (int i = 0; i < 1000; i++)
		package_unref(toolboxes[i]->package);
	cr_assert_eq(catalogue_n_tools(catalogue), 6000);
	cr_assert_eq(find("tool_999_4", NULL, false, &tool), 0);
	cr_expect_str_eq(tool->toolbox->id, "box999");
	cr_assert_eq(find("get", "box500", false, &tool), 0);
	cr_assert_eq(find("get", NULL, true, &tool), 0);
	cr_expect_str_eq(tool->toolbox->id, "box999");
}

/* ── tools that a server names ───────────────────────────────────────────────────────────────── */

/* Make a catalogue of the toolbox `m`, which is installed, and of @first and @second, which become
 * of kind mcp. */
static struct catalogue *make_with_guests(struct toolbox *first, struct toolbox *second)
{
	struct toolbox *toolboxes[] = {make_toolbox("m", "add", "get", "set", NULL), first, second};
	struct catalogue *with_guests;

	first->package->kind = KIND_MCP;
	second->package->kind = KIND_MCP;
	with_guests = catalogue_new(toolboxes, 3, NULL, NULL, 1);
	cr_assert(with_guests);
	for (size_t i = 0; i < 3; i++)
		package_unref(toolboxes[i]->package);
	return with_guests;
}

static void expect_meant(const struct catalogue *among, const char *name, const char *id)
{
	for (int last_wins = 0; last_wins < 2; last_wins++) {
		const struct tool *tool = NULL;

		cr_assert_eq(catalogue_find(among, name, strlen(name), NULL, 0, last_wins, &tool),
			0, "%s", name);
		cr_expect_str_eq(tool->toolbox->id, id, "%s: %s", name, tool->toolbox->id);
	}
}

Test(catalogue, gives_no_name_of_an_installed_tool_to_a_server)
{
	struct catalogue *with_guests =
		make_with_guests(make_toolbox("a", "add", "m__get", "own", "both", NULL),
			make_toolbox("z", "add", "m__get", "both", NULL));
	static const char *const names[] = {"a__add", "a__m__get", "own", "a__both", "add", "get",
		"set", "z__add", "z__m__get", "z__both"};
	const struct tool *tool;
	char text[MODEL_NAME_BYTES];

	expect_meant(with_guests, "add", "m");
	expect_meant(with_guests, "m__get", "m");
	expect_meant(with_guests, "own", "a");
	expect_meant(with_guests, "a__add", "a");
	expect_meant(with_guests, "z__m__get", "z");
	cr_expect_eq(catalogue_find(with_guests, "both", 4, NULL, 0, false, &tool),
		CATALOGUE_E_AMBIGUOUS);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect_str_eq(catalogue_model_name(with_guests, i, text), names[i]);
	catalogue_free(with_guests);
}

Test(catalogue, finds_an_installed_tool_before_that_of_a_server_in_a_qualified_name)
{
	struct toolbox *toolboxes[] = {
		make_toolbox("x", "y__add", NULL), make_toolbox("x__y", "add", NULL)};
	struct catalogue *with_guest;

	toolboxes[0]->package->kind = KIND_MCP;
	with_guest = catalogue_new(toolboxes, 2, NULL, NULL, 1);
	cr_assert(with_guest);
	expect_meant(with_guest, "x__y__add", "x__y");
	for (size_t i = 0; i < 2; i++)
		package_unref(toolboxes[i]->package);
	catalogue_free(with_guest);
}
