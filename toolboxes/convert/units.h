/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONVERT_UNITS_H
#define CONVERT_UNITS_H

#include "number.h"

#define UNITS_WORDS_BYTES 400

/* The longest name of a unit, in bytes. */
#define UNIT_TEXT_MAX 120

/*
 * Units of measure: a name, a symbol, with a prefix or a power, and products of them.
 *
 *   "mile"  "km"  "kilowatt hours"  "m^2"  "square feet"  "km/h"  "litres per minute"  "Meilen"
 *
 * A unit is a factor and the powers of seven base units. Two units convert into each other if these
 * powers are the same.
 */

/* Convert @value from @from to @to. Return whether that is possible, with the result in @value;
 * else @ret_words has the reason, and the next step. */
bool units_convert(
	struct number *value, const char *from, const char *to, char ret_words[UNITS_WORDS_BYTES]);

#endif
