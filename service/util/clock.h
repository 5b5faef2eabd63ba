/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Units of time in larger ones. */
#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
#define US_PER_MS INT64_C(1000)
#define US_PER_S  INT64_C(1000000)
#define MS_PER_S  INT64_C(1000)

/* Return a time without jumps (CLOCK_MONOTONIC), in nanoseconds or milliseconds since some
 * start. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);

/* Return the processor time of this thread (CLOCK_THREAD_CPUTIME_ID), in nanoseconds. A bound in
 * this time does not depend on what else the machine runs. */
uint64_t clock_thread_ns(void);

/* Read the processor time that @pid, without its children, has used. Return 0 or a negative
 * errno. */
int clock_process_ns(pid_t pid, uint64_t *ret_ns);

/* Longer than any real time: larger numbers of units are cut to this. */
#define CLOCK_UNITS_MAX (UINT64_C(1) << 63)

/* Return whether this thread has computed until *@end_ns. If *@end_ns is 0, set it to @most_ns from
 * now first (at most CLOCK_UNITS_MAX). So short work need not read the clock, a system call. */
bool clock_is_up(uint64_t *end_ns, uint64_t most_ns);

/* Round @units of time, 0 or more, up to a whole number, at most CLOCK_UNITS_MAX. ceil() would make
 * the daemon load the library of mathematics for this alone. */
static inline uint64_t clock_round_up(double units)
{
	uint64_t whole = units < (double)CLOCK_UNITS_MAX ? (uint64_t)units : CLOCK_UNITS_MAX;

	return whole < CLOCK_UNITS_MAX && (double)whole < units ? whole + 1 : whole;
}
