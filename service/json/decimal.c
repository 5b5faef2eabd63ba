/* SPDX-License-Identifier: Apache-2.0 */
#include "json/decimal.h"

#include <locale.h>
#include <stdlib.h>

#include "util/text/text.h"

/* A difference of exponents beyond any shift of the points, and still far from the limits of the
 * type. */
#define DIFFERENCE_MAX (INT64_C(1) << 50)

static void parse_exponent(struct decimal *decimal, const char *at, const char *end)
{
	if (at == end)
		return;
	at++;
	decimal->is_exponent_negative = *at == '-';
	at += *at == '-' || *at == '+';
	while (at < end && *at == '0')
		at++;
	decimal->exponent = at;
	decimal->exponent_size = (size_t)(end - at);
}

void decimal_parse(struct decimal *decimal, const char *text, size_t size)
{
	const char *end = text + size;
	const char *at = text + (*text == '-');
	const char *point = NULL;
	const char *last = NULL;

	*decimal = (struct decimal){.is_negative = *text == '-'};
	for (; at < end && (text_is_digit(*at) || *at == '.'); at++) {
		if (*at == '.') {
			point = at;
		} else if (*at != '0') {
			last = at;
			if (!decimal->digits)
				decimal->digits = at;
		}
	}
	parse_exponent(decimal, at, end);
	if (!last)
		return;
	if (!point)
		point = at;
	decimal->n_digits = (size_t)(last + 1 - decimal->digits);
	if (decimal->digits < point && point < last)
		decimal->n_digits--;
	/* The point itself is between them when the digits start after it. */
	decimal->point = point - decimal->digits + (point < decimal->digits);
}

int64_t decimal_exponent(const struct decimal *decimal)
{
	int64_t value = 0;

	for (size_t i = 0; i < decimal->exponent_size && value < DECIMAL_EXPONENT_MAX; i++)
		value = value * 10 + (decimal->exponent[i] - '0');
	if (value > DECIMAL_EXPONENT_MAX)
		value = DECIMAL_EXPONENT_MAX;
	return decimal->is_exponent_negative ? -value : value;
}

bool decimal_is_integer(const struct decimal *decimal)
{
	return decimal->n_digits == 0 ||
	       decimal->point + decimal_exponent(decimal) >= (int64_t)decimal->n_digits;
}

/* The digit of @decimal's exponent at the power of ten @place, with its sign. */
static int64_t exponent_digit(const struct decimal *decimal, size_t place)
{
	int digit;

	if (place >= decimal->exponent_size)
		return 0;
	digit = decimal->exponent[decimal->exponent_size - 1 - place] - '0';
	return decimal->is_exponent_negative ? -digit : digit;
}

/* From the highest place down, the difference so far can change its sign only while it is -1, 0 or
 * 1; so a difference beyond the bound may stop there. */
int64_t decimal_exponent_difference(const struct decimal *a, const struct decimal *b)
{
	size_t place = a->exponent_size > b->exponent_size ? a->exponent_size : b->exponent_size;
	int64_t difference = 0;

	while (place-- > 0 && difference < DIFFERENCE_MAX && difference > -DIFFERENCE_MAX)
		difference = difference * 10 + exponent_digit(a, place) - exponent_digit(b, place);
	return difference;
}

/* glibc has this one built in: nothing is allocated, nothing has to be freed. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double decimal_strtod(const char *text)
{
	return strtod_l(text, NULL, c_locale());
}

float decimal_strtof(const char *text)
{
	return strtof_l(text, NULL, c_locale());
}
