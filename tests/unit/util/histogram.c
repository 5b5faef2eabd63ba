/* SPDX-License-Identifier: Apache-2.0 */
#include "util/histogram.h"

#include <criterion/criterion.h>

Test(histogram, of_nothing_has_quantiles_of_zero)
{
	struct histogram histogram = {0};

	cr_expect_eq(histogram_quantile(&histogram, 0.5), 0);
	cr_expect_eq(histogram_quantile(&histogram, 1.0), 0);
}

Test(histogram, reports_a_value_at_most_an_eighth_too_large)
{
	for (uint64_t value = 1; value < UINT64_C(10000000000); value = value * 17 / 16 + 1) {
		struct histogram histogram = {0};
		uint64_t reported;

		histogram_add(&histogram, value);
		reported = histogram_quantile(&histogram, 0.5);
		cr_expect_geq(reported, value, "%llu", (unsigned long long)value);
		cr_expect_leq(reported, value + value / 8, "%llu: %llu", (unsigned long long)value,
			(unsigned long long)reported);
	}
}

Test(histogram, has_quantiles)
{
	struct histogram histogram = {0};

	for (int i = 0; i < 98; i++)
		histogram_add(&histogram, 4);
	histogram_add(&histogram, 1000);
	histogram_add(&histogram, 1000000);
	cr_expect_eq(histogram_quantile(&histogram, 0.5), 4);
	cr_expect_eq(histogram_quantile(&histogram, 0.98), 4);
	cr_expect_geq(histogram_quantile(&histogram, 0.99), 1000);
	cr_expect_lt(histogram_quantile(&histogram, 0.99), 1130);
	cr_expect_geq(histogram_quantile(&histogram, 1.0), 1000000);
}

Test(histogram, has_a_place_for_any_value)
{
	struct histogram histogram = {0};

	histogram_add(&histogram, 0);
	histogram_add(&histogram, UINT64_MAX);
	cr_expect_eq(histogram.count, 2);
	cr_expect_eq(histogram_quantile(&histogram, 0.5), 0);
	cr_expect_gt(histogram_quantile(&histogram, 1.0), 1000000000);
}

Test(histogram, takes_the_values_of_another)
{
	struct histogram histogram = {0};
	struct histogram other = {0};

	histogram_add(&histogram, 1);
	histogram_add(&other, 0);
	histogram_add(&other, 7);
	histogram_add(&other, UINT64_MAX);
	histogram_merge(&histogram, &other);
	cr_expect_eq(histogram.count, 4);
	cr_expect_eq(histogram_quantile(&histogram, 0.25), 0);
	cr_expect_eq(histogram_quantile(&histogram, 0.5), 1);
	cr_expect_eq(histogram_quantile(&histogram, 0.75), 7);
	cr_expect_gt(histogram_quantile(&histogram, 1.0), 7);
	histogram_merge(&histogram, &other);
	cr_expect_eq(histogram.count, 7);
}

Test(histogram, has_eight_steps_between_powers_of_two)
{
	static const uint64_t rows[][2] = {{7, 7}, {8, 8}, {15, 15}, {16, 17}, {17, 17}, {18, 19},
		{31, 31}, {32, 35}, {35, 35}, {36, 39}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct histogram histogram = {0};

		histogram_add(&histogram, rows[i][0]);
		cr_expect_eq(histogram_quantile(&histogram, 1.0), rows[i][1], "%zu", i);
	}
}

Test(histogram, has_its_least_value_as_the_quantile_zero)
{
	struct histogram histogram = {0};

	histogram_add(&histogram, 4);
	histogram_add(&histogram, 6);
	cr_expect_eq(histogram_quantile(&histogram, 0), 4);
}
