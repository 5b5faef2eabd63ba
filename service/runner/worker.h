/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "host/host.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "runner/call.h"
#include "util/cleanup.h"
#include "util/moves.h"

/*
 * A worker runs calls for a package. This is the seam between the schedule of a runner, the same
 * for every kind of package, and the host at work.
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
 * A worker for several calls is SHARED while it runs some and has room for more, and RUNNING
 * without room. Other workers are never SHARED.
 *
 * The runner owns the queue, deadlines, cooldowns, crash counts, back-off and statistics. The
 * runner passes every call to a worker together with its remaining time, and ends the call there by
 * worker_cancel(). All functions name their call, so a worker may have several.
 *
 * Three things belong to the host process, the only implementation so far: struct worker_options;
 * the struct host that bus_message() and host_gone() pass on; and the reasons in struct host_exit.
 * A call in a host for one call at a time can only be cancelled by killing the process.
 */

enum worker_state {
	WORKER_FREE,     /* there is no process for a call */
	WORKER_STARTING, /* it loads its package */
	WORKER_IDLE,     /* it can take a call */
	WORKER_RUNNING,  /* it runs a call, or is full */
	WORKER_SHARED,   /* it runs calls, and can take another */
	WORKER_GONE,     /* it takes no more calls; ended() follows, or the runner drops it */
};
#define WORKER_N_STATES 6

static const uint8_t worker_state_moves[WORKER_N_STATES] = {
	[WORKER_FREE] = 1 << WORKER_STARTING,
	[WORKER_STARTING] = 1 << WORKER_IDLE | 1 << WORKER_FREE,
	[WORKER_IDLE] =
		1 << WORKER_RUNNING | 1 << WORKER_SHARED | 1 << WORKER_GONE | 1 << WORKER_FREE,
	[WORKER_RUNNING] =
		1 << WORKER_IDLE | 1 << WORKER_SHARED | 1 << WORKER_GONE | 1 << WORKER_FREE,
	[WORKER_SHARED] =
		1 << WORKER_IDLE | 1 << WORKER_RUNNING | 1 << WORKER_GONE | 1 << WORKER_FREE,
	[WORKER_GONE] = 1 << WORKER_FREE,
};
MOVES_DEFINE(worker_state)

/* The workers of one runner, counted by state. */
struct worker_counts {
	uint32_t n[WORKER_N_STATES];
	uint32_t n_in_use; /* hosts that keep something for their callers, even without a call */
	bool yield; /* a host was heavy (runner/weight.h), or was not ended in order: all later
	             * hosts yield to the daemon */
};

/* How to start a host process. */
struct worker_options {
	const char *host_program; /* path of toolbox-host; borrowed, as long as the worker lives */
	size_t output_max;        /* bytes of an answer */
	uint32_t values_max;      /* values of a frame of a host; 0: not bounded */
	size_t stderr_max;        /* logged bytes of stderr per call */
	struct output_tail *tail; /* borrowed; for the last lines of stderr */
	uint64_t start_timeout_ms;
};

/* The events of a worker. */
struct worker_handler {
	/* A start has succeeded: the worker is idle. Or the worker has room for a call again, after
	 * its host has read the sent bytes; or its host began or ended to be in use. */
	void (*ready)(void *data);

	/* @call is over: the call has a result, failed or reported an error, and no longer belongs
	 * to @worker, which can take another. The worker is gone instead if its next call was sent
	 * ahead and cancelled since. */
	void (*done)(void *data, struct worker *worker, struct runner_call *call,
		const struct call_result *result);

	/* The running @call reports its progress: a JSON object, not checked further. */
	void (*progressed)(void *data, struct runner_call *call, const struct json_tape *progress);

	/* The package is not as its host was given it any more (see host/host.h). */
	void (*stale)(void *data);

	/* @host, of a kind with the bus, sent something to the bus (see host/host.h); @host is
	 * gone. */
	void (*bus_message)(void *data, struct host *host, const struct json_tape *object,
		const char *text, size_t size);
	void (*host_gone)(void *data, const struct host *host);

	/* @worker has ended by itself, as @exit describes, and is free. The caller takes its calls
	 * off it by worker_take_lost(). */
	void (*ended)(void *data, struct worker *worker, const struct host_exit *exit);

	/* A dismissed host has ended. */
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

/* Return the last fault reported by its host since @since_ns, or NULL (host/host.h). */
const char *worker_note(const struct worker *worker, uint64_t since_ns);

/* Return the number of calls of the worker. */
unsigned int worker_n_calls(const struct worker *worker);

/* Start a free worker: ready() or ended() follows. Returns 0, or a negative errno; then the worker
 * is still free and no event follows. */
int worker_start(struct worker *worker);

/* Let a worker with room for a call run @call with the JSON text @arguments: done() or ended()
 * follows. @arguments is not used if the call was sent ahead. Returns 0, or a negative errno; then
 * the call has not begun and still is the caller's: after -EPIPE the worker is gone; after -EBUSY a
 * worker that carries calls takes no more, until ready(); after any other error the worker is
 * free. */
int worker_run(struct worker *worker, struct runner_call *call, const char *arguments, size_t size);

/* Return whether the host of a running worker may take another call before its turn. */
bool worker_has_room(const struct worker *worker);

/* Send the waiting @call to a running worker before its turn: once the turn comes, worker_run()
 * sends nothing more. Calls sent ahead must be run in this order. Returns 0, or a negative errno;
 * then nothing was sent. */
int worker_send_ahead(struct worker *worker, struct runner_call *call);

/* Take @call, which runs or was sent ahead, off the worker: no event follows for it. Cancelling a
 * running call drops the worker, unless it carries several. @is_late: the deadline has passed. */
void worker_cancel(struct worker *worker, struct runner_call *call, bool is_late);

/* Return a running call of the worker, or NULL. */
struct runner_call *worker_running(const struct worker *worker);

/* Take a call off the worker, which has ended while it ran the call. Returns NULL without one. Only
 * for the handler's ended(). */
struct runner_call *worker_take_lost(struct worker *worker);

/* Kill what runs in the worker, in any state: it is free afterwards. */
void worker_drop(struct worker *worker);

/* Let an idle worker end its toolbox in order: it is free at once, reaped() follows. */
void worker_dismiss(struct worker *worker);

/* Announce to a host that carries calls that no further call comes. */
void worker_replace(struct worker *worker);

/* Return whether all dismissed hosts have ended. */
bool worker_has_reaped_all(const struct worker *worker);

CLEANUP_DEFINE(worker, struct worker *, worker_free)
