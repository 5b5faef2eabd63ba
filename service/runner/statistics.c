/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/statistics.h"

#define STEPS     8
#define STEP_BITS 3

/* Return the bucket of a duration. Below STEPS every microsecond has its own; above, the three bits
 * after the leading one choose the step. */
static unsigned int duration_bucket(uint64_t duration_us)
{
	unsigned int exponent;

	if (duration_us < STEPS)
		return (unsigned int)duration_us;
	exponent = 63 - (unsigned int)__builtin_clzll(duration_us);
	return ((exponent - STEP_BITS + 1) << STEP_BITS) +
	       (unsigned int)(duration_us >> (exponent - STEP_BITS) & (STEPS - 1));
}

/* Return the longest duration, in microseconds, that falls into @bucket. */
static uint64_t end_of(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < STEPS)
		return bucket;
	shift = (bucket >> STEP_BITS) - 1;
	return ((uint64_t)(STEPS + (bucket & (STEPS - 1)) + 1) << shift) - 1;
}

void statistics_count_refused(struct statistics *statistics)
{
	statistics->calls++;
	statistics->errors++;
}

void statistics_count(struct statistics *statistics, uint64_t duration_us, bool is_error)
{
	unsigned int bucket = duration_bucket(duration_us);

	if (bucket >= STATISTICS_BUCKETS)
		bucket = STATISTICS_BUCKETS - 1;
	statistics->calls++;
	statistics->errors += is_error;
	statistics->timed++;
	statistics->durations[bucket]++;
}

double statistics_quantile_ms(const struct statistics *statistics, double quantile)
{
	double wanted = quantile * (double)statistics->timed;
	uint64_t seen = 0;

	for (unsigned int bucket = 0; bucket < STATISTICS_BUCKETS; bucket++) {
		seen += statistics->durations[bucket];
		if (seen > 0 && (double)seen >= wanted)
			return (double)end_of(bucket) / 1000.0;
	}
	return 0.0;
}
