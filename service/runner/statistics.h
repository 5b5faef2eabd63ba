/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Durations are counted by powers of two of a microsecond, in eight steps each: a quantile is at most
 * an eighth too high. */
#define STATISTICS_BUCKETS 256

struct statistics {
	uint64_t calls;  /* answered, including refused ones */
	uint64_t errors; /* calls that ended with an error */
	uint64_t timed;  /* calls that a runner took */
	uint32_t durations[STATISTICS_BUCKETS];
};

/* Count a call that was refused before it could run. */
void statistics_count_refused(struct statistics *statistics);

/* Count a call that took @duration_us. */
void statistics_count(struct statistics *statistics, uint64_t duration_us, bool is_error);

/* Return the duration in milliseconds that the share @quantile (0 to 1) of the calls did not exceed;
 * 0 when there were none. */
double statistics_quantile_ms(const struct statistics *statistics, double quantile);
