/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include <float.h>
#include <math.h>

#include "json/decimal.h"
#include "util/buffer.h"

/* Digits of the longest uint64_t; more of them never fit. */
#define U64_DIGITS 20

/* 10^22 is the last power of ten exact in a double, 10^10 the last in a float. */
#define F64_POWER_MAX    22
#define F64_MANTISSA_MAX (UINT64_C(1) << DBL_MANT_DIG)
#define F32_POWER_MAX    10
#define F32_MANTISSA_MAX (UINT64_C(1) << FLT_MANT_DIG)

/* Powers of ten beyond which a double is infinite, or 0, whatever the digits. */
#define F64_POINT_MAX 400

/* The most digits of a double halfway between two others; of any more, only whether a digit is not
 * 0 matters. */
#define F64_DIGITS_MAX 768

static void parse_number(const struct json_tape *tape, uint32_t index, struct decimal *decimal)
{
	decimal_parse(decimal, json_bytes(tape, index), json_at(tape, index)->length);
}

bool json_number_is_integer(const struct json_tape *tape, uint32_t index)
{
	struct decimal decimal;

	if (!(json_at(tape, index)->flags & JSON_FRACTION))
		return true;
	parse_number(tape, index, &decimal);
	return decimal_is_integer(&decimal);
}

bool json_number_write_digits(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	struct decimal decimal;
	const char *at;
	int64_t places;

	parse_number(tape, index, &decimal);
	places = decimal.n_digits > 0 ? decimal.point + decimal_exponent(&decimal) : 1;
	if (!decimal_is_integer(&decimal) || places > JSON_DIGITS_MAX)
		return false;
	if (decimal.is_negative && decimal.n_digits > 0)
		buffer_append_char(out, '-');
	at = decimal.digits;
	for (int64_t i = 0; i < places; i++)
		buffer_append_char(out, i < (int64_t)decimal.n_digits
						? (char)('0' + decimal_next_digit(&at))
						: '0');
	return true;
}

/* Set *ret to the number without its sign. As json_number_u64(). */
static int read_magnitude(const struct decimal *decimal, uint64_t *ret)
{
	const char *at = decimal->digits;
	uint64_t value = 0;
	int64_t places;

	if (!decimal_is_integer(decimal))
		return JSON_E_NOT_INTEGER;
	places = decimal->n_digits ? decimal->point + decimal_exponent(decimal) : 0;
	if (places > U64_DIGITS)
		return JSON_E_RANGE;
	for (int64_t i = 0; i < places; i++) {
		unsigned int digit = i < (int64_t)decimal->n_digits ? decimal_next_digit(&at) : 0;

		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return JSON_E_RANGE;
	}
	*ret = value;
	return 0;
}

/* Read the number as its sign and the rest. Most integers have few digits, and need no decimal. */
static int read_integer(
	const struct json_tape *tape, uint32_t index, bool *ret_is_negative, uint64_t *ret)
{
	const struct json_token *token = json_at(tape, index);
	const char *at = json_bytes(tape, index);
	const char *end = at + token->length;
	struct decimal decimal;
	uint64_t value = 0;

	if (token->flags & JSON_FRACTION || token->length >= U64_DIGITS) {
		parse_number(tape, index, &decimal);
		*ret_is_negative = decimal.is_negative;
		return read_magnitude(&decimal, ret);
	}
	*ret_is_negative = *at == '-';
	for (at += *ret_is_negative; at < end; at++)
		value = value * 10 + (unsigned int)(*at - '0');
	*ret = value;
	return 0;
}

int json_number_i64(const struct json_tape *tape, uint32_t index, int64_t *ret)
{
	bool is_negative;
	uint64_t value;
	int r = read_integer(tape, index, &is_negative, &value);

	if (r != 0)
		return r;
	if (value > (uint64_t)INT64_MAX + is_negative)
		return JSON_E_RANGE;
	*ret = (int64_t)(is_negative ? -value : value);
	return 0;
}

int json_number_u64(const struct json_tape *tape, uint32_t index, uint64_t *ret)
{
	bool is_negative;
	uint64_t value;
	int r = read_integer(tape, index, &is_negative, &value);

	if (r != 0)
		return r;
	if (is_negative && value != 0)
		return JSON_E_RANGE;
	*ret = value;
	return 0;
}

