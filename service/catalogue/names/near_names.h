/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Names near to a mistyped one. The loop waits for the search, so its work has a bound, however
 * many names there are:
 *
 *   first letter, size ─▶ the names with both, by their numbers
 *
 *   the letter of the wanted name, its size, sizes more and more different ─▶ other letters ─▶ …
 *
 * until NEAR_NAMES_WORK is done. Few names have no index, and are looked at by their numbers.
 */

/* The most names in a search's answer. */
#define NEAR_NAMES_MAX 3

/* The work of one search, about 1 ns each (text_is_nearer()). */
#define NEAR_NAMES_WORK 150000

/* The most names without an index. */
#define NEAR_NAMES_FEW 256

/* Return the name with the number @index. */
typedef const char *(*near_names_function)(const void *data, size_t index);

/* An index of names. Zeroed, it has none. */
struct near_names {
	uint32_t *order;  /* the numbers of the names by first letter, size, number; or NULL */
	uint32_t *starts; /* the first place of each letter and size */
};

/* Index @n_names names, if they are many. 0 or -ENOMEM. */
int near_names_init(
	struct near_names *near, near_names_function name_of, const void *data, size_t n_names);

/* Free the memory of @near. */
void near_names_deinit(struct near_names *near);

/* Store up to NEAR_NAMES_MAX names near to @name, nearest first, each once, among the @n_names
 * names from the number @first on. Return how many. */
size_t near_names_find(const struct near_names *near, near_names_function name_of, const void *data,
	size_t first, size_t n_names, const char *name, size_t name_size,
	const char *ret_names[NEAR_NAMES_MAX]);
