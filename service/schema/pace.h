/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * The pace of this machine: how long it takes to read JSON text.
 *
 * A bound on the time of a check must stop costly schemas, and not plain large instances on a slow
 * machine. No constant does both, so the time of reading is measured once, when the first large
 * instance comes: PACE_ROUNDS times a flat array of PACE_TOKENS numbers, of which the fastest
 * counts. tests/bench/worst prints what plain instances cost beside it.
 */

/* Tokens of the text to read, and of the smallest instance for which the pace matters. */
#define PACE_TOKENS 32768
#define PACE_ROUNDS 3

/* Return the thread's time, in nanoseconds, for reading a text of @n_tokens here. */
uint64_t pace_reading_ns(uint32_t n_tokens);
