/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A JSON number's text taken apart, without converting or copying anything:
 *
 *   -120.0340e+07    negative, digits "120.034" (6 of them), point 3, exponent "7"
 *
 * The value is -0.120034 × 10^(3 + 7): the digits go from the first to the last digit other than 0,
 * and `point` is the position of the point among them, or its distance outside. Zero has none.
 */
struct decimal {
	const char *digits; /* n_digits digits, with or without a '.' between them */
	size_t n_digits;
	int64_t point;        /* power of ten, without the exponent */
	const char *exponent; /* its digits, without leading zeros */
	size_t exponent_size;
	bool is_exponent_negative;
	bool is_negative;
};

/* The result of decimal_exponent for larger exponents: far more than the distance of any point. */
#define DECIMAL_EXPONENT_MAX (INT64_C(1) << 50)

/* Take apart the JSON number @text of @size bytes, checked by the reader. */
void decimal_parse(struct decimal *decimal, const char *text, size_t size);

/* The exponent as a number, at most DECIMAL_EXPONENT_MAX away from 0. */
int64_t decimal_exponent(const struct decimal *decimal);

/* The exponent of @a minus the exponent of @b, both with any number of digits; exact when the
 * difference is nearer to 0 than 2^50, else beyond 2^50 in the right direction. */
int64_t decimal_exponent_difference(const struct decimal *a, const struct decimal *b);

/* Whether the value is whole. */
bool decimal_is_integer(const struct decimal *decimal);

/* Return the next digit (0 to 9) at *@at, and move *@at after it, across a point before it. */
static inline unsigned int decimal_next_digit(const char **at)
{
	*at += **at == '.';
	return (unsigned int)(*(*at)++ - '0');
}

/* strtod and strtof of the NUL-terminated @text, whatever the locale of the process is. */
double decimal_strtod(const char *text);
float decimal_strtof(const char *text);
