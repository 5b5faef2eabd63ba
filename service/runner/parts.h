/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runner/cooldowns.h"
#include "runner/crashes.h"
#include "runner/runner.h"
#include "util/log.h"

/* The inside of a runner, for the two files that share it: runner.c, the schedule, and figures.c,
 * which only reads it, apart from the statistics. */

#define RUNNER_REASON_BYTES 512

struct runner {
	struct loop *loop;
	struct package *package;
	struct runner_options options;
	struct runner_handler handler;
	void *data;
	struct worker **workers;
	uint32_t n_workers;
	struct worker_counts counts;
	uint32_t capacity;   /* the calls of one worker at a time */
	struct list running; /* the calls that the executor runs */
	uint32_t n_running;  /* the running calls, of workers or of the executor */
	struct list waiting; /* calls, first come first served */
	uint32_t n_waiting;
	bool clocks_are_stopped; /* the clocks of the waiting calls do not run */
	bool runs_alone;         /* the running call is not parallel */
	bool is_quarantined;
	bool is_retired;
	struct loop_timer restart; /* armed: no worker is started before */
	struct loop_timer rest;    /* no calls: when to dismiss the workers, or to be drained */
	struct crashes crashes;
	uint32_t n_lost; /* crashed workers without a replacement so far */
	struct cooldowns cooldowns;
	struct debt debt;
	char reason[RUNNER_REASON_BYTES]; /* the text of runner_reason() */
	struct log_rate troubles;         /* limits the log: a caller can provoke them */
	uint64_t no_start_ms;             /* last log line about hosts that cannot be started */
	struct tool_statistics statistics;
	struct output_tail output;     /* the last lines of its hosts */
	enum runner_state noted_state; /* the state of runner_state() when it was noted last */
	int64_t state_since_ns;
	uint32_t n_holders;
};

static inline uint32_t runner_count_starting(const struct runner *runner)
{
	return runner->counts.n[WORKER_STARTING];
}

static inline uint32_t runner_count_loaded(const struct runner *runner)
{
	const uint32_t *n = runner->counts.n;

	return n[WORKER_IDLE] + n[WORKER_RUNNING] + n[WORKER_SHARED] + n[WORKER_GONE];
}
