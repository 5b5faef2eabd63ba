/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "host/host.h"
#include "host/output_tail.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "runner/call.h"
#include "runner/executor.h"
#include "runner/statistics.h"
#include "runner/worker.h"
#include "util/cleanup.h"
#include "util/debt.h"

/*
 * The runner of one package with all its toolboxes: queue, deadlines and workers.
 *
 *                 call                  ready                  idle_s over
 *      IDLE ─────────────▶ STARTING ──────────▶ READY ─────────────────────▶ IDLE
 *       ▲                   ▲    │                │
 *       │ no call waits     │    │ refused,       │ the last worker crashed
 *       │                   │    │ too slow       ▼
 *       └───────────────────┼────┴──────▶ RESTARTING ── too many crashes ──▶ QUARANTINED
 *                           └─ back-off over ─┘             a reload ──▶ IDLE
 *
 *   a call:   waiting ──▶ running ──▶ done     exactly once, whatever happens
 *
 * A package of a kind without processes has an executor (runner/executor.h) instead of workers, and
 * is always ready.
 *
 * There are up to `workers` workers (runner/worker.h), each with a host process for one call, or
 * several. The runner starts another one when all others are busy. A tool with `"parallel": false`
 * waits until no other call runs, and runs alone; calls never overtake each other. A single worker
 * is sent some of the waiting calls ahead of their turn if this does no harm (see runner.c);
 * everywhere else they count as waiting.
 *
 * A worker no longer needed (idle_s over and its host not in use, the runner retired, the daemon
 * stops) ends its toolbox in order while everything else goes on (host/reaper.h); with a running
 * call, it is killed.
 *
 * The clock of a call counts waiting and running, except while the first worker starts. Each report
 * of progress of a call with most_ms begins its deadline anew, up to most_ms in all. The runner
 * kills the host of a call over its deadline, or cancelled: there is no other way to stop a C
 * function. Only a host that carries calls ends a single call and goes on. After a crash it starts
 * a worker again at once, then after 50 ms doubling to 5 s (runner/crashes.h).
 */
struct runner;

enum runner_state {
	RUNNER_IDLE,
	RUNNER_STARTING,
	RUNNER_READY,
	RUNNER_RESTARTING,
	RUNNER_QUARANTINED,
};

struct runner_options {
	struct executor
		*executor; /* borrowed; NULL: workers run the calls. Fixed by runner_new() */
	struct worker_options worker;
	uint64_t idle_s;
	uint32_t queue_max;
	uint32_t workers;     /* at most at a time, at least 1; fixed by runner_new() */
	uint32_t crash_limit; /* 0: the runner is never quarantined; at most CRASHES_MAX */
	uint64_t crash_window_s;
};

/* The reason for a host to start. */
enum runner_start {
	RUNNER_START_CALL,     /* there is no worker, and a call waits */
	RUNNER_START_LOAD,     /* all are busy, and a call waits */
	RUNNER_START_CRASH,    /* in the place of a crashed worker */
	RUNNER_START_PRESTART, /* before the first call */
	RUNNER_STARTS,
};

/* The events of a runner. They may not free it, except drained(). */
struct runner_handler {
	/* @call is over and its owner's again. Called once for each taken call. */
	void (*done)(void *data, struct runner_call *call, const struct call_result *result);

	/* The running @call reports its progress: a JSON object, not checked further. */
	void (*progressed)(void *data, struct runner_call *call, const struct json_tape *progress);

	/* The package of @runner, which is not retired, differs by now from the state given to its
	 * hosts. */
	void (*stale)(void *data, struct runner *runner);

	/* @host, of a kind with the bus, sent something to the bus (host/host.h); @host is gone. */
	void (*bus_message)(void *data, struct runner *runner, struct host *host,
		const struct json_tape *object, const char *text, size_t size);
	void (*host_gone)(void *data, const struct host *host);

	/* A host process starts. */
	void (*started)(void *data, struct runner *runner, enum runner_start reason);

	/* After runner_retire(): the runner has no calls and no hosts, and may be freed from
	 * here. */
	void (*drained)(void *data, struct runner *runner);
};

/* Make a runner for @package, with a reference of its own. @handler is copied. Returns 0 or
 * -ENOMEM. */
int runner_new(struct loop *loop, struct package *package, const struct runner_options *options,
	const struct runner_handler *handler, void *data, struct runner **ret_runner);

