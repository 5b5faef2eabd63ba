/* SPDX-License-Identifier: Apache-2.0 */
#include "util/histogram.h"

#define STEPS     8
#define STEP_BITS 3

/* Return the bucket of a value. Below STEPS every number has its own; above, the three bits after
 * the leading one choose the step. */
static unsigned int bucket_of_value(uint64_t value)
{
	unsigned int exponent;
	unsigned int bucket;

	if (value < STEPS)
		return (unsigned int)value;
	exponent = 63 - (unsigned int)__builtin_clzll(value);
	bucket = ((exponent - STEP_BITS + 1) << STEP_BITS) +
		 (unsigned int)(value >> (exponent - STEP_BITS) & (STEPS - 1));
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* Return the largest number in @bucket. */
static uint64_t end_of(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < STEPS)
		return bucket;
	shift = (bucket >> STEP_BITS) - 1;
	return ((uint64_t)(STEPS + (bucket & (STEPS - 1)) + 1) << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram->count++;
	histogram->buckets[bucket_of_value(value)]++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	histogram->count += other->count;
	for (unsigned int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		histogram->buckets[bucket] += other->buckets[bucket];
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
	double wanted = quantile * (double)histogram->count;
	uint64_t seen = 0;

	for (unsigned int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		seen += histogram->buckets[bucket];
		if (seen > 0 && (double)seen >= wanted)
			return end_of(bucket);
	}
	return 0;
}
