/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "search/index.h"
#include "util/text/text_view.h"

/*
 * The tools of a view that fit a query best: BM25 (Robertson and Zaragoza, "The Probabilistic
 * Relevance Framework", 2009, section 3) with k1 = 1.2 and b = 0.75. For each word of the query
 *
 *              N - n + 0.5                tf (k1 + 1)
 *   ln ( 1 +  ------------- )  ×  ------------------------------
 *                n + 0.5           tf + k1 (1 - b + b dl / avgdl)
 *
 * N, n and avgdl count the tools of the view alone: the tools that a caller may not see shift no
 * score. A word counts once in a query; no word is left out for being common.
 */

#define RANK_TERMS_MAX 32 /* the words of a query that count: its first */
#define RANK_LIMIT_MAX 50 /* tools in a response */

struct ranked_tool {
	size_t index; /* in the view */
	float score;
};

struct ranking {
	struct ranked_tool
		tools[RANK_LIMIT_MAX]; /* best first; of equal ones, the first in list order */
	size_t n_tools;
	size_t total;   /* tools with a word of the query */
	size_t n_terms; /* words of the query, also of no tool */
};

/* Rank the tools of @view, a part of the catalogue of @index, for @query, into @ret_ranking: at
 * most @limit tools, of the toolbox @toolbox_id (absent: of any). Return 0 or -ENOMEM. */
int rank_tools(struct search_index *index, const struct catalogue *view, struct text_view query,
	struct text_view toolbox_id, size_t limit, struct ranking *ret_ranking);
