/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "host/host.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "runner/call.h"
#include "util/assert.h"
#include "util/cleanup.h"

/*
 * A worker runs calls for a package. This is the seam between the schedule of a runner, which is
 * the same for every kind of package, and the one that does the work.
 *
 *   runner.c   start, run, send ahead, cancel, dismiss, drop   worker.c        a host process
 *              ──────────────────────────────────────────────▶         ──────▶ (host/host.h)
 *              ready, done, progressed, ended
 *              ◀──────────────────────────────────────────────
 *
 *             start             ready            run
 *      FREE ─────────▶ STARTING ─────▶ IDLE ─────────────▶ RUNNING ◀──────────┐
 *       ▲                 │             │ │ ◀──── done ────── │ │             │ full, or not
 *       │                 │             │ │                   │ │             ▼
 *       │                 │             │ │ ◀──── done, run ──┼─┼─────────▶ SHARED
 *       │                 │             │ └─────▶ GONE ◀──────┘ │ ◀───────────┘
 *       │                 ▼             ▼           ▼           ▼
 *       └──────────────── ended, or dropped; from IDLE also dismissed
 *
 * A worker that carries several calls is SHARED while it runs some and has room for more, and
 * RUNNING when it has no room. Other workers are never SHARED.
 *
 * The runner owns the queue, deadlines, cooldowns, crash counts, back-off and statistics. It passes
 * every call to a worker together with the time that is left of it, and ends it there by
 * worker_cancel(). All functions name the call that they are about, so a worker may have several.
 *
 * Three things belong to the host process, the only implementation so far: struct worker_options;
 * the struct host that bus_message() and host_gone() pass on; and the reasons in struct host_exit.
 * A host that runs one call at a time can only be cancelled by killing the process.
 */

enum worker_state {
	WORKER_FREE,     /* nothing is there that could run a call */
	WORKER_STARTING, /* it loads its package */
	WORKER_IDLE,     /* it can take a call */
	WORKER_RUNNING,  /* it runs a call, or takes no more than those that it carries */
	WORKER_SHARED,   /* it runs calls, and can take another */
	WORKER_GONE,     /* it takes no more calls; ended() follows, or the runner drops it */
};
#define WORKER_N_STATES 6

/* Return @to. Abort unless a worker in the state @from may move there. */
static inline enum worker_state worker_state_move(enum worker_state from, enum worker_state to)
{
	static const uint8_t moves[WORKER_N_STATES] = {
		[WORKER_FREE] = 1 << WORKER_STARTING,
		[WORKER_STARTING] = 1 << WORKER_IDLE | 1 << WORKER_FREE,
		[WORKER_IDLE] = 1 << WORKER_RUNNING | 1 << WORKER_SHARED | 1 << WORKER_GONE |
				1 << WORKER_FREE,
		[WORKER_RUNNING] =
			1 << WORKER_IDLE | 1 << WORKER_SHARED | 1 << WORKER_GONE | 1 << WORKER_FREE,
		[WORKER_SHARED] = 1 << WORKER_IDLE | 1 << WORKER_RUNNING | 1 << WORKER_GONE |
				  1 << WORKER_FREE,
		[WORKER_GONE] = 1 << WORKER_FREE,
	};

	check(moves[from] & (1u << to));
	return to;
}

/* The workers of one runner, counted by state. */
struct worker_counts {
	uint32_t n[WORKER_N_STATES];
	bool yield; /* a host was heavy (runner/weight.h), or was not ended in order: those that start from now on
		       yield to the daemon */
};

/* How to start a host process. */
struct worker_options {
	const char *host_program; /* path of toolbox-host; borrowed, as long as the worker lives */
	size_t output_max;        /* bytes of an answer */
	uint32_t values_max;      /* values of an answer; 0: not bounded */
	size_t stderr_max;        /* bytes of stderr that are logged per call */
	struct output_tail *tail; /* borrowed; for the last lines of stderr */
	uint64_t start_timeout_ms;
};

