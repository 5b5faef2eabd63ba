/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Durations by powers of two of a microsecond, eight steps each: what is told is at most an eighth
 * too much. */
#define STATISTICS_BUCKETS 256

struct statistics {
	uint64_t calls;  /* answered, refused ones too */
	uint64_t errors; /* of them, with an error */
	uint64_t timed;  /* of them, that got as far as the runner */
	uint32_t durations[STATISTICS_BUCKETS];
};

/* Count a call that was refused before it could run. */
void statistics_count_refused(struct statistics *statistics);

/* Count a call that took @duration_us. */
void statistics_count(struct statistics *statistics, uint64_t duration_us, bool is_error);

/* The duration in milliseconds that the share @quantile (0 to 1) of the calls did not exceed; 0
 * when there were none. */
double statistics_quantile_ms(const struct statistics *statistics, double quantile);
