/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Time that never jumps (CLOCK_MONOTONIC), in nanoseconds or milliseconds since some start. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);

/* What this thread has computed so far (CLOCK_THREAD_CPUTIME_ID), in nanoseconds: a bound on work
 * that does not count when others had the processor. */
uint64_t clock_thread_ns(void);

/* The least whole number of units of time that is not below @units, which are not negative and no
 * more than 2^63. Not ceil(): the daemon would load the library of mathematics for that alone. */
static inline uint64_t clock_round_up(double units)
{
	uint64_t whole = (uint64_t)units;

	return (double)whole < units ? whole + 1 : whole;
}
