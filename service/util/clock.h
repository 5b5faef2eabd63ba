/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Time that never jumps (CLOCK_MONOTONIC), in nanoseconds or milliseconds since some start. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);

/* What this thread has computed so far (CLOCK_THREAD_CPUTIME_ID), in nanoseconds: a bound on work
 * that does not count when others had the processor. */
uint64_t clock_thread_ns(void);

/* More than any time: what larger numbers of units count as. */
#define CLOCK_UNITS_MAX (UINT64_C(1) << 63)

/* Whether this thread has computed up to *@end_ns. The first call, with 0 there, sets it to
 * @most_ns from now: so the clock, which costs a system call, need not be read before it is known
 * that the work is not short. At most CLOCK_UNITS_MAX may be given. */
bool clock_is_up(uint64_t *end_ns, uint64_t most_ns);

/* The least whole number of units of time that is not below @units, which are not negative, and
 * CLOCK_UNITS_MAX at most. Not ceil(): the daemon would load the library of mathematics for that
 * alone. */
static inline uint64_t clock_round_up(double units)
{
	uint64_t whole = units < (double)CLOCK_UNITS_MAX ? (uint64_t)units : CLOCK_UNITS_MAX;

	return whole < CLOCK_UNITS_MAX && (double)whole < units ? whole + 1 : whole;
}
