/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rank.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "scarce.h"
#include "search/index_parts.h"

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
	cleanup(catalogue_cleanup) struct catalogue *before __attribute__((unused)) = catalogue;
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
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer tool = {0};

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

/* ── an update ───────────────────────────────────────────────────────────────────────────────── */

Test(rank, the_index_is_current_only_after_the_end_of_an_update)
{
	cr_expect(search_index_is_current(search, catalogue));
	cr_assert_eq(search_index_begin(search, catalogue), 0);
	cr_expect_not(search_index_is_current(search, catalogue));
	search_index_run(search);
	cr_expect_not(search_index_is_current(search, catalogue));
	cr_assert_eq(search_index_end(search), 0);
	cr_expect(search_index_is_current(search, catalogue));
}

/* The catalogue may be freed while another thread indexes it, and after that, too. */
Test(rank, an_update_holds_the_toolboxes_that_come_and_go)
{
	struct catalogue *next = make_catalogue(
		make_box("tides", TOOL("high_tide", "When the water is high.")), NULL);

	cr_assert_eq(search_index_begin(search, next), 0);
	catalogue_free(catalogue);
	catalogue_free(next);
	search_index_run(search);
	cr_assert_eq(search_index_end(search), 0);
	catalogue = make_catalogue(make_box("moon", TOOL("full_moon", "When it is round.")), NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "moon", NULL, 8, "full_moon ", 1);
	expect_found(catalogue, "tide", NULL, 8, "", 0);
}

Test(rank, a_catalogue_may_become_empty_and_full_again)
{
	catalogue_free(catalogue);
	catalogue = make_catalogue(NULL, NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "lamp", NULL, 8, "", 0);
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("lights", TOOL("dim", "Dims a lamp.")), NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "lamp", NULL, 8, "dim ", 1);
}

/* Return the score of the first tool for @query. */
static float best_score(const struct catalogue *view, const char *query)
{
	struct ranking ranking;

	cr_assert_eq(
		rank_tools(search, view, TEXT_VIEW(query), (struct text_view){0}, 1, &ranking), 0);
	cr_assert_eq(ranking.n_tools, 1, "%s", query);
	return ranking.tools[0].score;
}

/* Two of seven toolboxes leave, so the index goes on with the words of the others. */
Test(rank, the_tools_that_have_left_shift_no_score)
{
	struct toolbox *boxes[7];
	float score;
	char id[16];

	for (unsigned int i = 0; i < 7; i++) {
		snprintf(id, sizeof(id), "pack%u", i);
		boxes[i] = make_box(id, TOOL("dim", "Dims a lamp."));
		package_ref(boxes[i]->package);
	}
	catalogue_free(catalogue);
	catalogue = make_catalogue(
		boxes[0], boxes[1], boxes[2], boxes[3], boxes[4], boxes[5], boxes[6], NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "lamp", "pack4", 8, "dim ", 1);
	catalogue_free(catalogue);
	catalogue = make_catalogue(boxes[1], boxes[2], boxes[3], boxes[5], boxes[6], NULL);
	package_unref(boxes[0]->package);
	package_unref(boxes[4]->package);
	cr_assert_eq(update(), 0);
	cr_expect_eq(search->n_left, 2);
	expect_found(catalogue, "pack4", NULL, 8, "", 0);
	expect_found(catalogue, "pack5", NULL, 8, "dim ", 1);
	expect_found(catalogue, "lamp", NULL, 8, "dim dim dim dim dim ", 5);
	score = best_score(catalogue, "lamp pack6");
	search_index_free(search);
	cr_assert_eq(search_index_new("english", &search, &(const char *){NULL}), 0);
	cr_assert_eq(update(), 0);
	cr_expect_eq(best_score(catalogue, "lamp pack6"), score);
}

/* ── views ───────────────────────────────────────────────────────────────────────────────────── */

#define VIEWS (3 * INDEXED_VIEWS)

