/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "core/request/answer.h"
#include "runner/runner.h"

/*
 * Counters since the service started, by the names of toolboxes and tools. A reload may replace
 * every tool, but no counter ever falls.
 *
 *   a call ends, or is refused ─▶ metrics_count_call ──┐
 *   a host starts ──────────────▶ metrics_count_start ─┴─▶ struct metrics ─▶ exposition.h
 *                                                                         ─▶ GET /metrics
 *
 * At most METRICS_SERIES_MAX series: what would begin another one is counted as toolbox and tool
 * `other`.
 */

#define METRICS_SERIES_MAX 10000

/* The upper bounds of the buckets of durations; a last bucket has all longer ones. */
#define METRICS_BOUNDS 15
extern const uint32_t metrics_bounds_us[METRICS_BOUNDS];

/* Durations of calls after a run. */
struct metrics_durations {
	uint64_t buckets[METRICS_BOUNDS + 1];
	uint64_t sum_us;
};

/* One tool, or no tool ("" and ""). */
struct metrics_tool {
	struct metrics_tool *next;        /* in the order of their first calls */
	struct metrics_tool *next_in_row; /* with the same hash */
	uint64_t ok;
	uint64_t codes[ANSWER_CODES];
	struct metrics_durations durations;
	const char *tool; /* follows the toolbox in @names */
	char names[];
};

/* One package. */
struct metrics_package {
	struct metrics_package *next;
	uint64_t starts[RUNNER_STARTS];
	char id[];
};

#define METRICS_ROWS 256

struct metrics {
	struct metrics_tool *rows[METRICS_ROWS];
	struct metrics_tool *first_tool;
	struct metrics_tool **tools_end;
	struct metrics_tool *other; /* the tools that came too late */
	struct metrics_package *packages;
	struct metrics_package *other_package;
	size_t n_series;
};

/* Make @metrics empty. Return 0 or -ENOMEM. */
int metrics_init(struct metrics *metrics);

void metrics_deinit(struct metrics *metrics);

/* Count a call of @tool (NULL: unknown) refused with @code before its run. */
void metrics_count_refused(struct metrics *metrics, const struct tool *tool, enum answer_code code);

/* Count a call of @tool with a run, answered after @duration_us with the enum answer_code @code, or
 * -1 for a result. */
void metrics_count_call(
	struct metrics *metrics, const struct tool *tool, uint64_t duration_us, int code);

/* Count the start of a host for @package. */
void metrics_count_start(
	struct metrics *metrics, const struct package *package, enum runner_start reason);
