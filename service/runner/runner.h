/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "host/host.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "runner/queue.h"
#include "runner/statistics.h"
#include "util/cleanup.h"

/*
 * The runner of one toolbox (with all its parts, if it has any): its hosts, queue, deadlines.
 *
 *                 call                  loaded                 idle_s over
 *      IDLE ─────────────▶ STARTING ──────────▶ READY ─────────────────────▶ IDLE
 *       ▲                   ▲    │                │
 *       │ nothing waits     │    │ refused,       │ the last host crashed
 *       │                   │    │ too slow       ▼
 *       └───────────────────┼────┴──────▶ RESTARTING ── too many crashes ──▶ QUARANTINED
 *                           └─ back-off over ─┘             a reload ──▶ IDLE
 *
 *   a call:   waiting ──▶ running ──▶ done     exactly once, whatever happens
 *
 * Up to `workers` hosts, each runs one call; another one is started when a call waits and all that
 * are there are busy. A tool with `"parallel": false` waits until nothing else runs, and runs
 * alone; calls never overtake each other. A host that is the only one is given some of the calls
 * that wait ahead of their turn, if they do no harm by that (runner/runner_ahead.c): for everybody
 * else they wait.
 *
 * A host that is not needed any more (idle_s over, the runner retired, the daemon stops) ends its
 * toolbox in order, beside all that goes on (host/reaper.h); one that has anything to do is
 * killed.
 *
 * The clock of a call counts waiting and running; it stands while the first host starts. A call
 * that is over its deadline while it runs, or is cancelled, takes its host down with it: there is
 * no other way to stop a C function. After a crash a host is started again at once, then after
 * 50 ms doubling to 5 s (runner/crashes.h).
 */
struct runner;

enum runner_state {
	RUNNER_IDLE,
	RUNNER_STARTING,
	RUNNER_READY,
	RUNNER_RESTARTING,
	RUNNER_QUARANTINED,
};

enum call_outcome {
	CALL_RESULT,      /* text: the JSON result */
	CALL_FAILED,      /* text: the tool's own words */
	CALL_ERROR,       /* tape: the failure with its facts, as WIRE_ERROR has them */
	CALL_TIMED_OUT,   /* the deadline passed, waiting or running */
	CALL_CANCELLED,   /* runner_cancel() */
	CALL_CRASHED,     /* end: how the host died */
	CALL_TOO_LARGE,   /* end: what it sent was over the limit */
	CALL_COOLING,     /* when its turn came, the tool was on cooldown; it has not run */
	CALL_UNAVAILABLE, /* text: why */
};

struct call_result {
	enum call_outcome outcome;
	const char *text; /* good during the call of done() only */
	size_t size;
	const struct json_tape *tape; /* CALL_RESULT, CALL_ERROR: the text, read */
	const struct host_exit *end;
};

struct runner_options {
	const char *host_program; /* borrowed, as long as the runner lives */
	size_t output_max;
	size_t stderr_max;
	uint64_t start_timeout_ms;
	uint64_t idle_s;
	uint32_t queue_max;
	uint32_t workers;     /* hosts at a time, at least 1 */
	uint32_t crash_limit; /* 0: never quarantined; at most CRASHES_MAX */
	uint64_t crash_window_s;
};

struct runner_handler {
	/* A call is over; it is the owner's again. */
	void (*done)(void *data, struct runner_call *call, const struct call_result *ending);

	/* A call that runs tells how far it is: an object, of which nothing more is known. */
	void (*progressed)(void *data, struct runner_call *call, const struct json_tape *progress);

	/* A host that has the bus says something to it (host/host.h), and: it is gone. */
	void (*bus_message)(void *data, struct runner *runner, struct host *host,
		const struct json_tape *object, const char *text, size_t size);
	void (*host_gone)(void *data, const struct host *host);

	/* After runner_retire(): nothing is left in it; it may be freed from here. */
	void (*drained)(void *data, struct runner *runner);
};

/* A new runner for @toolbox (one more reference). @handler is copied. 0 or -ENOMEM. */
int runner_new(struct loop *loop, struct toolbox *toolbox, const struct runner_options *options,
	const struct runner_handler *handler, void *data, struct runner **ret_runner);

/* Takes NULL. Kills the hosts. Calls in it are not told: end them first. */
void runner_free(struct runner *runner);

/* Other limits from now on (the configuration was read again). */
void runner_configure(struct runner *runner, const struct runner_options *options);

/* Prepare and give back what a call owns. 0 or -ENOMEM. */
int runner_call_init(struct runner_call *call, struct loop *loop);
void runner_call_deinit(struct runner_call *call);

/* Positive results of runner_submit: the call was not taken. */
enum runner_status {
	RUNNER_E_BUSY = 1,    /* the queue is full */
	RUNNER_E_QUARANTINED, /* runner_reason() tells */
};

/*
 * Take @call (its id and tool are set), to be run with the JSON text @arguments within @timeout_ms.
 * 0: done() will be called once, after this returns. Else a runner_status or -ENOMEM, and it will
 * not.
 */
int runner_submit(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size, uint64_t timeout_ms);

/* End one call that is in it, waiting or running. */
void runner_cancel(struct runner *runner, struct runner_call *call);

/* End all calls that are in it, as unavailable for the reason @why. */
void runner_end_all(struct runner *runner, const char *why);

/* It will get no further calls: drained() comes once it is empty, and its hosts have left. */
void runner_retire(struct runner *runner);

/* Let the hosts that have nothing to do end in order; and whether all that were told to have. */
void runner_dismiss_idle(struct runner *runner);
bool runner_has_reaped_all(const struct runner *runner);

/* Start a host before it is asked for (limits.prestart). */
void runner_prestart(struct runner *runner);

/* Forget earlier crashes: a reload ends a quarantine. */
void runner_forgive(struct runner *runner);

struct toolbox *runner_toolbox(const struct runner *runner);
enum runner_state runner_state(const struct runner *runner);
const char *runner_state_name(enum runner_state state);

/* Why it is quarantined or could not be started last, or NULL. */
const char *runner_reason(const struct runner *runner);

/* Host processes now. */
unsigned int runner_n_hosts(const struct runner *runner);

/* Calls that wait, and that are in it at all. */
uint32_t runner_n_waiting(const struct runner *runner);
uint32_t runner_n_calls(const struct runner *runner);

/* Seconds until the tool may run again after its last run; 0: now. */
double runner_cooldown_s(const struct runner *runner, const struct tool *tool);

/* What it has done so far for @toolbox: its own, or a part of that; the owner counts. */
struct statistics *runner_statistics(struct runner *runner, const struct toolbox *toolbox);

/* One more place that it stands in, and one less; true: that was the last one. The parts of one
 * toolbox share a runner. */
struct runner *runner_hold(struct runner *runner);
bool runner_release(struct runner *runner);

CLEANUP_DEFINE(runner, struct runner *, runner_free)
