/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"
#include "stringify.h"

#include <stdlib.h>
#include <string.h>

/* The digits of a number that has more. */
#define DIGITS 20

/* The digits after the point that are written of an exact number. */
#define DECIMALS_MAX 60

/* The exponent of a number that is read. */
#define EXPONENT_DIGITS 4

/* The digits of a fraction. */
#define FRACTION_DIGITS_MAX 60

static const char too_large[] = "a number is too large: real numbers end at 10^39000";
static const char no_value[] = "a function has no real value there";
static const char by_zero[] = "a division by zero";
static const char too_large_for_digits[] =
	"a number is too large for " STRINGIFY(DIGITS) " digits of the result";

/* The bits of 20 digits, and a few that operations lose. */
#define RESULT_BITS 70

void number_set_up(void)
{
	mpfr_set_emax(NUMBER_EXPONENT_MAX);
	mpfr_set_emin(-NUMBER_EXPONENT_MAX);
}

void number_init(struct number *number)
{
	number->is_exact = true;
	mpq_init(number->exact);
	mpfr_init2(number->real, NUMBER_PRECISION);
}

void number_deinit(struct number *number)
{
	mpq_clear(number->exact);
	mpfr_clear(number->real);
}

void number_set(struct number *number, const struct number *from)
{
	number->is_exact = from->is_exact;
	if (from->is_exact)
		mpq_set(number->exact, from->exact);
	else
		mpfr_set(number->real, from->real, MPFR_RNDN);
}

/* Make @number real. */
static void make_real(struct number *number)
{
	if (number->is_exact)
		mpfr_set_q(number->real, number->exact, MPFR_RNDN);
	number->is_exact = false;
}

static size_t bits_of(const mpq_t exact)
{
	size_t above = mpz_sizeinbase(mpq_numref(exact), 2);
	size_t below = mpz_sizeinbase(mpq_denref(exact), 2);

	return above > below ? above : below;
}

