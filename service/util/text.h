/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * How far apart two names are: the least number of inserted, removed, replaced or swapped
 * neighbouring bytes (Damerau–Levenshtein, restricted), case ignored. Names over
 * TEXT_NAME_BYTES are taken as far apart. Returns at most @most + 1.
 */
#define TEXT_NAME_BYTES 128
unsigned int text_distance(
	const char *a, size_t a_size, const char *b, size_t b_size, unsigned int most);

/* Whether @candidate is near enough to @name to be offered as what was meant; @ret_distance gets
 * the distance, for sorting (0 is nearest; written only when near). A third of the longer name may
 * differ; a name that contains the other (3 bytes and more) is near as well. */
bool text_is_near(const char *name, size_t name_size, const char *candidate, size_t candidate_size,
	unsigned int *ret_distance);

/* As text_is_near, for whoever has found something at the distance @than already: only what is
 * nearer counts, which costs less the nearer that is. */
bool text_is_nearer(const char *name, size_t name_size, const char *candidate,
	size_t candidate_size, unsigned int than, unsigned int *ret_distance);
