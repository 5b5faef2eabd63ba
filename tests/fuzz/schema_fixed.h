/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/reader.h"

/* Numbers written out digit by digit, with the point in the middle: slow, small, and plain enough
 * to be right. For the oracle only. */

#define FIXED_PLACES 60 /* on each side of the point */
#define FIXED_DIGITS (2 * FIXED_PLACES)

struct fixed {
	bool is_negative;
	unsigned char digits[FIXED_DIGITS]; /* the point is after the first FIXED_PLACES */
};

/* Read the number at @index. False when it has digits outside of the places. */
bool fixed_read(const struct json_tape *tape, uint32_t index, struct fixed *ret);

/* Below 0, 0 or above 0, as a is less than, equal to or greater than b. */
int fixed_compare(const struct fixed *a, const struct fixed *b);

bool fixed_is_whole(const struct fixed *a);

/* Whether @a is a multiple of @b, which is not 0; signs do not matter. */
bool fixed_is_multiple(const struct fixed *a, const struct fixed *b);
