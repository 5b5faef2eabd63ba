/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "search/words.h"
#include "util/siphash.h"

/* The parts of the index, for the two files that use them: index.c makes them, rank.c reads. */

/* A posting: a tool of the index, and how often it has the word, at most 255 times. */
#define POSTING_COUNT_BITS 8
#define POSTING_COUNT_MAX  255u

static inline uint32_t posting_tool(uint32_t posting)
{
	return posting >> POSTING_COUNT_BITS;
}

static inline uint32_t posting_count(uint32_t posting)
{
	return posting & POSTING_COUNT_MAX;
}

/* A block in the arena: the place of the next block (0: none), the number of postings, the room for
 * postings; then the postings. */
enum block_word {
	BLOCK_NEXT,
	BLOCK_N,
	BLOCK_ROOM,
	BLOCK_POSTINGS,
};

/* A word with its postings. Most words belong to one tool, and need no block. */
struct term {
	uint32_t text;  /* the place of its bytes in the arena */
	uint32_t size;  /* the number of these bytes */
	uint32_t first; /* the first block; 0: @last is the only posting */
	uint32_t last;  /* the last block, or the posting */
};

struct indexed_tool {
	const struct tool *tool; /* NULL: it has left */
	uint32_t n_words;
};

/* The run of tools of one toolbox. */
struct indexed_box {
	struct toolbox *toolbox; /* its package: counted reference */
	uint32_t first;
	bool is_there; /* it is in the catalogue of the update */
};

/* The tools of one catalogue, a view, among all: what its caller may see. */
struct indexed_view {
	uint64_t serial; /* the view; 0: none */
	uint64_t used;   /* by which search, the last time */
	struct catalogue_set tools;
	uint32_t n;
	double average; /* words of a tool */
};
#define INDEXED_VIEWS 8

struct search_index {
	struct words *words;
	struct siphash_key key;
	uint32_t *arena;
	size_t n_arena; /* words in use; 0 is no place */
	size_t arena_room;
	struct term *terms;
	size_t n_terms;
	size_t terms_room;
	uint32_t *slots; /* the number of a term, from 1; 0: none */
	size_t n_slots;  /* a power of two */
	struct indexed_tool *tools;
	size_t n_tools;
	size_t n_left;             /* tools that have left, among them */
	struct indexed_box *boxes; /* by the address of the toolbox, up to n_sorted */
	size_t n_boxes;
	size_t n_sorted;          /* boxes that are indexed */
	struct package **leaving; /* counted references, dropped by the loop */
	size_t n_leaving;
	uint64_t serial; /* the catalogue that it has */
	bool is_ready;
	int error;
	float *scores;     /* one for each tool, in a search */
	uint32_t *touched; /* the tools with a score */
	struct indexed_view views[INDEXED_VIEWS];
	uint64_t n_searches;
};

/* Return the term @stem of @size bytes, or NULL. */
const struct term *search_index_find_term(
	const struct search_index *index, const char *stem, size_t size);

/* Return the box of @toolbox, or NULL. */
const struct indexed_box *search_index_find_box(
	const struct search_index *index, const struct toolbox *toolbox);
