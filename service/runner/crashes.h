/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How often the hosts of a toolbox have crashed lately: how long to wait before the next start, and
 * whether there were too many (contract.md, Processes). The caller passes the time, in ms.
 */

/* The most crashes counted by crash_limit. */
#define CRASHES_MAX 100

#define CRASHES_BACKOFF_FIRST_MS 50
#define CRASHES_BACKOFF_LAST_MS  5000

/* A zeroed struct has counted no crash. */
struct crashes {
	uint64_t times_ms[CRASHES_MAX]; /* a ring of the latest */
	uint64_t n_crashes;
	uint64_t backoff_ms; /* before the next start */
};

/* Count a crash at @now_ms. Returns true when there are @limit of them (0: no limit) within
 * @window_ms. */
bool crashes_note(struct crashes *crashes, uint64_t now_ms, uint32_t limit, uint64_t window_ms);

/* Return how long to wait before the next start: 0 at first, then 50 ms doubling to 5 s. */
uint64_t crashes_next_delay_ms(struct crashes *crashes);

/* Note that a call succeeded: the delays begin anew with the next crash. */
static inline void crashes_note_success(struct crashes *crashes)
{
	crashes->backoff_ms = 0;
}

/* Forget all crashes. */
void crashes_forgive(struct crashes *crashes);
