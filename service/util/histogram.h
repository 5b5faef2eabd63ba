/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * A histogram of whole numbers, in buckets by powers of two, in eight steps each: a quantile is at
 * most an eighth too high.
 */
#define HISTOGRAM_BUCKETS 256

/* Zeroed, it is empty. The last bucket also has every number over 2^34. */
struct histogram {
	uint64_t count;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

/* Count @value. */
void histogram_add(struct histogram *histogram, uint64_t value);

/* Add the values counted by @other. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/* Return the least upper bound of the share @quantile (0 to 1) of the values; 0 without values. */
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);
