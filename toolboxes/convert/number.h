/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONVERT_NUMBER_H
#define CONVERT_NUMBER_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
/* mpfr.h after stdio.h has more functions. */
#include <stdio.h>

#include <mpfr.h>

#include "text.h"

/*
 * Numbers: rational and exact, or real and approximate.
 *
 *   1/3 ─ + - * / ─▶ exact, as long as numerator and denominator have NUMBER_BITS_MAX at most
 *   sqrt(2), 2^0.3 ─▶ real: NUMBER_PRECISION bits, some 75 digits, below 2^NUMBER_EXPONENT_MAX
 *
 * So memory and time of each operation are bounded. All functions that may fail return NULL, or a
 * constant text with the reason.
 */

#define NUMBER_BITS_MAX     32768
#define NUMBER_PRECISION    256
#define NUMBER_EXPONENT_MAX 131072 /* less than 10^39457 */

/* The largest n of n!, which has 2,568 digits. */
#define NUMBER_FACTORIAL_MAX 1000

struct number {
	bool is_exact;
	mpq_t exact; /* if is_exact */
	mpfr_t real; /* else */
};

/* Set the bounds of real numbers, once in a process. */
void number_set_up(void);

/* Make @number 0; number_deinit() frees it. */
void number_init(struct number *number);
void number_deinit(struct number *number);

void number_set(struct number *number, const struct number *from);

/* Read the decimal number at the beginning of the @size bytes at @text: 12, .5, 1.5e-3. Write its
 * size to *ret_used; 0: there is none. */
const char *number_read(struct number *number, const char *text, size_t size, size_t *ret_used);

/* Change @a by @b. */
const char *number_add(struct number *a, const struct number *b);
const char *number_subtract(struct number *a, const struct number *b);
const char *number_multiply(struct number *a, const struct number *b);
const char *number_divide(struct number *a, const struct number *b);
const char *number_modulo(struct number *a, const struct number *b); /* the sign of @b */
const char *number_power(struct number *a, const struct number *b);
const char *number_factorial(struct number *a);

/* Return whether there is a function called @name, with @n numbers, and call it: the result is in
 * values[0]. */
const char *number_call(const char *name, struct number *values, unsigned int n);

/* Set @number to the constant @name; false: there is no such constant. */
bool number_constant(const char *name, struct number *number);

/* Call @offer with each name of a function or a constant. */
void number_each_name(void (*offer)(void *data, const char *name), void *data);

int number_compare(const struct number *a, const struct number *b);

/* Append @number: all digits of a whole number or of a short decimal fraction, else 20 digits.
 * *ret_is_exact: they are the number itself. */
void number_write(const struct number *number, struct text *out, bool *ret_is_exact);

/* Append an exact number as `1/3`. Return false if it is none, or long. */
bool number_write_fraction(const struct number *number, struct text *out);

/* Return the nearest double, or an infinity. */
double number_double(const struct number *number);

#endif
