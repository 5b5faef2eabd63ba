/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"

/*
 * Numbers by mathematical value.
 *
 * JSON numbers have no size: 1e400 differs from 1e401, 9007199254740993 from 9007199254740992, and
 * 0.1 + 0.2 is 0.3. So they are compared and divided as decimal text, never as doubles, and become
 * a number of the machine only if a caller asks for one: integers exactly, floats correctly
 * rounded. Every @index is a number's, and every @text a JSON number checked by the reader.
 */

/* Why a number is not given. */
enum json_number_status {
	JSON_E_RANGE = 1,   /* it does not fit the type, or has too many digits */
	JSON_E_NOT_INTEGER, /* it has a fraction other than zero */
};

/* Append the product of @a and @b as the shortest decimal without an exponent (0.29 × 100: 29). @b
 * is a divisor as json_number_is_divisor() has it. 0, or JSON_E_RANGE, with nothing appended, if @a
 * or the product has more than JSON_DIGITS_MAX digits. */
int json_number_write_product(
	const char *a, size_t a_size, const char *b, size_t b_size, struct buffer *out);

/* Return whether the number at @index is whole (3, 3.0, 1e2, of any size). */
bool json_number_is_integer(const struct json_tape *tape, uint32_t index);

/* Set *ret to the number at @index, exactly. 0, JSON_E_NOT_INTEGER, or JSON_E_RANGE. */
int json_number_i64(const struct json_tape *tape, uint32_t index, int64_t *ret);
int json_number_u64(const struct json_tape *tape, uint32_t index, uint64_t *ret);

/* Append the whole number at @index to @out as digits, without a fraction or an exponent. Return
 * false, with nothing appended, if it is not whole, or has more than JSON_DIGITS_MAX digits. */
#define JSON_DIGITS_MAX 400
bool json_number_write_digits(const struct json_tape *tape, uint32_t index, struct buffer *out);

/* Set *ret to the double (float) nearest to the number at @index. 0, or JSON_E_RANGE for an
 * infinite one. */
int json_number_f64(const struct json_tape *tape, uint32_t index, double *ret);
int json_number_f32(const struct json_tape *tape, uint32_t index, float *ret);

/* Set *ret to the number at @index, a member, an element or JSON_NONE. Return whether there is a
 * number that *ret can hold. */
static inline bool json_read_f64(const struct json_tape *tape, uint32_t index, double *ret)
{
	return index != JSON_NONE && json_type_at(tape, index) == JSON_NUMBER &&
	       json_number_f64(tape, index, ret) == 0;
}
static inline bool json_read_u64(const struct json_tape *tape, uint32_t index, uint64_t *ret)
{
	return index != JSON_NONE && json_type_at(tape, index) == JSON_NUMBER &&
	       json_number_u64(tape, index, ret) == 0;
}
static inline bool json_read_i64(const struct json_tape *tape, uint32_t index, int64_t *ret)
{
	return index != JSON_NONE && json_type_at(tape, index) == JSON_NUMBER &&
	       json_number_i64(tape, index, ret) == 0;
}

/* Return -1, 0, 1 as a is less than, equal to or greater than b. */
int json_number_compare(const char *a, size_t a_size, const char *b, size_t b_size);

/* Return whether json_number_is_multiple() divides by @text: it has few digits, zeros at its ends
 * not counted. */
#define JSON_DIVISOR_DIGITS_MAX 18
bool json_number_is_divisor(const char *text, size_t size);

/* Return whether @value is a whole multiple of @divisor, a number above 0. Exact for any exponents.
 * (In multiple.c.) */
bool json_number_is_multiple(
	const char *value, size_t value_size, const char *divisor, size_t divisor_size);