/* The events of a worker. */
struct worker_handler {
	/* A start has succeeded: the worker is idle. Or it has room for a call again, which it had
	 * not because its host has not read what was sent. */
	void (*ready)(void *data);

	/* @call is over: it has a result, failed or reported an error, and no longer belongs to
	 * @worker, which can take another. It is gone instead if it now runs a call that was sent
	 * ahead and cancelled since. */
	void (*done)(void *data, struct worker *worker, struct runner_call *call,
		const struct call_result *result);

	/* @call, which runs, reports its progress: a JSON object that is not checked further. */
	void (*progressed)(void *data, struct runner_call *call, const struct json_tape *progress);

	/* The package is not as its host was given it any more (see host/host.h). */
	void (*stale)(void *data);

	/* @host, of a kind that has the bus, sent something to it (see host/host.h); @host is
	 * gone. */
	void (*bus_message)(void *data, struct host *host, const struct json_tape *object,
		const char *text, size_t size);
	void (*host_gone)(void *data, const struct host *host);

	/* @worker has ended by itself, as @exit describes, and is free. The caller takes its calls
	 * off it by worker_take_lost(). */
	void (*ended)(void *data, struct worker *worker, const struct host_exit *exit);

	/* A host that was dismissed has ended. */
	void (*reaped)(void *data, const struct host_exit *exit);
};

/* Make a free worker for @package and count it in @counts. @package, @options, which may change
 * later, and @counts are borrowed as long as it lives; @handler is copied. Returns 0 or -ENOMEM. */
int worker_new(struct loop *loop, const struct package *package,
	const struct worker_options *options, const struct worker_handler *handler, void *data,
	struct worker_counts *counts, struct worker **ret_worker);

/* Drop the worker, kill what was dismissed, and free it. Its calls are not reported. Takes NULL. */
void worker_free(struct worker *worker);

enum worker_state worker_state(const struct worker *worker);

/* Return the last fault that its host has reported since @since_ns, or NULL (host/host.h). */
const char *worker_note(const struct worker *worker, uint64_t since_ns);

/* Return the number of calls that the worker has. */
unsigned int worker_n_calls(const struct worker *worker);

/* Return the number of calls that a worker of @package runs at a time. */
unsigned int worker_capacity(const struct package *package);

/* Start a free worker: ready() or ended() follows. Returns 0, or a negative errno; then the worker
 * is still free and no event follows. */
int worker_start(struct worker *worker);

/* Let a worker that can take a call run @call with the JSON text @arguments: done() or ended()
 * follows. @arguments is not used if the call was sent ahead. Returns 0, or a negative errno; then
 * the call has not begun and still is the caller's: after -EPIPE the worker is gone; after -EBUSY
 * one that carries calls takes no more, until ready(); after any other error it is free. */
int worker_run(struct worker *worker, struct runner_call *call, const char *arguments, size_t size);

/* Send @call, which waits, to a running worker before its turn: once its turn comes, worker_run()
 * sends nothing more. Calls that are sent ahead must be run in that order. Returns 0, or a negative
 * errno; then nothing was sent. */
int worker_send_ahead(struct worker *worker, struct runner_call *call);

/* Take @call, which runs or was sent ahead, off the worker: no event follows for it. Cancelling a
 * call that runs drops the worker, unless it carries several. @is_late: the deadline has passed. */
void worker_cancel(struct worker *worker, struct runner_call *call, bool is_late);

/* Return a call that the worker runs, or NULL. */
struct runner_call *worker_running(const struct worker *worker);

/* Take a call off the worker, which has ended while it ran the call. Returns NULL if there is none.
 * Only for the handler's ended(). */
struct runner_call *worker_take_lost(struct worker *worker);

/* Kill what runs in the worker, in any state: it is free afterwards. */
void worker_drop(struct worker *worker);

/* Let an idle worker end its toolbox in order: it is free at once, reaped() follows. */
void worker_dismiss(struct worker *worker);

/* Return whether everything that was dismissed has ended. */
bool worker_has_reaped_all(const struct worker *worker);

CLEANUP_DEFINE(worker, struct worker *, worker_free)
