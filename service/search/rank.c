/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search/index_parts.h"

#define K1 1.2
#define B  0.75

/* The terms of the series in natural_log(): its error is below 1e-10. */
#define SERIES_TERMS 10

/* One search. */
struct ranker {
	struct search_index *index;
	const struct catalogue *view;
	const struct indexed_view *seen;
	const struct term *terms[RANK_TERMS_MAX];
	size_t n_known;
	struct ranking *ranking;
	size_t n_touched;
};

/* ── what the caller sees ────────────────────────────────────────────────────────────────────── */

/* Return the place of @tool in the index; -1: it is not there. */
static long place_of(const struct search_index *index, const struct tool *tool)
{
	const struct indexed_box *box = search_index_find_box(index, tool->toolbox);

	return box ? (long)(box->first + (size_t)(tool - tool->toolbox->tools)) : -1;
}

/* Fill @seen, zeroed, with the tools of @view. Return 0 or -ENOMEM. */
static int see_tools(
	const struct search_index *index, const struct catalogue *view, struct indexed_view *seen)
{
	size_t n_words = index->n_tools / CATALOGUE_WORD_BITS + 1;
	uint64_t total = 0;

	seen->tools = (struct catalogue_set){calloc(n_words, sizeof(*seen->tools.words)), n_words};
	if (!seen->tools.words)
		return -ENOMEM;
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		long place = place_of(index, catalogue_tool(view, i));

		if (place < 0)
			continue;
		catalogue_set_add(&seen->tools, (size_t)place);
		total += index->tools[place].n_words;
		seen->n++;
	}
	seen->average = seen->n > 0 ? (double)total / seen->n : 0;
	seen->serial = catalogue_serial(view);
	return 0;
}

/* Return the tools of @view, in the place of the view that was used longest ago if they are not
 * kept; NULL without memory. */
static const struct indexed_view *find_view(
	struct search_index *index, const struct catalogue *view)
{
	struct indexed_view *oldest = &index->views[0];

	for (size_t i = 0; i < INDEXED_VIEWS; i++) {
		struct indexed_view *seen = &index->views[i];

		if (seen->serial == catalogue_serial(view)) {
			seen->used = index->n_searches;
			return seen;
		}
		if (seen->used < oldest->used)
			oldest = seen;
	}
	catalogue_set_deinit(&oldest->tools);
	*oldest = (struct indexed_view){.used = index->n_searches};
	return see_tools(index, view, oldest) < 0 ? NULL : oldest;
}

/* ── the query ───────────────────────────────────────────────────────────────────────────────── */

/* Take a word of the query (words_function). */
static bool take_query_word(void *data, const char *stem, size_t size)
{
	struct ranker *ranker = data;
	const struct term *term = search_index_find_term(ranker->index, stem, size);

	ranker->ranking->n_terms++;
	for (size_t i = 0; term && i < ranker->n_known; i++)
		if (ranker->terms[i] == term)
			return true;
	if (term)
		ranker->terms[ranker->n_known++] = term;
	return ranker->n_known < RANK_TERMS_MAX;
}

/* ── scores ──────────────────────────────────────────────────────────────────────────────────── */

/* One posting after the other. */
struct walker {
	const uint32_t *arena;
	uint32_t block; /* 0: the only posting */
	uint32_t at;
	uint32_t only; /* 0: it was read */
};

static struct walker walk_term(const struct search_index *index, const struct term *term)
{
	return (struct walker){index->arena, term->first, 0, term->first ? 0 : term->last};
}

/* Return the next posting; 0 after the last. */
static uint32_t next_posting(struct walker *walker)
{
	uint32_t posting = walker->only;

	walker->only = 0;
	if (posting || !walker->block)
		return posting;
	posting = walker->arena[walker->block + BLOCK_POSTINGS + walker->at++];
	if (walker->at == walker->arena[walker->block + BLOCK_N]) {
		walker->block = walker->arena[walker->block + BLOCK_NEXT];
		walker->at = 0;
	}
	return posting;
}

