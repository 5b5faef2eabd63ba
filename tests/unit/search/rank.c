/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rank.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "scarce.h"

/* The index, and the ranks of tools in it. */

#define TOOL(name, description)                                                                    \
	"{'name':'" name "','description':'" description "','native':{'symbol':'f',"               \
	"'parameters':[{'name':'roomName','type':'i64','description':'Where it stands.'}]}}"

static struct search_index *search;
static struct catalogue *catalogue;

/* Bring the index up to date with the catalogue. */
static int update(void)
{
	int r = search_index_begin(search, catalogue);

	if (r == 0)
		search_index_run(search);
	return search_index_end(search);
}

static void set_up(void)
{
	const char *reason;

	cr_assert_eq(search_index_new("english", &search, &reason), 0);
	catalogue = make_catalogue(
		make_box("lights", TOOL("turn_on", "Switches a lamp on.") "," TOOL(
					   "turn_off", "Switches a lamp off.")),
		make_box("weather", TOOL("forecast", "How warm it will be: the temperature.")),
		NULL);
	cr_assert_eq(update(), 0);
}

static void tear_down(void)
{
	search_index_free(search);
	catalogue_free(catalogue);
}

TestSuite(rank, .init = set_up, .fini = tear_down, .timeout = 60);

/* The tools of @view that @query finds are @names, with a space after each. */
static void expect_found(const struct catalogue *view, const char *query, const char *toolbox_id,
	size_t limit, const char *names, size_t total)
{
	struct text_view box = {toolbox_id, toolbox_id ? strlen(toolbox_id) : 0};
	struct ranking ranking;
	char found[1024] = "";

	cr_assert_eq(rank_tools(search, view, TEXT_VIEW(query), box, limit, &ranking), 0);
	for (size_t i = 0; i < ranking.n_tools; i++) {
		strcat(found, catalogue_tool(view, ranking.tools[i].index)->name);
		strcat(found, " ");
		cr_expect(i == 0 || ranking.tools[i - 1].score >= ranking.tools[i].score);
	}
	cr_expect_str_eq(found, names, "%s: %s", query, found);
	cr_expect_eq(ranking.total, total, "%s: %zu", query, ranking.total);
}

Test(rank, finds_by_name_toolbox_description_and_parameters)
{
	expect_found(catalogue, "lamps off!", NULL, 8, "turn_off turn_on ", 2);
	expect_found(catalogue, "TEMPERATURES", NULL, 8, "forecast ", 1);
	expect_found(catalogue, "light", NULL, 8, "turn_on turn_off ", 2);
	expect_found(catalogue, "rooms", NULL, 8, "turn_on turn_off forecast ", 3);
	expect_found(catalogue, "standing", NULL, 2, "turn_on turn_off ", 3);
	expect_found(catalogue, "stand", "weather", 8, "forecast ", 1);
	expect_found(catalogue, "stand", "nowhere", 8, "", 0);
	expect_found(catalogue, "submarine", NULL, 8, "", 0);
}

/* The score of one word in one of two tools of the same length is ln(1 + 1.5 / 1.5). */
Test(rank, scores_as_bm25_does)
{
	struct catalogue *two = make_catalogue(
		make_box("box", "{'name':'a','description':'alpha','native':{'symbol':'f'}},"
				"{'name':'b','description':'beta','native':{'symbol':'f'}}"),
		NULL);
	struct catalogue *before = catalogue;
	struct ranking ranking;

	catalogue = two;
	cr_assert_eq(update(), 0);
	cr_assert_eq(rank_tools(search, two, TEXT_VIEW("alpha alpha gamma"), (struct text_view){0},
			     8, &ranking),
		0);
	cr_expect_eq(ranking.n_tools, 1);
	cr_expect_eq(ranking.n_terms, 3);
	cr_expect(fabs((double)ranking.tools[0].score - log(2)) < 1e-6, "%f",
		(double)ranking.tools[0].score);
	catalogue_free(before);
}