/* Kill the workers and free the runner. Calls in it are not reported: end them first. Takes
 * NULL. */
void runner_free(struct runner *runner);

/* Change the limits, after the configuration was read again. */
void runner_configure(struct runner *runner, const struct runner_options *options);

/* Prepare what a call owns, and free it. Returns 0 or -ENOMEM. */
int runner_call_init(struct runner_call *call, struct loop *loop);
void runner_call_deinit(struct runner_call *call);

/* Positive results of runner_submit(): the call was not taken. */
enum runner_status {
	RUNNER_E_BUSY = 1,    /* the queue is full */
	RUNNER_E_QUARANTINED, /* runner_reason() describes why */
};

/*
 * Take @call, whose id and tool are set, to run it with the JSON text @arguments within
 * @timeout_ms. Returns 0; done() is then called once, after this function has returned. Else a
 * runner_status or -ENOMEM, and done() is never called. The runner must not be retired, and the
 * call in no runner.
 */
int runner_submit(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size, uint64_t timeout_ms);

/* For an executor: @call, which it runs, is over with @result, and may be used again at once. Never
 * from within the executor's own operations. */
void runner_finish(struct runner_call *call, const struct call_result *result);

/* For an executor: its running @call reports its progress, a JSON object, not checked further. */
void runner_progress(struct runner_call *call, const struct json_tape *progress);

/* End @call, which must be in the runner, waiting or running. */
void runner_cancel(struct runner *runner, struct runner_call *call);

/* End all calls that are in the runner, as unavailable for @reason. */
void runner_end_all(struct runner *runner, const char *reason);

/* Announce the end of submissions: drained() follows once the runner is empty and its hosts have
 * ended. Called at most once. */
void runner_retire(struct runner *runner);

/* Dismiss the workers without a call; and return whether all dismissed workers have ended. */
void runner_dismiss_idle(struct runner *runner);
bool runner_has_reaped_all(const struct runner *runner);

/* Start a worker before the first call (limits.prestart). */
void runner_prestart(struct runner *runner);

/* Forget earlier crashes: a reload ends a quarantine. */
void runner_forgive(struct runner *runner);

struct package *runner_package(const struct runner *runner);
enum runner_state runner_state(const struct runner *runner);
const char *runner_state_name(enum runner_state state);

/* Return the word for @reason: `call`, `load`, `crash` or `prestart`. */
const char *runner_start_name(enum runner_start reason);

/* Return why the runner is quarantined or its last start failed, or NULL. */
const char *runner_reason(const struct runner *runner);

/* Return the number of host processes now. */
unsigned int runner_n_hosts(const struct runner *runner);

/* Return the number of calls waiting, running, and in the runner. */
uint32_t runner_n_waiting(const struct runner *runner);
uint32_t runner_n_running(const struct runner *runner);
uint32_t runner_n_calls(const struct runner *runner);

/* Return the number of calls that count for queue_max: waiting calls; with an executor, which has
 * no other bound, all calls. */
uint32_t runner_n_queued(const struct runner *runner);

/* Return the seconds until @tool may run again after its last run; 0: it may run now. */
double runner_cooldown_s(const struct runner *runner, const struct tool *tool);

/* Return the debt for the time that the checks of the package's results take. The owner of the
 * runner charges it. */
struct debt *runner_debt(struct runner *runner);

/* Return the last lines printed by its hosts. */
const struct output_tail *runner_output(const struct runner *runner);

/* Return since when the runner is in its state: a time of stamp_now_ns(). */
int64_t runner_state_since_ns(const struct runner *runner);

/* Count a call of @tool, a tool of the runner's package, at its answer: a call refused with the
 * error @code before its run; a call of @duration_us. The owner of the call does so. @code:
 * constant text, or NULL without an error; @text of @size bytes explains it. */
void runner_count_refused(struct runner *runner, const struct tool *tool, const char *code);
void runner_count(struct runner *runner, const struct tool *tool, uint64_t duration_us,
	const char *code, const char *text, size_t size);

/* Return the figures of @tool; NULL if it was never called. */
const struct statistics *runner_statistics(const struct runner *runner, const struct tool *tool);

/* Count one holder more, and return @runner; one holder less, and return whether it was the last.
 * The toolboxes of one package share a runner. */
struct runner *runner_hold(struct runner *runner);
bool runner_release(struct runner *runner);

CLEANUP_DEFINE(runner, struct runner *, runner_free)
