/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include "json/decimal.h"

/* Compare 0.a and 0.b digit by digit. Neither ends in a 0, so the longer one is the greater. */
static int compare_digits(const struct decimal *a, const struct decimal *b)
{
	size_t shorter = a->n_digits < b->n_digits ? a->n_digits : b->n_digits;
	const char *a_at = a->digits;
	const char *b_at = b->digits;

	for (size_t i = 0; i < shorter; i++) {
		unsigned int a_digit = decimal_next_digit(&a_at);
		unsigned int b_digit = decimal_next_digit(&b_at);

		if (a_digit != b_digit)
			return a_digit < b_digit ? -1 : 1;
	}
	return (a->n_digits > b->n_digits) - (a->n_digits < b->n_digits);
}

static int sign(const struct decimal *decimal)
{
	if (decimal->n_digits == 0)
		return 0;
	return decimal->is_negative ? -1 : 1;
}

int json_number_compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
	struct decimal a_decimal;
	struct decimal b_decimal;
	int64_t difference;
	int a_sign;
	int b_sign;

	decimal_parse(&a_decimal, a, a_size);
	decimal_parse(&b_decimal, b, b_size);
	a_sign = sign(&a_decimal);
	b_sign = sign(&b_decimal);
	if (a_sign != b_sign || a_sign == 0)
		return (a_sign > b_sign) - (a_sign < b_sign);
	difference = decimal_exponent_difference(&a_decimal, &b_decimal) + a_decimal.point -
		     b_decimal.point;
	if (difference != 0)
		return difference < 0 ? -a_sign : a_sign;
	return a_sign * compare_digits(&a_decimal, &b_decimal);
}

bool json_number_text_is_integer(const char *text, size_t size)
{
	struct decimal decimal;

	decimal_parse(&decimal, text, size);
	return decimal_is_integer(&decimal);
}