/* Keep @number in its bounds after an operation. */
static const char *bound(struct number *number)
{
	if (number->is_exact && bits_of(number->exact) > NUMBER_BITS_MAX)
		make_real(number);
	if (number->is_exact)
		return NULL;
	if (mpfr_nan_p(number->real))
		return no_value;
	return mpfr_inf_p(number->real) ? too_large : NULL;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static size_t count_digits(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* Read an exponent at @text: e-3. *ret_used is 0 without one. */
static const char *read_exponent(const char *text, size_t size, long *ret, size_t *ret_used)
{
	size_t sign = size > 1 && (text[1] == '-' || text[1] == '+');
	size_t digits;

	*ret = 0;
	*ret_used = 0;
	if (size < 2 || (text[0] != 'e' && text[0] != 'E'))
		return NULL;
	digits = count_digits(text + 1 + sign, size - 1 - sign);
	if (digits == 0)
		return NULL;
	if (digits > EXPONENT_DIGITS)
		return "an exponent has more than " STRINGIFY(EXPONENT_DIGITS) " digits";
	*ret = strtol(text + 1, NULL, 10);
	*ret_used = 1 + sign + digits;
	return NULL;
}

/* Multiply @exact by ten to the power of @exponent. */
static void scale(mpq_t exact, long exponent)
{
	mpz_t ten;

	mpz_init(ten);
	mpz_ui_pow_ui(ten, 10, (unsigned long)labs(exponent));
	if (exponent < 0)
		mpz_mul(mpq_denref(exact), mpq_denref(exact), ten);
	else
		mpz_mul(mpq_numref(exact), mpq_numref(exact), ten);
	mpq_canonicalize(exact);
	mpz_clear(ten);
}

const char *number_read(struct number *number, const char *text, size_t size, size_t *ret_used)
{
	size_t whole = count_digits(text, size);
	size_t point = whole < size && text[whole] == '.';
	size_t part = point ? count_digits(text + whole + 1, size - whole - 1) : 0;
	size_t used = whole + point + part;
	size_t more;
	long exponent;
	char *digits;
	const char *why = NULL;

	*ret_used = 0;
	if (whole + part == 0)
		return NULL;
	why = read_exponent(text + used, size - used, &exponent, &more);
	digits = why ? NULL : malloc(whole + part + 1);
	if (!digits)
		return why ? why : "out of memory";
	memcpy(digits, text, whole);
	memcpy(digits + whole, text + whole + point, part);
	digits[whole + part] = '\0';
	number->is_exact = true;
	mpq_set_si(number->exact, 0, 1);
	mpz_set_str(mpq_numref(number->exact), digits, 10);
	free(digits);
	scale(number->exact, exponent - (long)part);
	*ret_used = used + more;
	return bound(number);
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

typedef void (*exact_function)(mpq_ptr, mpq_srcptr, mpq_srcptr);
typedef int (*real_function)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* Change @a by @b: exactly, if both are exact. */
static const char *operate(
	struct number *a, const struct number *b, exact_function exact, real_function real)
{
	struct number other;

	if (a->is_exact && b->is_exact) {
		exact(a->exact, a->exact, b->exact);
		return bound(a);
	}
	number_init(&other);
	number_set(&other, b);
	make_real(a);
	make_real(&other);
	real(a->real, a->real, other.real, MPFR_RNDN);
	number_deinit(&other);
	return bound(a);
}

const char *number_add(struct number *a, const struct number *b)
{
	return operate(a, b, mpq_add, mpfr_add);
}

const char *number_subtract(struct number *a, const struct number *b)
{
	return operate(a, b, mpq_sub, mpfr_sub);
}

const char *number_multiply(struct number *a, const struct number *b)
{
	return operate(a, b, mpq_mul, mpfr_mul);
}

static bool is_zero(const struct number *number)
{
	return number->is_exact ? mpq_sgn(number->exact) == 0 : mpfr_zero_p(number->real);
}

const char *number_divide(struct number *a, const struct number *b)
{
	return is_zero(b) ? by_zero : operate(a, b, mpq_div, mpfr_div);
}

/* Round an exact number down. */
static void floor_exact(mpq_t exact)
{
	mpz_fdiv_q(mpq_numref(exact), mpq_numref(exact), mpq_denref(exact));
	mpz_set_ui(mpq_denref(exact), 1);
}

/* Return whether too few bits of @real are after the point for a result with 20 digits. */
static bool is_coarse(const mpfr_t real)
{
	return mpfr_regular_p(real) && mpfr_get_exp(real) > NUMBER_PRECISION - RESULT_BITS;
}

/* a - b * floor(a / b) */
const char *number_modulo(struct number *a, const struct number *b)
{
	struct number quotient;
	const char *why;

	number_init(&quotient);
	number_set(&quotient, a);
	why = number_divide(&quotient, b);
	if (!why && quotient.is_exact)
		floor_exact(quotient.exact);
	else if (!why && is_coarse(quotient.real))
		why = too_large_for_digits;
	else if (!why)
		mpfr_floor(quotient.real, quotient.real);
	why = why ? why : number_multiply(&quotient, b);
	why = why ? why : number_subtract(a, &quotient);
	number_deinit(&quotient);
	return why;
}

static bool is_whole(const struct number *number)
{
	return number->is_exact && mpz_cmp_ui(mpq_denref(number->exact), 1) == 0;
}

/* Raise an exact number to a whole power, unless the result is too large for an exact one. */
static bool raise_exact(struct number *a, const struct number *b)
{
	bool is_negative = mpq_sgn(b->exact) < 0;
	unsigned long power;

	if (!a->is_exact || !is_whole(b) || !mpz_fits_slong_p(mpq_numref(b->exact)))
		return false;
	power = (unsigned long)labs(mpz_get_si(mpq_numref(b->exact)));
	if (power > NUMBER_BITS_MAX || power * bits_of(a->exact) > 2ul * NUMBER_BITS_MAX)
		return false;
	mpz_pow_ui(mpq_numref(a->exact), mpq_numref(a->exact), power);
	mpz_pow_ui(mpq_denref(a->exact), mpq_denref(a->exact), power);
	if (is_negative)
		mpq_inv(a->exact, a->exact);
	return true;
}

/* The exact root of a square. */
static bool root_exact(struct number *a)
{
	if (!a->is_exact || mpq_sgn(a->exact) < 0 || !mpz_perfect_square_p(mpq_numref(a->exact)) ||
		!mpz_perfect_square_p(mpq_denref(a->exact)))
		return false;
	mpz_sqrt(mpq_numref(a->exact), mpq_numref(a->exact));
	mpz_sqrt(mpq_denref(a->exact), mpq_denref(a->exact));
	return true;
}

const char *number_power(struct number *a, const struct number *b)
{
	struct number power;
	bool is_unit = a->is_exact && mpz_cmpabs_ui(mpq_numref(a->exact), 1) == 0 && is_whole(a);

	if (is_zero(a) && (b->is_exact ? mpq_sgn(b->exact) : mpfr_sgn(b->real)) < 0)
		return by_zero;
	/* 1 and -1 to any whole power. */
	if (is_unit && is_whole(b)) {
		if (mpz_even_p(mpq_numref(b->exact)))
			mpq_abs(a->exact, a->exact);
		return NULL;
	}
	if (raise_exact(a, b) || (b->is_exact && mpq_cmp_si(b->exact, 1, 2) == 0 && root_exact(a)))
		return bound(a);
	number_init(&power);
	number_set(&power, b);
	make_real(a);
	make_real(&power);
	mpfr_pow(a->real, a->real, power.real, MPFR_RNDN);
	number_deinit(&power);
	return bound(a);
}

const char *number_factorial(struct number *a)
{
	if (!is_whole(a) || mpq_sgn(a->exact) < 0 ||
		mpz_cmp_ui(mpq_numref(a->exact), NUMBER_FACTORIAL_MAX) > 0)
		return "a factorial is of a whole number from 0 to " STRINGIFY(
			NUMBER_FACTORIAL_MAX);
	mpz_fac_ui(mpq_numref(a->exact), mpz_get_ui(mpq_numref(a->exact)));
	return bound(a);
}

int number_compare(const struct number *a, const struct number *b)
{
	struct number left;
	struct number right;
	int order;

	if (a->is_exact && b->is_exact)
		return mpq_cmp(a->exact, b->exact);
	number_init(&left);
	number_init(&right);
	number_set(&left, a);
	number_set(&right, b);
	make_real(&left);
	make_real(&right);
	order = mpfr_cmp(left.real, right.real);
	number_deinit(&left);
	number_deinit(&right);
	return order;
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

typedef int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

static const struct {
	const char *name;
	function real;
	bool is_periodic;
} functions[] = {
	{"sqrt", mpfr_sqrt, false},
	{"cbrt", mpfr_cbrt, false},
	{"exp", mpfr_exp, false},
	{"ln", mpfr_log, false},
	{"log", mpfr_log10, false},
	{"log10", mpfr_log10, false},
	{"log2", mpfr_log2, false},
	{"sin", mpfr_sin, true},
	{"cos", mpfr_cos, true},
	{"tan", mpfr_tan, true},
	{"asin", mpfr_asin, false},
	{"acos", mpfr_acos, false},
	{"atan", mpfr_atan, false},
	{"sinh", mpfr_sinh, false},
	{"cosh", mpfr_cosh, false},
	{"tanh", mpfr_tanh, false},
};

/* The other functions: exact of exact numbers. */
static const char *const others[] = {
	"abs", "floor", "ceil", "round", "min", "max", "gcd", "lcm", NULL};
static const char *const constants[] = {"pi", "e", "tau", "deg", NULL};

void number_each_name(void (*offer)(void *data, const char *name), void *data)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		offer(data, functions[i].name);
	for (size_t i = 0; others[i]; i++)
		offer(data, others[i]);
	for (size_t i = 0; constants[i]; i++)
		offer(data, constants[i]);
}

bool number_constant(const char *name, struct number *number)
{
	number->is_exact = false;
	if (strcmp(name, "e") == 0) {
		mpfr_set_ui(number->real, 1, MPFR_RNDN);
		mpfr_exp(number->real, number->real, MPFR_RNDN);
		return true;
	}
	mpfr_const_pi(number->real, MPFR_RNDN);
	if (strcmp(name, "tau") == 0)
		mpfr_mul_ui(number->real, number->real, 2, MPFR_RNDN);
	else if (strcmp(name, "deg") == 0)
		mpfr_div_ui(number->real, number->real, 180, MPFR_RNDN);
	else
		return strcmp(name, "pi") == 0;
	return true;
}

/* Round: half away from zero, as people do. */
static const char *round_number(const char *name, struct number *number)
{
	mpq_t half;
	bool is_negative;

	if (!number->is_exact) {
		if (*name == 'f')
			mpfr_floor(number->real, number->real);
		else if (*name == 'c')
			mpfr_ceil(number->real, number->real);
		else
			mpfr_round(number->real, number->real);
		return bound(number);
	}
	is_negative = *name == 'c' || (*name == 'r' && mpq_sgn(number->exact) < 0);
	if (is_negative)
		mpq_neg(number->exact, number->exact);
	if (*name == 'r') {
		mpq_init(half);
		mpq_set_si(half, 1, 2);
		mpq_add(number->exact, number->exact, half);
		mpq_clear(half);
	}
	floor_exact(number->exact);
	if (is_negative)
		mpq_neg(number->exact, number->exact);
	return NULL;
}

static const char *choose(const char *name, struct number *values, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		int order = number_compare(&values[i], &values[0]);

		if (strcmp(name, "min") == 0 ? order < 0 : order > 0)
			number_set(&values[0], &values[i]);
	}
	return NULL;
}

static const char *divide_whole(const char *name, struct number *values, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!is_whole(&values[i]))
			return "gcd and lcm are of whole numbers";
	for (unsigned int i = 1; i < n; i++) {
		mpz_ptr first = mpq_numref(values[0].exact);

		if (strcmp(name, "gcd") == 0)
			mpz_gcd(first, first, mpq_numref(values[i].exact));
		else
			mpz_lcm(first, first, mpq_numref(values[i].exact));
	}
	return bound(&values[0]);
}

static const char *call_other(const char *name, struct number *values, unsigned int n)
{
	if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
		return choose(name, values, n);
	if (strcmp(name, "gcd") == 0 || strcmp(name, "lcm") == 0)
		return divide_whole(name, values, n);
	if (n != 1)
		return "this function is of one number";
	if (strcmp(name, "abs") != 0)
		return round_number(name, &values[0]);
	if (values[0].is_exact)
		mpq_abs(values[0].exact, values[0].exact);
	else
		mpfr_abs(values[0].real, values[0].real, MPFR_RNDN);
	return NULL;
}

const char *number_call(const char *name, struct number *values, unsigned int n)
{
	for (size_t i = 0; others[i]; i++)
		if (strcmp(others[i], name) == 0)
			return call_other(name, values, n);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		if (n != 1)
			return "this function is of one number";
		if (i == 0 && root_exact(&values[0]))
			return NULL;
		make_real(&values[0]);
		if (functions[i].is_periodic && is_coarse(values[0].real))
			return too_large_for_digits;
		mpfr_clear_divby0();
		functions[i].real(values[0].real, values[0].real, MPFR_RNDN);
		/* The logarithm of 0. */
		return mpfr_divby0_p() ? no_value : bound(&values[0]);
	}
	return "there is no such function";
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Return how many digits after the point @exact has; -1: more than DECIMALS_MAX. */
static int count_decimals(const mpq_t exact)
{
	mpz_t rest;
	mpz_t prime;
	unsigned long twos;
	unsigned long fives;
	bool has_end;

	mpz_inits(rest, prime, NULL);
	mpz_set_ui(prime, 2);
	twos = mpz_remove(rest, mpq_denref(exact), prime);
	mpz_set_ui(prime, 5);
	fives = mpz_remove(rest, rest, prime);
	has_end = mpz_cmp_ui(rest, 1) == 0;
	mpz_clears(rest, prime, NULL);
	if (fives > twos)
		twos = fives;
	return has_end && twos <= DECIMALS_MAX ? (int)twos : -1;
}

static void put_integer(const mpz_t integer, struct text *out)
{
	char *digits = malloc(mpz_sizeinbase(integer, 10) + 2);

	if (!digits) {
		out->has_failed = true;
		return;
	}
	mpz_get_str(digits, 10, integer);
	text_put(out, digits);
	free(digits);
}

static void put_decimals(const mpq_t exact, int decimals, struct text *out)
{
	struct text digits = {0};
	mpq_t scaled;
	size_t sign = mpq_sgn(exact) < 0;

	mpq_init(scaled);
	mpq_set(scaled, exact);
	scale(scaled, decimals);
	put_integer(mpq_numref(scaled), &digits);
	mpq_clear(scaled);
	if (digits.has_failed) {
		out->has_failed = true;
	} else if (decimals == 0) {
		text_add(out, digits.data, digits.size);
	} else {
		size_t n = digits.size - sign;
		size_t whole = n > (size_t)decimals ? n - (size_t)decimals : 0;

		text_put(out, sign ? "-" : "");
		text_add(out, digits.data + sign, whole);
		text_put(out, whole ? "." : "0.");
		for (size_t i = n; i < (size_t)decimals; i++)
			text_put(out, "0");
		text_add(out, digits.data + sign + whole, n - whole);
	}
	text_free(&digits);
}

void number_write(const struct number *number, struct text *out, bool *ret_is_exact)
{
	int decimals = number->is_exact ? count_decimals(number->exact) : -1;
	struct number real;
	char text[64];

	*ret_is_exact = decimals >= 0;
	if (decimals >= 0) {
		put_decimals(number->exact, decimals, out);
		return;
	}
	number_init(&real);
	number_set(&real, number);
	make_real(&real);
	mpfr_snprintf(text, sizeof(text), "%.*Rg", DIGITS, real.real);
	text_put(out, text);
	number_deinit(&real);
}

bool number_write_fraction(const struct number *number, struct text *out)
{
	if (!number->is_exact ||
		mpz_sizeinbase(mpq_numref(number->exact), 10) > FRACTION_DIGITS_MAX ||
		mpz_sizeinbase(mpq_denref(number->exact), 10) > FRACTION_DIGITS_MAX)
		return false;
	put_integer(mpq_numref(number->exact), out);
	text_put(out, "/");
	put_integer(mpq_denref(number->exact), out);
	return true;
}

double number_double(const struct number *number)
{
	struct number real;
	double value;

	number_init(&real);
	number_set(&real, number);
	make_real(&real);
	value = mpfr_get_d(real.real, MPFR_RNDN);
	number_deinit(&real);
	return value;
}