/* Return in how many of the tools that the caller sees @term is. */
static uint32_t count_tools(const struct ranker *ranker, const struct term *term)
{
	struct walker walker = walk_term(ranker->index, term);
	uint32_t n = 0;
	uint32_t posting;

	while ((posting = next_posting(&walker)))
		n += catalogue_set_has(&ranker->seen->tools, posting_tool(posting));
	return n;
}

/* Return the natural logarithm of @x, at least 1: the library of mathematics, loaded for this
 * alone, would cost every start. ln(2^e m) = e ln 2 + 2 artanh((m - 1) / (m + 1)) */
static double natural_log(double x)
{
	double sum = 0;
	double y;
	double power;

	while (x >= 2) {
		x /= 2;
		sum += 0.69314718055994530942;
	}
	y = (x - 1) / (x + 1);
	power = 2 * y;
	for (int i = 0; i < SERIES_TERMS; i++, power *= y * y)
		sum += power / (2 * i + 1);
	return sum;
}

/* Add the scores of @term. */
static void add_scores(struct ranker *ranker, const struct term *term)
{
	struct search_index *index = ranker->index;
	struct walker walker = walk_term(index, term);
	double n = count_tools(ranker, term);
	double idf = natural_log(1 + (ranker->seen->n - n + 0.5) / (n + 0.5));
	uint32_t posting;

	if (n == 0)
		return;
	while ((posting = next_posting(&walker))) {
		uint32_t tool = posting_tool(posting);
		double tf = posting_count(posting);
		double length = index->tools[tool].n_words / ranker->seen->average;

		if (!catalogue_set_has(&ranker->seen->tools, tool))
			continue;
		if (index->scores[tool] == 0)
			index->touched[ranker->n_touched++] = tool;
		index->scores[tool] +=
			(float)(idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length)));
	}
}

/* ── the best ────────────────────────────────────────────────────────────────────────────────── */

/* Put @tool among the best @limit, unless as many are better. */
static void rank_tool(struct ranking *ranking, size_t limit, struct ranked_tool tool)
{
	size_t at = ranking->n_tools;

	while (at > 0 && (ranking->tools[at - 1].score < tool.score ||
				 (ranking->tools[at - 1].score == tool.score &&
					 ranking->tools[at - 1].index > tool.index)))
		at--;
	if (at == limit)
		return;
	if (ranking->n_tools < limit)
		ranking->n_tools++;
	memmove(&ranking->tools[at + 1], &ranking->tools[at],
		(ranking->n_tools - 1 - at) * sizeof(*ranking->tools));
	ranking->tools[at] = tool;
}

/* Choose the best of the tools that have a score, and take the scores back. */
static void choose_best(struct ranker *ranker, struct text_view toolbox_id, size_t limit)
{
	struct search_index *index = ranker->index;
	struct ranking *ranking = ranker->ranking;

	for (size_t i = 0; i < ranker->n_touched; i++) {
		uint32_t at = index->touched[i];
		const struct tool *tool = index->tools[at].tool;
		float score = index->scores[at];

		index->scores[at] = 0;
		if (toolbox_id.text && !text_view_is(toolbox_id, tool->toolbox->id))
			continue;
		ranking->total++;
		if (ranking->n_tools == limit && score < ranking->tools[limit - 1].score)
			continue;
		rank_tool(ranking, limit,
			(struct ranked_tool){catalogue_index(ranker->view, tool), score});
	}
}

int rank_tools(struct search_index *index, const struct catalogue *view, struct text_view query,
	struct text_view toolbox_id, size_t limit, struct ranking *ret_ranking)
{
	struct ranker ranker = {.index = index, .view = view, .ranking = ret_ranking};
	int r;

	*ret_ranking = (struct ranking){0};
	index->n_searches++;
	ranker.seen = find_view(index, view);
	if (!ranker.seen)
		return -ENOMEM;
	r = words_each(index->words, query.text, query.size, false, take_query_word, &ranker);
	for (size_t i = 0; r == 0 && i < ranker.n_known; i++)
		add_scores(&ranker, ranker.terms[i]);
	choose_best(&ranker, toolbox_id, limit);
	return r;
}