/* More views than the index keeps take turns. */
Test(rank, each_of_many_views_finds_its_own_tools)
{
	struct catalogue *views[VIEWS];
	struct buffer tools = {0};
	char expected[32];

	for (unsigned int i = 0; i < VIEWS; i++)
		buffer_printf(&tools, "%s" TOOL("same%02u", "The same words."), i ? "," : "", i);
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("many", buffer_terminate(&tools)), NULL);
	buffer_deinit(&tools);
	cr_assert_eq(update(), 0);
	for (unsigned int i = 0; i < VIEWS; i++) {
		struct catalogue_set set;

		cr_assert_eq(catalogue_set_init(&set, catalogue), 0);
		catalogue_set_add(&set, i);
		views[i] = catalogue_narrow(catalogue, &set);
		catalogue_set_deinit(&set);
	}
	for (unsigned int i = 0; i < 4 * VIEWS; i++) {
		unsigned int view = i % 3 == 0 ? 0 : i % VIEWS;

		snprintf(expected, sizeof(expected), "same%02u ", view);
		expect_found(views[view], "same words", NULL, 8, expected, 1);
	}
	for (unsigned int i = 0; i < VIEWS; i++)
		catalogue_free(views[i]);
}

/* An old view would have the places of tools that are elsewhere now. */
Test(rank, an_update_forgets_the_old_views)
{
	struct toolbox *kept = make_box("lights", TOOL("dim", "Dims a lamp."));

	expect_found(catalogue, "lamp", NULL, 8, "turn_on turn_off ", 2);
	catalogue_free(catalogue);
	package_ref(kept->package);
	catalogue = make_catalogue(kept, NULL);
	cr_assert_eq(update(), 0);
	expect_found(catalogue, "lamp", NULL, 8, "dim ", 1);
	for (size_t i = 0; i < INDEXED_VIEWS; i++)
		cr_expect(search->views[i].serial == 0 ||
				  search->views[i].serial == catalogue_serial(catalogue),
			"view %zu", i);
	package_unref(kept->package);
}

Test(rank, equal_tools_come_in_list_order_at_any_limit)
{
	struct buffer tools = {0};
	struct ranking ranking;

	for (unsigned int i = 0; i < 60; i++)
		buffer_printf(&tools, "%s" TOOL("same%02u", "The same words."), i ? "," : "", i);
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("many", buffer_terminate(&tools)), NULL);
	buffer_deinit(&tools);
	cr_assert_eq(update(), 0);
	for (size_t limit = 1; limit <= RANK_LIMIT_MAX; limit++) {
		cr_assert_eq(rank_tools(search, catalogue, TEXT_VIEW("same words"),
				     (struct text_view){0}, limit, &ranking),
			0);
		cr_assert_eq(ranking.n_tools, limit);
		cr_expect_eq(ranking.total, 60);
		for (size_t i = 0; i < limit; i++)
			cr_expect_eq(ranking.tools[i].index, i, "limit %zu, rank %zu", limit, i);
	}
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

/* Index one toolbox with the tool `one`, whose manifest goes on with @members. */
static void index_one(const char *members)
{
	struct buffer tool = {0};

	buffer_printf(&tool, "{'name':'one',%s}", members);
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("box", buffer_terminate(&tool)), NULL);
	buffer_deinit(&tool);
	cr_assert_eq(update(), 0);
}

Test(rank, finds_the_words_of_a_trigger_without_its_escapes)
{
	index_one("'description':'d','triggers':['\\\\btides\\\\b (?:of|in)\\\\s+"
		  "harbours?'],'native':{'symbol':'f'}");
	expect_found(catalogue, "tide", NULL, 8, "one ", 1);
	expect_found(catalogue, "harbour", NULL, 8, "one ", 1);
	expect_found(catalogue, "btides", NULL, 8, "", 0);
	expect_found(catalogue, "s", NULL, 8, "", 0);
}

Test(rank, finds_words_that_are_escaped_in_json)
{
	index_one("'description':'Tells of \\u00e9toiles and \\tquarks','native':{'symbol':'f',"
		  "'parameters':[{'name':'p','type':'i64','description':'a \\u00dcbung'}]}");
	expect_found(catalogue, "etoile", NULL, 8, "one ", 1);
	expect_found(catalogue, "quark", NULL, 8, "one ", 1);
	expect_found(catalogue, "tquark", NULL, 8, "", 0);
	expect_found(catalogue, "\u00fcbung", NULL, 8, "one ", 1);
}

