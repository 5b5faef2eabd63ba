/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/statistics.h"

#include <criterion/criterion.h>

Test(statistics, count_calls_and_errors)
{
	struct statistics statistics = {0};

	statistics_count_refused(&statistics);
	statistics_count(&statistics, 10, false);
	statistics_count(&statistics, 10, true);
	cr_expect_eq(statistics.calls, 3);
	cr_expect_eq(statistics.errors, 2);
	cr_expect_eq(statistics.timed, 2, "what was refused took no time");
}

Test(statistics, of_nothing_are_nothing)
{
	struct statistics statistics = {0};

	cr_expect_eq(statistics_quantile_ms(&statistics, 0.5), 0);
	statistics_count_refused(&statistics);
	cr_expect_eq(statistics_quantile_ms(&statistics, 0.99), 0);
}

Test(statistics, tell_a_duration_at_most_an_eighth_too_long)
{
	for (uint64_t us = 1; us < UINT64_C(10000000000); us = us * 17 / 16 + 1) {
		struct statistics statistics = {0};
		double told_ms;

		statistics_count(&statistics, us, false);
		told_ms = statistics_quantile_ms(&statistics, 0.5);
		cr_expect_geq(told_ms, (double)us / 1000, "%llu us", (unsigned long long)us);
		cr_expect_leq(told_ms, (double)us / 1000 * 1.125, "%llu us: %f ms",
			(unsigned long long)us, told_ms);
	}
}

Test(statistics, tell_quantiles)
{
	struct statistics statistics = {0};

	for (int i = 0; i < 98; i++)
		statistics_count(&statistics, 4, false);
	statistics_count(&statistics, 1000, false);
	statistics_count(&statistics, 1000000, false);
	cr_expect_eq(statistics_quantile_ms(&statistics, 0.5), 0.004);
	cr_expect_eq(statistics_quantile_ms(&statistics, 0.98), 0.004);
	cr_expect_geq(statistics_quantile_ms(&statistics, 0.99), 1.0);
	cr_expect_lt(statistics_quantile_ms(&statistics, 0.99), 1.13);
	cr_expect_geq(statistics_quantile_ms(&statistics, 1.0), 1000.0);
}

Test(statistics, have_a_place_for_any_duration)
{
	struct statistics statistics = {0};

	statistics_count(&statistics, 0, false);
	statistics_count(&statistics, UINT64_MAX, false);
	cr_expect_eq(statistics.timed, 2);
	cr_expect_eq(statistics_quantile_ms(&statistics, 0.5), 0);
	cr_expect_gt(statistics_quantile_ms(&statistics, 1.0), 1e6);
}
