/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers by mathematical value, from their JSON text.
 *
 * JSON numbers have no size: 1e400 differs from 1e401, 9007199254740993 from 9007199254740992, and
 * 0.1 + 0.2 is 0.3. So they are compared and divided as decimal text, never as doubles. Every
 * @text here is a JSON number that the reader has checked.
 */

/* -1, 0, 1 as a is less than, equal to or greater than b. */
int json_number_compare(const char *a, size_t a_size, const char *b, size_t b_size);

/* Whether the number is whole. */
bool json_number_text_is_integer(const char *text, size_t size);

/*
 * Whether @value is a whole multiple of @divisor (which is greater than 0). Exact for any exponents
 * and up to JSON_MULTIPLE_DIGITS_MAX digits in either number (zeros at their ends not counted);
 * beyond that JSON_E_RANGE is returned and nothing is known. Returns 0 with *ret_is_multiple set.
 */
#define JSON_MULTIPLE_DIGITS_MAX 65536
int json_number_is_multiple(const char *value, size_t value_size, const char *divisor,
	size_t divisor_size, bool *ret_is_multiple);
