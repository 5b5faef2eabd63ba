/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/decimal.h"
#include "json/writer.h"

/*
 * The shortest decimal that reads back as the same float.
 *
 * A decimal of DBL_DIG (15) digits survives the way to a double and back, so such a short decimal
 * is found at once, with its zeros cut off; else 16 and 17 digits are tried: 0.8 us for 1/3 where
 * all lengths from 1 on take 6.2 us. Below the normal range fewer digits are enough, and all
 * lengths are tried. At a power of two, where the spacing of doubles changes, the nearest decimal
 * may be outside on the narrow side while the next decimal above still reads back; so the next
 * decimal is tried, too. It is the shorter one for 42 of the 2,046 normal powers of two.
 *
 * printf is asked only for digits and exponent; how they are laid out is ours, as Python's repr has
 * it: 1e-05, 0.0001, 3.0, 1234567890123456.0, 1e+16.
 */

/* The exponents of numbers with all digits written out. */
#define POSITIONAL_MIN (-4)
#define POSITIONAL_MAX 15

#define DIGITS_MAX DBL_DECIMAL_DIG

/* digits[0].digits[1]… × 10^exponent, a sign in front. */
struct shortest {
	char digits[DIGITS_MAX + 1];
	int n_digits;
	int exponent;
	bool is_negative;
};

typedef bool (*reads_back_function)(const char *text, double value);

static bool reads_back_f64(const char *text, double value)
{
	return decimal_strtod(text) == value;
}

static bool reads_back_f32(const char *text, double value)
{
	return decimal_strtof(text) == (float)value;
}

/* The digits of @magnitude, @n_digits of them, without the zeros at their end. The point of the
 * process's locale may be any character but a digit. */
static void print_digits(struct shortest *shortest, double magnitude, int n_digits)
{
	char text[JSON_NUMBER_BYTES + 16];
	const char *at = text;

	snprintf(text, sizeof(text), "%.*e", n_digits - 1, magnitude);
	shortest->n_digits = 0;
	for (; *at != 'e'; at++)
		if (*at >= '0' && *at <= '9')
			shortest->digits[shortest->n_digits++] = *at;
	shortest->exponent = (int)strtol(at + 1, NULL, 10);
	while (shortest->n_digits > 1 && shortest->digits[shortest->n_digits - 1] == '0')
		shortest->n_digits--;
}

static bool reads_back(
	const struct shortest *shortest, double magnitude, reads_back_function function)
{
	char text[JSON_NUMBER_BYTES + 16];

	snprintf(text, sizeof(text), "%.*se%d", shortest->n_digits, shortest->digits,
		shortest->exponent - (shortest->n_digits - 1));
	return function(text, magnitude);
}

/* Find the shortest digits, from @least of them on, for @magnitude. */
static void find_shortest(struct shortest *shortest, double magnitude, int least, int most,
	reads_back_function function)
{
	for (int n = least;; n++) {
		char *last = shortest->digits + n - 1;

		print_digits(shortest, magnitude, n);
		if (n == most || reads_back(shortest, magnitude, function))
			return;
		if (shortest->n_digits < n || *last == '9')
			continue;
		++*last;
		if (reads_back(shortest, magnitude, function))
			return;
	}
}

static void write_zeros(struct buffer *out, int n)
{
	while (n-- > 0)
		buffer_append_char(out, '0');
}

static void write_positional(struct buffer *out, const struct shortest *shortest)
{
	int before = shortest->exponent + 1;
	int n = shortest->n_digits;

	if (before <= 0) {
		buffer_append_string(out, "0.");
		write_zeros(out, -before);
		buffer_append(out, shortest->digits, (size_t)n);
		return;
	}
	if (before >= n) {
		buffer_append(out, shortest->digits, (size_t)n);
		write_zeros(out, before - n);
		buffer_append_string(out, ".0");
		return;
	}
	buffer_append(out, shortest->digits, (size_t)before);
	buffer_append_char(out, '.');
	buffer_append(out, shortest->digits + before, (size_t)(n - before));
}

static void write_shortest(struct buffer *out, const struct shortest *shortest)
{
	if (shortest->is_negative)
		buffer_append_char(out, '-');
	if (shortest->exponent >= POSITIONAL_MIN && shortest->exponent <= POSITIONAL_MAX) {
		write_positional(out, shortest);
		return;
	}
	buffer_append_char(out, shortest->digits[0]);
	if (shortest->n_digits > 1) {
		buffer_append_char(out, '.');
		buffer_append(out, shortest->digits + 1, (size_t)shortest->n_digits - 1);
	}
	buffer_printf(out, "e%+03d", shortest->exponent);
}

void json_write_f64(struct buffer *out, double value)
{
	struct shortest shortest = {.is_negative = signbit(value)};
	double magnitude = fabs(value);

	find_shortest(&shortest, magnitude, magnitude < DBL_MIN ? 1 : DBL_DIG, DBL_DECIMAL_DIG,
		reads_back_f64);
	write_shortest(out, &shortest);
}

void json_write_f32(struct buffer *out, float value)
{
	struct shortest shortest = {.is_negative = signbit(value)};
	float magnitude = fabsf(value);

	find_shortest(&shortest, (double)magnitude, magnitude < FLT_MIN ? 1 : FLT_DIG,
		FLT_DECIMAL_DIG, reads_back_f32);
	write_shortest(out, &shortest);
}
