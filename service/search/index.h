/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "util/cleanup.h"

/*
 * The index of a search: which words which tools have. One index has all tools of the catalogue; a
 * search sees the tools of a view (search/rank.h).
 *
 *   slots ─hash▶ term "alarm" ─▶ posting, or block ─▶ block ─▶ …          one arena of words of
 *                                  tool 7, twice       tool 9, once       32 bits
 *
 *   boxes   alarms ─▶ tools 6 to 9       toolboxes of the catalogue when the index was made,
 *                                        or brought up to date
 *
 * A toolbox never changes (catalogue/package.h), so an update indexes the toolboxes that are new to
 * the index, and only those. The tools of a toolbox that has left are in no view, so their postings
 * count for nothing; when more than half of all tools have left, the index is made anew.
 *
 *   loop     search_index_begin ─────────── serves others ─────────── search_index_end
 *   thread                    └─▶ search_index_run ─▶ …
 */
struct search_index;

/* The most indexed words of one tool, from the name on. */
#define SEARCH_TOOL_WORDS 512

/* Make *@ret_index an empty index, with a stemmer (search/language.h). Return 0, -ENOMEM, or
 * -ELIBACC with a text for a person at *@ret_reason (search/words.h). */
int search_index_new(const char *stemmer, struct search_index **ret_index, const char **ret_reason);

/* Free @index, used by no thread. Takes NULL. */
void search_index_free(struct search_index *index);

/* Return whether @index has the tools of @catalogue. */
bool search_index_is_current(const struct search_index *index, const struct catalogue *catalogue);

/* Begin to bring @index up to date with @catalogue: note what is new, and hold it. The index is not
 * current, and serves no search, until search_index_end(). Return 0 or -ENOMEM. */
int search_index_begin(struct search_index *index, const struct catalogue *catalogue);

/* Index what is new, in this thread. Nothing else of @index is used meanwhile. */
void search_index_run(struct search_index *index);

/* End the update, in the loop: return 0, or -ENOMEM when the index can only be freed. */
int search_index_end(struct search_index *index);

/* Return the bytes of memory of @index. */
size_t search_index_bytes(const struct search_index *index);

CLEANUP_DEFINE(search_index, struct search_index *, search_index_free)