/* A tool that is not in the view is not found, and shifts no score. */
Test(rank, a_view_has_the_scores_of_its_tools_alone)
{
	struct catalogue_set set;
	struct catalogue *view;
	struct ranking narrow;
	struct ranking alone;

	cr_assert_eq(catalogue_set_init(&set, catalogue), 0);
	catalogue_set_add(&set, 1);
	catalogue_set_add(&set, 2);
	view = catalogue_narrow(catalogue, &set);
	catalogue_set_deinit(&set);
	expect_found(view, "lamp", NULL, 8, "turn_off ", 1);
	cr_assert_eq(
		rank_tools(search, view, TEXT_VIEW("lamp room"), (struct text_view){0}, 8, &narrow),
		0);
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("lights", TOOL("turn_off", "Switches a lamp off.")),
		make_box("weather", TOOL("forecast", "How warm it will be: the temperature.")),
		NULL);
	cr_assert_eq(update(), 0);
	cr_assert_eq(rank_tools(search, catalogue, TEXT_VIEW("lamp room"), (struct text_view){0}, 8,
			     &alone),
		0);
	cr_assert_eq(narrow.n_tools, alone.n_tools);
	for (size_t i = 0; i < alone.n_tools; i++) {
		cr_expect_eq(narrow.tools[i].index, alone.tools[i].index);
		cr_expect_eq(narrow.tools[i].score, alone.tools[i].score);
	}
	catalogue_free(view);
}

/* Each catalogue has one more toolbox, and has lost one: the index is made anew now and then. */
Test(rank, follows_many_changes)
{
	struct toolbox *kept = make_box("kept", TOOL("stays", "It stays for good."));
	char id[32];

	for (unsigned int i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "box%u", i);
		catalogue_free(catalogue);
		package_ref(kept->package);
		catalogue = make_catalogue(
			make_box(id, TOOL("comes", "It comes and goes away.")), kept, NULL);
		cr_expect_not(search_index_is_current(search, catalogue));
		cr_assert_eq(update(), 0);
		cr_expect(search_index_is_current(search, catalogue));
		expect_found(catalogue, "stay", NULL, 8, "stays ", 1);
		expect_found(catalogue, id, NULL, 8, "comes ", 1);
		expect_found(catalogue, "lamp", NULL, 8, "", 0);
	}
	package_unref(kept->package);
	cr_expect_lt(search_index_bytes(search), 65536, "%zu", search_index_bytes(search));
}

Test(rank, a_word_of_many_tools_has_many_blocks)
{
	struct buffer tools = {0};

	for (unsigned int i = 0; i < 3000; i++)
		buffer_printf(&tools, "%s" TOOL("tool%u", "Common%s words, common ones."),
			i > 0 ? "," : "", i, i % 3 == 0 ? " third" : "");
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("many", buffer_terminate(&tools)), NULL);
	buffer_deinit(&tools);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "common", NULL, 3, "tool1 tool2 tool4 ", 3000);
	expect_found(catalogue, "third", NULL, 2, "tool0 tool3 ", 1000);
	expect_found(catalogue, "tool2999", NULL, 2, "tool2999 ", 1);
	cr_expect_lt(search_index_bytes(search) / 3000, 3072);
}

/* A hostile text has no more words than others, and a query counts its first words. */
Test(rank, bounds_texts_and_queries)
{
	struct buffer text = {0};
	struct buffer tool = {0};

	for (unsigned int i = 0; i < 3000; i++)
		buffer_printf(&text, "w%u ", i);
	buffer_printf(&tool, "{'name':'long','description':'%s','native':{'symbol':'f'}}",
		buffer_terminate(&text));
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("box", buffer_terminate(&tool)), NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "w509", NULL, 8, "long ", 1);
	expect_found(catalogue, "w510", NULL, 8, "", 0);
	text.size = 4096;
	expect_found(catalogue, buffer_terminate(&text), NULL, 8, "long ", 1);
	buffer_deinit(&text);
	buffer_deinit(&tool);
}

/* An update without memory leaves an index that can be freed, and nothing else. */
Test(rank, an_update_may_fail_anywhere)
{
	const char *reason;

	for (size_t n = 0; scarce_once_after(n); n++) {
		int r;

		search_index_free(search);
		search = NULL;
		r = search_index_new("english", &search, &reason);
		if (r == 0)
			r = update();
		cr_assert_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
	}
	expect_found(catalogue, "lamp", NULL, 8, "turn_on turn_off ", 2);
}