Test(rank, counts_a_word_of_a_tool_255_times_at_most)
{
	struct buffer members = {0};
	const struct term *term;

	buffer_append_string(&members, "'native':{'symbol':'f'},'description':'");
	for (unsigned int i = 0; i < 400; i++)
		buffer_append_string(&members, "echo ");
	buffer_append_char(&members, '\'');
	index_one(buffer_terminate(&members));
	buffer_deinit(&members);
	term = search_index_find_term(search, "echo", strlen("echo"));
	cr_assert_not_null(term);
	cr_expect_eq(term->first, 0, "one tool needs no block");
	cr_expect_eq(posting_count(term->last), POSTING_COUNT_MAX);
	cr_expect_eq(search->tools[posting_tool(term->last)].tool, catalogue_tool(catalogue, 0));
}

Test(rank, finds_each_of_more_words_than_the_first_slots_hold)
{
	struct buffer tools = {0};
	size_t first_slots = search->n_slots;
	char word[32];
	char tool[32];

	for (unsigned int i = 0; i < 40; i++) {
		buffer_printf(&tools,
			"%s{'name':'tool%02u','native':{'symbol':'f'},"
			"'description':'",
			i ? "," : "", i);
		for (unsigned int j = 0; j < 50; j++)
			buffer_printf(&tools, "x%uy%u ", i, j);
		buffer_append_string(&tools, "'}");
	}
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("many", buffer_terminate(&tools)), NULL);
	buffer_deinit(&tools);
	cr_assert_eq(update(), 0);
	cr_expect_gt(search->n_slots, first_slots);
	for (unsigned int i = 0; i < 40; i++)
		for (unsigned int j = 0; j < 50; j++) {
			snprintf(word, sizeof(word), "x%uy%u", i, j);
			snprintf(tool, sizeof(tool), "tool%02u ", i);
			expect_found(catalogue, word, NULL, 8, tool, 1);
		}
}

/* Words of no tool do not use up the words of a query that count. */
Test(rank, counts_the_first_32_known_words_of_a_query)
{
	cleanup(buffer_deinit) struct buffer tools = {0};
	cleanup(buffer_deinit) struct buffer query = {0};
	struct ranking ranking;

	for (unsigned int i = 0; i < 200; i++)
		buffer_printf(&query, "unknown%u ", i);
	for (unsigned int i = 0; i < 2 * RANK_TERMS_MAX; i++) {
		buffer_printf(&tools,
			"%s{'name':'t%u','description':'known%u','native':"
			"{'symbol':'f'}}",
			i ? "," : "", i, i);
		buffer_printf(&query, "known%u known%u ", i, i);
	}
	catalogue_free(catalogue);
	catalogue = make_catalogue(make_box("many", buffer_terminate(&tools)), NULL);
	cr_assert_eq(update(), 0);
	cr_assert_eq(rank_tools(search, catalogue, TEXT_VIEW(buffer_terminate(&query)),
			     (struct text_view){0}, RANK_LIMIT_MAX, &ranking),
		0);
	cr_expect_eq(ranking.total, (size_t)RANK_TERMS_MAX);
	for (size_t i = 0; i < ranking.n_tools; i++)
		cr_expect_lt(ranking.tools[i].index, (size_t)RANK_TERMS_MAX);
}

/* A search that fails adds nothing to the scores of the next one. */
Test(rank, a_search_may_fail_anywhere)
{
	const char *query = "lamp \u00e9t\u00e9";
	float score = best_score(catalogue, "lamp");
	struct ranking ranking;
	size_t n = 0;

	search_index_free(search);
	cr_assert_eq(search_index_new("english", &search, &(const char *){NULL}), 0);
	cr_assert_eq(update(), 0);
	for (; scarce_once_after(n); n++) {
		int r = rank_tools(
			search, catalogue, TEXT_VIEW(query), (struct text_view){0}, 8, &ranking);

		cr_assert_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(ranking.n_tools, r == 0 ? 2u : 0u, "%zu", n);
	}
	cr_expect_gt(n, 2);
	cr_expect_eq(best_score(catalogue, "lamp"), score);
}
