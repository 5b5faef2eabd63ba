/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "json/decimal.h"
#include "json/number.h"
#include "json/reader.h"

/*
 * Whole multiples, exactly.
 *
 * Write both numbers as (digits that do not end in 0) × 10^exponent. If the divisor's exponent is
 * the greater one, the value would have to end in a 0, which it does not. Otherwise the question is
 * whether the divisor's digits divide the value's digits with
 *
 *   zeros = value's exponent - divisor's exponent
 *
 * zeros after them. A zero adds one factor 2 and one factor 5; a divisor of n digits has fewer than
 * 4 n of either. So 4 n zeros answer for any greater number, and exponents cost nothing: 25 ns for
 * 1e300 by 7 where all zeros take 1.7 us, 28 ns for 1e10000 where they take 59 us.
 *
 * Divisors of up to 18 digits are divided by in a machine word; longer ones in limbs of nine
 * digits: the remainder so far moves one limb to the left, takes in the next one, and the quotient
 * of the leading limbs is the number of subtractions of the divisor.
 */

#define LIMB_DIGITS         9
#define LIMB_BASE           UINT32_C(1000000000)
#define LIMBS_MAX           ((JSON_MULTIPLE_DIGITS_MAX + LIMB_DIGITS - 1) / LIMB_DIGITS)
#define WORD_DIGITS         18
#define ZEROS_PER_DIGIT_MAX 4

/* A non-negative number: limbs[0] is the lowest, and one more than needed is always 0. */
struct limbs {
	uint32_t limbs[LIMBS_MAX + 1];
	size_t count;
};

/* The digits of the value with the zeros after them, one by one. */
struct digits {
	const char *at;
	size_t left;
	size_t zeros;
};

static unsigned int digits_next(struct digits *digits)
{
	if (digits->left > 0) {
		digits->left--;
		return decimal_next_digit(&digits->at);
	}
	digits->zeros--;
	return 0;
}

/* The next @n digits as a number; so many are there. */
static uint64_t digits_take(struct digits *digits, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value * 10 + digits_next(digits);
	return value;
}

static bool is_multiple_of_word(struct digits value, struct digits divisor)
{
	uint64_t word = digits_take(&divisor, divisor.left);
	uint64_t remainder = 0;

	/* Below 10^18: ten times the value and nine fits. */
	while (value.left + value.zeros > 0)
		remainder = (remainder * 10 + digits_next(&value)) % word;
	return remainder == 0;
}

static void limbs_load(struct limbs *limbs, struct digits digits)
{
	size_t count = (digits.left + LIMB_DIGITS - 1) / LIMB_DIGITS;
	size_t n = digits.left - (count - 1) * LIMB_DIGITS;

	limbs->count = count;
	limbs->limbs[count] = 0;
	while (count-- > 0) {
		limbs->limbs[count] = (uint32_t)digits_take(&digits, n);
		n = LIMB_DIGITS;
	}
}

/* remainder -= quotient × divisor, which is not greater. */
static void subtract_multiple(
	struct limbs *remainder, const struct limbs *divisor, uint64_t quotient)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i <= divisor->count; i++) {
		uint64_t take = quotient * divisor->limbs[i] + borrow;
		uint32_t low = (uint32_t)(take % LIMB_BASE);

		borrow = take / LIMB_BASE;
		if (remainder->limbs[i] < low) {
			remainder->limbs[i] += LIMB_BASE;
			borrow++;
		}
		remainder->limbs[i] -= low;
	}
}

static bool is_less(const struct limbs *a, const struct limbs *b)
{
	for (size_t i = b->count + 1; i-- > 0;)
		if (a->limbs[i] != b->limbs[i])
			return a->limbs[i] < b->limbs[i];
	return false;
}

/* remainder = (remainder × LIMB_BASE + limb) mod divisor. The divisor has at least three limbs; the
 * quotient, estimated from the highest three of the remainder by the highest two of the divisor
 * plus one, is never too great and at most two too small. */
static void take_limb(struct limbs *remainder, const struct limbs *divisor, uint32_t limb)
{
	size_t n = divisor->count;
	const uint32_t *top = divisor->limbs + n - 2;
	unsigned __int128 high;
	uint64_t quotient;

	/* Not memmove(): valgrind takes its fortified form for an overlapping memcpy(). */
	for (size_t i = n; i > 0; i--)
		remainder->limbs[i] = remainder->limbs[i - 1];
	remainder->limbs[0] = limb;
	high = ((unsigned __int128)remainder->limbs[n] * LIMB_BASE + remainder->limbs[n - 1]) *
		       LIMB_BASE +
	       remainder->limbs[n - 2];
	quotient = (uint64_t)(high / ((uint64_t)top[1] * LIMB_BASE + top[0] + 1));
	subtract_multiple(remainder, divisor, quotient);
	while (!is_less(remainder, divisor))
		subtract_multiple(remainder, divisor, 1);
}

static bool is_multiple_of_limbs(struct digits value, struct digits divisor_digits)
{
	size_t n_limbs = (value.left + value.zeros + LIMB_DIGITS - 1) / LIMB_DIGITS;
	size_t n = value.left + value.zeros - (n_limbs - 1) * LIMB_DIGITS;
	struct limbs remainder;
	struct limbs divisor;

	limbs_load(&divisor, divisor_digits);
	remainder.count = divisor.count;
	memset(remainder.limbs, 0, (divisor.count + 1) * sizeof(*remainder.limbs));
	for (; n_limbs > 0; n_limbs--) {
		take_limb(&remainder, &divisor, (uint32_t)digits_take(&value, n));
		n = LIMB_DIGITS;
	}
	for (size_t i = 0; i < divisor.count; i++)
		if (remainder.limbs[i] != 0)
			return false;
	return true;
}

/* The exponent when the digits are taken as a whole number. */
static int64_t whole_exponent(const struct decimal *decimal)
{
	return decimal->point - (int64_t)decimal->n_digits;
}

int json_number_is_multiple(const char *value, size_t value_size, const char *divisor,
	size_t divisor_size, bool *ret_is_multiple)
{
	struct decimal v;
	struct decimal d;
	struct digits v_digits;
	struct digits d_digits;
	int64_t zeros;
	size_t zeros_max;

	decimal_parse(&v, value, value_size);
	decimal_parse(&d, divisor, divisor_size);
	if (v.n_digits > JSON_MULTIPLE_DIGITS_MAX || d.n_digits > JSON_MULTIPLE_DIGITS_MAX)
		return JSON_E_RANGE;
	zeros = decimal_exponent_difference(&v, &d) + whole_exponent(&v) - whole_exponent(&d);
	/* A divisor of 0 is the caller's mistake, but no reason to trap. */
	if (v.n_digits == 0 || d.n_digits == 0 || zeros < 0) {
		*ret_is_multiple = v.n_digits == 0;
		return 0;
	}
	zeros_max = d.n_digits * ZEROS_PER_DIGIT_MAX;
	v_digits = (struct digits){
		.at = v.digits,
		.left = v.n_digits,
		.zeros = (uint64_t)zeros < zeros_max ? (size_t)zeros : zeros_max,
	};
	d_digits = (struct digits){.at = d.digits, .left = d.n_digits};
	*ret_is_multiple = d.n_digits <= WORD_DIGITS ? is_multiple_of_word(v_digits, d_digits)
						     : is_multiple_of_limbs(v_digits, d_digits);
	return 0;
}