/*
 * The digits as a whole number and the power of ten it is multiplied by, when the number is at most
 * @mantissa_max and the power at most @power_max away from 0. Both are then exact in the type with
 * these bounds, so one multiplication or division rounds once (Clinger, 1990).
 */
static bool is_short(const struct decimal *decimal, uint64_t mantissa_max, int64_t power_max,
	uint64_t *ret_mantissa, int64_t *ret_power)
{
	int64_t power = decimal->point + decimal_exponent(decimal) - (int64_t)decimal->n_digits;
	const char *at = decimal->digits;
	uint64_t mantissa = 0;

	if (FLT_EVAL_METHOD != 0 || decimal->n_digits >= U64_DIGITS || power > power_max ||
		power < -power_max)
		return false;
	for (size_t i = 0; i < decimal->n_digits; i++)
		mantissa = mantissa * 10 + decimal_next_digit(&at);
	*ret_mantissa = mantissa;
	*ret_power = power;
	return mantissa <= mantissa_max;
}

/* Write the number for strtod to @text: as many digits as matter, and what the exponent becomes. */
static void write_for_strtod(const struct decimal *decimal, char text[F64_DIGITS_MAX + 32])
{
	size_t n = decimal->n_digits < F64_DIGITS_MAX ? decimal->n_digits : F64_DIGITS_MAX;
	int64_t power = decimal->point + decimal_exponent(decimal) - (int64_t)n;
	const char *at = decimal->digits;
	size_t used = 0;

	if (decimal->is_negative)
		text[used++] = '-';
	for (size_t i = 0; i < n; i++)
		text[used++] = (char)('0' + decimal_next_digit(&at));
	/* The last digit is not 0: whatever was cut off lies above what is left. */
	if (n < decimal->n_digits) {
		text[used++] = '1';
		power--;
	}
	text[used++] = 'e';
	if (power < 0)
		text[used++] = '-';
	power = power < 0 ? -power : power;
	for (int64_t place = 1000; place > 0; place /= 10)
		text[used++] = (char)('0' + power / place % 10);
	text[used] = '\0';
}

/* Return -1 for a number nearer to 0 than any double but 0, 1 for an infinite one, else 0: the
 * digits decide. */
static int classify(const struct decimal *decimal)
{
	int64_t point = decimal->point + decimal_exponent(decimal);

	if (decimal->n_digits == 0 || point < -F64_POINT_MAX)
		return -1;
	return point > F64_POINT_MAX;
}

/* Write the number at @index to *ret: the nearest double, or, @is_float, a double for the nearest
 * float. A double has more than twice the digits of a float, so a product or a quotient of two
 * floats may be rounded to a double first. */
static inline int read_nearest(
	const struct json_tape *tape, uint32_t index, bool is_float, double *ret)
{
	static const double powers[F64_POWER_MAX + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
		1e22};
	char text[F64_DIGITS_MAX + 32];
	struct decimal decimal;
	uint64_t mantissa;
	int64_t power;
	double value;

	parse_number(tape, index, &decimal);
	if (classify(&decimal) > 0)
		return JSON_E_RANGE;
	if (classify(&decimal) < 0) {
		*ret = decimal.is_negative ? -0.0 : 0.0;
		return 0;
	}
	if (is_short(&decimal, is_float ? F32_MANTISSA_MAX : F64_MANTISSA_MAX,
		    is_float ? F32_POWER_MAX : F64_POWER_MAX, &mantissa, &power)) {
		value = (double)mantissa;
		value = power < 0 ? value / powers[-power] : value * powers[power];
		*ret = decimal.is_negative ? -value : value;
		return 0;
	}
	write_for_strtod(&decimal, text);
	value = is_float ? (double)decimal_strtof(text) : decimal_strtod(text);
	if (isinf(value))
		return JSON_E_RANGE;
	*ret = value;
	return 0;
}

int json_number_f64(const struct json_tape *tape, uint32_t index, double *ret)
{
	return read_nearest(tape, index, false, ret);
}

