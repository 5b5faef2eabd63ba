/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Integers of 64 bits. A result that does not fit sets errno to ERANGE, and what is returned then
 * means nothing. */
int64_t add(int64_t a, int64_t b);
int64_t subtract(int64_t a, int64_t b);
int64_t multiply(int64_t a, int64_t b);

/* a / b; for b = 0 errno is EDOM. */
double divide(double a, double b);

/* n!, for n from 0 to 20. For a negative n errno is EDOM, for a larger one ERANGE; -1 then. */
int64_t factorial(int64_t n);
