/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arithmetic as plain C functions. They know nothing of JSON, messages or tools: math_tools.json
 * beside this file describes how they are called, and that they report failure in errno.
 */

#include <errno.h>
#include <stdint.h>

#include "arithmetic.h"

#define FACTORIAL_MAX 20 /* 21! needs 66 bits */

int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		errno = ERANGE;
	return sum;
}

int64_t subtract(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		errno = ERANGE;
	return difference;
}

int64_t multiply(int64_t a, int64_t b)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		errno = ERANGE;
	return product;
}

double divide(double a, double b)
{
	if (b == 0) {
		errno = EDOM;
		return 0;
	}
	return a / b;
}

int64_t factorial(int64_t n)
{
	int64_t product = 1;

	if (n < 0 || n > FACTORIAL_MAX) {
		errno = n < 0 ? EDOM : ERANGE;
		return -1;
	}
	for (int64_t i = 2; i <= n; i++)
		product *= i;
	return product;
}
