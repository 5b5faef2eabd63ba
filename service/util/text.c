/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text.h"

#include <ctype.h>

/* A part that is contained is worth as much as this many typing mistakes. */
#define CONTAINED_DISTANCE 2
#define CONTAINED_BYTES	   3

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

unsigned int text_distance(
	const char *a, size_t a_size, const char *b, size_t b_size, unsigned int most)
{
	/* Three rows of the classic table: two back (for swaps), the last, the current one. */
	unsigned int rows[3][TEXT_NAME_BYTES + 1];

	if (a_size > TEXT_NAME_BYTES || b_size > TEXT_NAME_BYTES)
		return most + 1;
	if ((a_size > b_size ? a_size - b_size : b_size - a_size) > most)
		return most + 1;
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *last = rows[(i + 2) % 3];
		const unsigned int *before = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_size; j++) {
			unsigned int cost = lower(a[i - 1]) != lower(b[j - 1]);

			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
				lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return rows[a_size % 3][b_size] <= most ? rows[a_size % 3][b_size] : most + 1;
}

static bool begins_with(const char *text, const char *part, size_t part_size)
{
	for (size_t i = 0; i < part_size; i++)
		if (lower(text[i]) != lower(part[i]))
			return false;
	return true;
}

static bool contains(const char *whole, size_t whole_size, const char *part, size_t part_size)
{
	if (part_size < CONTAINED_BYTES)
		return false;
	for (size_t at = 0; at + part_size <= whole_size; at++)
		if (begins_with(whole + at, part, part_size))
			return true;
	return false;
}

bool text_is_near(const char *name, size_t name_size, const char *candidate, size_t candidate_size,
	unsigned int *ret_distance)
{
	size_t longer = name_size > candidate_size ? name_size : candidate_size;
	unsigned int most = (unsigned int)(longer / 3);
	unsigned int distance;

	if (longer > TEXT_NAME_BYTES)
		return false;
	distance = text_distance(name, name_size, candidate, candidate_size, most);
	if (distance > most) {
		if (!contains(name, name_size, candidate, candidate_size) &&
			!contains(candidate, candidate_size, name, name_size))
			return false;
		distance = CONTAINED_DISTANCE;
	}
	*ret_distance = distance;
	return true;
}
