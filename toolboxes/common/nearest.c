/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned int least(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* The distance of Levenshtein, one row of its table at a time. */
size_t nearest_distance(const char *a, const char *b)
{
	size_t size_a = strlen(a);
	size_t size_b = strlen(b);
	unsigned int row[NEAREST_BYTES];

	if (size_a >= NEAREST_BYTES || size_b >= NEAREST_BYTES)
		return SIZE_MAX;
	for (unsigned int j = 0; j <= size_b; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= size_a; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= size_b; j++) {
			unsigned int above = row[j];
			unsigned int change = lower(a[i - 1]) != lower(b[j - 1]);

			row[j] = least(above + 1, row[j - 1] + 1, diagonal + change);
			diagonal = above;
		}
	}
	return row[size_b];
}

void nearest_offer(struct nearest *nearest, const char *wanted, const char *name)
{
	size_t distance = nearest_distance(wanted, name);
	unsigned int at = nearest->n;

	if (distance > strlen(wanted) / 3 + 1)
		return;
	for (unsigned int i = 0; i < nearest->n; i++)
		if (strcmp(nearest->names[i], name) == 0)
			return;
	while (at > 0 && nearest->distances[at - 1] > distance)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (nearest->n < NEAREST_MAX)
		nearest->n++;
	for (unsigned int i = nearest->n - 1; i > at; i--) {
		memcpy(nearest->names[i], nearest->names[i - 1], NEAREST_BYTES);
		nearest->distances[i] = nearest->distances[i - 1];
	}
	snprintf(nearest->names[at], NEAREST_BYTES, "%s", name);
	nearest->distances[at] = (unsigned int)distance;
}

void nearest_write(const struct nearest *nearest, char *ret_words, size_t room)
{
	size_t used = 0;

	*ret_words = '\0';
	for (unsigned int i = 0; i < nearest->n && used < room; i++)
		used += (size_t)snprintf(ret_words + used, room - used, "%s%s",
			i == 0                ? ""
			: i + 1 == nearest->n ? " or "
					      : ", ",
			nearest->names[i]);
}
