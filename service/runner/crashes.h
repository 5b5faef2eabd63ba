/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How often the hosts of a toolbox have crashed lately: how long to wait before the next start, and
 * when it has been too often (contract.md, Processes). Time is the caller's, in ms.
 */

/* The most that crash_limit may ask to remember. */
#define CRASHES_MAX 100

#define CRASHES_BACKOFF_FIRST_MS 50
#define CRASHES_BACKOFF_LAST_MS  5000

/* A zeroed struct has seen no crash. */
struct crashes {
	uint64_t times_ms[CRASHES_MAX]; /* a ring of the latest */
	uint64_t n_crashes;
	uint64_t backoff_ms; /* before the next start */
};

/* Note one at @now_ms. True when that makes @limit of them (0: no limit) within @window_ms. */
bool crashes_note(struct crashes *crashes, uint64_t now_ms, uint32_t limit, uint64_t window_ms);

/* How long to wait before the next start: nothing at first, then 50 ms doubling to 5 s. */
uint64_t crashes_next_delay_ms(struct crashes *crashes);

/* A call went well: the next crash is the first again, as far as waiting goes. */
void crashes_note_success(struct crashes *crashes);

/* Forget all of them. */
void crashes_forgive(struct crashes *crashes);
