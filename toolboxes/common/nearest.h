/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

/* The names that are nearest to a name that is not known: for "did you mean". */

#define NEAREST_MAX   3
#define NEAREST_BYTES 64 /* of a name, with its NUL; longer ones are near to none */

/* The nearest names so far, the nearest first. Zeroed, it has none. */
struct nearest {
	char names[NEAREST_MAX][NEAREST_BYTES];
	unsigned int distances[NEAREST_MAX];
	unsigned int n;
};

/* Return how many letters have to be added, left out or changed to make @b of @a; the case of ASCII
 * does not count. SIZE_MAX: one of them has NEAREST_BYTES or more. */
size_t nearest_distance(const char *a, const char *b);

/* Keep @name if its distance from @wanted is among the least, and not more than a third of the
 * letters of @wanted and one. */
void nearest_offer(struct nearest *nearest, const char *wanted, const char *name);

/* Write the names as `A`, `A or B` or `A, B or C` to @ret_words; "" if there is none. */
void nearest_write(const struct nearest *nearest, char *ret_words, size_t room);

#endif
