/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metrics/metrics.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct metrics metrics;

static void set_up(void)
{
	cr_assert_eq(metrics_init(&metrics), 0);
}

static void tear_down(void)
{
	metrics_deinit(&metrics);
}

TestSuite(metrics, .init = set_up, .fini = tear_down);

/* Count a call of the tool @name of @id that ran for @duration_us. */
static void count(const char *id, const char *name, int code, uint64_t duration_us)
{
	struct toolbox toolbox = {.id = (char *)id};
	struct tool tool = {.toolbox = &toolbox, .name = (char *)name};

	metrics_count_call(&metrics, &tool, duration_us, code);
}

Test(metrics, counts_by_names)
{
	const struct metrics_tool *tool;

	count("a", "bc", -1, 400);
	count("ab", "c", ANSWER_TIMEOUT, 30 * 1000 * 1000);
	count("a", "bc", -1, 500);
	count("a", "bc", ANSWER_BUSY, 501);
	metrics_count_refused(&metrics, NULL, ANSWER_UNKNOWN_TOOL);
	tool = metrics.first_tool->next;
	cr_assert_not_null(tool);
	cr_expect_str_eq(tool->names, "a");
	cr_expect_str_eq(tool->tool, "bc");
	cr_expect_eq(tool->ok, 2);
	cr_expect_eq(tool->codes[ANSWER_BUSY], 1);
	cr_expect_eq(tool->durations.buckets[2], 2, "500 us is in the bucket up to 500 us");
	cr_expect_eq(tool->durations.buckets[3], 1);
	cr_expect_eq(tool->durations.sum_us, 1401);
	tool = tool->next;
	cr_assert_not_null(tool);
	cr_expect_str_eq(tool->names, "ab");
	cr_expect_eq(tool->codes[ANSWER_TIMEOUT], 1);
	cr_expect_eq(tool->durations.buckets[METRICS_BOUNDS - 2], 1);
	tool = tool->next;
	cr_assert_not_null(tool);
	cr_expect_str_eq(tool->names, "");
	cr_expect_str_eq(tool->tool, "");
	cr_expect_eq(tool->codes[ANSWER_UNKNOWN_TOOL], 1);
	cr_expect_null(tool->next);
}

Test(metrics, has_a_bucket_for_what_is_longer)
{
	count("a", "b", -1, UINT64_C(1000) * 1000 * 1000);
	cr_expect_eq(metrics.first_tool->next->durations.buckets[METRICS_BOUNDS], 1);
}

/* A tool that crashes is called for ever, and others come and go with reloads. */
Test(metrics, has_a_limit_of_series)
{
	size_t n_series = 0;
	size_t n_tools = 0;
	char name[16];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		for (int code = -1; code < ANSWER_CODES; code++)
			count("box", name, code, 1);
	}
	for (const struct metrics_tool *tool = metrics.first_tool; tool; tool = tool->next) {
		n_tools++;
		n_series += METRICS_BOUNDS + 3u;
		n_series += tool->ok > 0 ? 1u : 0u;
		for (int code = 0; code < ANSWER_CODES; code++)
			n_series += tool->codes[code] > 0 ? 1u : 0u;
	}
	cr_expect_leq(n_series, METRICS_SERIES_MAX);
	cr_expect_gt(n_series, METRICS_SERIES_MAX - 100);
	cr_expect_gt(metrics.other->ok, 1000u);
	cr_expect_geq(metrics.other->codes[ANSWER_BUSY] + n_tools, 2000u);
	count("box", "t0", -1, 1);
	cr_expect_eq(metrics.first_tool->next->ok, 2, "what has its series keeps them");
}

Test(metrics, counts_starts_by_package)
{
	struct package one = {.id = (char[]){"one"}};
	struct package two = {.id = (char[]){"two"}};

	metrics_count_start(&metrics, &one, RUNNER_START_CALL);
	metrics_count_start(&metrics, &two, RUNNER_START_CRASH);
	metrics_count_start(&metrics, &one, RUNNER_START_CALL);
	cr_assert_not_null(metrics.packages);
	cr_expect_str_eq(metrics.packages->id, "two");
	cr_expect_eq(metrics.packages->starts[RUNNER_START_CRASH], 1);
	cr_expect_eq(metrics.packages->next->starts[RUNNER_START_CALL], 2);
}