int json_number_f32(const struct json_tape *tape, uint32_t index, float *ret)
{
	double value;
	int r = read_nearest(tape, index, true, &value);

	if (r == 0)
		*ret = (float)value;
	return r;
}

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

/* ── products ────────────────────────────────────────────────────────────────────────────────── */

/*
 * The product of two numbers, exact: the digits of one are multiplied by the other, a machine
 * integer, from the last digit to the first. The powers of ten are added.
 *
 *   0.29 × 100    29 × 1, the point two places to the left and two to the right    29
 */

/* The digits of a number, and the power of ten after them. */
struct digits {
	unsigned char at[JSON_DIGITS_MAX + JSON_DIVISOR_DIGITS_MAX];
	size_t n;
	int64_t power;
};

static void take_digits(const struct decimal *decimal, struct digits *ret_digits)
{
	const char *at = decimal->digits;

	ret_digits->n = decimal->n_digits;
	ret_digits->power = decimal->point + decimal_exponent(decimal) - (int64_t)decimal->n_digits;
	for (size_t i = 0; i < decimal->n_digits; i++)
		ret_digits->at[i] = (unsigned char)decimal_next_digit(&at);
}

/* Return the whole number that the digits of @factor are. */
static uint64_t join_digits(const struct digits *factor)
{
	uint64_t value = 0;

	for (size_t i = 0; i < factor->n; i++)
		value = value * 10 + factor->at[i];
	return value;
}

/* Multiply @digits by @factor, without zeros at both ends. */
static void multiply(struct digits *digits, uint64_t factor)
{
	struct digits product = {.n = sizeof(product.at), .power = digits->power};
	size_t left = sizeof(product.at);
	uint64_t carry = 0;
	size_t from = 0;

	for (size_t i = digits->n; i > 0 || carry > 0; carry /= 10) {
		carry += i > 0 ? digits->at[--i] * factor : 0;
		product.at[--left] = (unsigned char)(carry % 10);
	}
	while (product.at[product.n - 1] == 0) {
		product.n--;
		product.power++;
	}
	while (product.at[left] == 0)
		left++;
	for (digits->n = 0; left + from < product.n; from++)
		digits->at[digits->n++] = product.at[left + from];
	digits->power = product.power;
}

static void write_zeros(struct buffer *out, int64_t n)
{
	for (; n > 0; n--)
		buffer_append_char(out, '0');
}

/* Append @digits without an exponent. */
static void write_plain(const struct digits *digits, struct buffer *out)
{
	int64_t whole = (int64_t)digits->n + digits->power;

	if (whole <= 0)
		buffer_append_char(out, '0');
	for (int64_t i = whole < 0 ? whole : 0; i < (int64_t)digits->n; i++) {
		if (i == whole)
			buffer_append_char(out, '.');
		buffer_append_char(out, i < 0 ? '0' : (char)('0' + digits->at[i]));
	}
	write_zeros(out, digits->power);
}

/* Return the number of characters that @digits take without an exponent, at least. */
static int64_t plain_size(const struct digits *digits)
{
	int64_t whole = (int64_t)digits->n + digits->power;

	if (digits->power >= 0)
		return whole;
	return whole > 0 ? (int64_t)digits->n : -digits->power;
}

int json_number_write_product(
	const char *a, size_t a_size, const char *b, size_t b_size, struct buffer *out)
{
	struct decimal left;
	struct decimal right;
	struct digits digits;
	struct digits factor;

	decimal_parse(&left, a, a_size);
	decimal_parse(&right, b, b_size);
	if (left.n_digits == 0 || right.n_digits == 0) {
		buffer_append_char(out, '0');
		return 0;
	}
	if (left.n_digits > JSON_DIGITS_MAX || right.n_digits > JSON_DIVISOR_DIGITS_MAX)
		return JSON_E_RANGE;
	take_digits(&left, &digits);
	take_digits(&right, &factor);
	multiply(&digits, join_digits(&factor));
	digits.power += factor.power;
	if (plain_size(&digits) > JSON_DIGITS_MAX)
		return JSON_E_RANGE;
	if (left.is_negative != right.is_negative)
		buffer_append_char(out, '-');
	write_plain(&digits, out);
	return 0;
}
