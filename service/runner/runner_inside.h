/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "host/reaper.h"
#include "runner/cooldowns.h"
#include "runner/crashes.h"
#include "runner/runner.h"
#include "util/log.h"

/* The inside of a runner, for the files that are one: runner.c, its calls and their schedule,
 * runner_workers.c, its hosts, runner_ahead.c, which speaks to them, runner_trouble.c, which logs
 * what goes wrong with them, and runner_state.c, which tells of it. */

#define WHY_BYTES 512

/* One host and what it does. */
struct runner_worker {
	struct runner *runner;
	struct host *host; /* NULL: none */
	bool is_loaded;
	bool is_gone; /* it takes no more calls; host_has_ended() comes in a moment */
	struct runner_call *running;
	uint64_t progress_ms; /* since when its calls have told so often how far they are */
	uint32_t n_progress;
};

struct runner {
	struct loop *loop;
	struct toolbox *toolbox;
	struct runner_options options;
	struct runner_handler handler;
	void *data;
	struct runner_worker **workers; /* as many as there may be */
	uint32_t n_workers;
	uint32_t n_starting;
	uint32_t n_loaded;
	uint32_t n_running;
	bool runs_alone; /* what runs is not parallel */
	bool is_quarantined;
	bool is_retired;
	struct reaper reaper;      /* hosts that were dismissed; they have no worker any more */
	struct queue queue;        /* of those that wait */
	struct loop_timer restart; /* armed: RESTARTING; nothing is started before */
	struct loop_timer rest;    /* nothing to do: when to stop; retired: when to go */
	struct crashes crashes;
	struct cooldowns cooldowns;
	char why[WHY_BYTES];
	struct log_rate troubles;      /* of its hosts: a caller can provoke them */
	uint64_t no_start_ms;          /* when it was last logged that no host can be started */
	struct statistics *statistics; /* of each part; of the toolbox itself when it has none */
	uint32_t n_holders;            /* runner_hold() */
};

static inline bool has_bus(const struct runner *runner)
{
	return kind_facts(runner->toolbox->kind)->has_bus;
}

/* ── runner.c ────────────────────────────────────────────────────────────────────────────────── */

/* Run what may run now, first come first served; have hosts for the rest. */
void runner_schedule(struct runner *runner);

/* The clocks of those that wait stand while the only thing they wait for is the first host. */
void runner_set_clocks(struct runner *runner);

/* Behind the last call: when it has nothing to do for long enough, hosts are stopped. */
void runner_go_to_rest(struct runner *runner);

/* Tell the owner of a call that was taken out of the queue, or off its worker. */
void runner_end_call(
	struct runner *runner, struct runner_call *call, const struct call_result *ending);

/* End those that wait, as unavailable for the reason @why. */
void runner_end_waiting(struct runner *runner, const char *why);

/* ── runner_workers.c ────────────────────────────────────────────────────────────────────────── */

/* One that can take a call, or a host; NULL: there is none. */
struct runner_worker *runner_find_idle(const struct runner *runner);
struct runner_worker *runner_find_free(const struct runner *runner);

/* Start a host in its free place. What cannot be started is logged, and if there is no other host,
 * told to those that wait. */
void runner_worker_start(struct runner_worker *worker);

/* Give @call to the worker's idle host, unless it has it. 0, or a negative errno: it has not begun,
 * and runner_worker_give_up() is to be called. */
int runner_worker_run(
	struct runner_worker *worker, struct runner_call *call, const char *arguments, size_t size);
void runner_worker_give_up(struct runner_worker *worker, int error);

/* Take the call off the worker that has run it; NULL: it runs none. */
struct runner_call *runner_worker_take_call(struct runner_worker *worker);

/* Kill its host, if it has one. */
void runner_worker_drop_host(struct runner_worker *worker);

/* Let those hosts that have nothing to do end in order. */
void runner_dismiss_hosts(struct runner *runner);

/* ── runner_ahead.c ──────────────────────────────────────────────────────────────────────────── */

/* Give @call to the worker's host. 0, or the negative errno of host_invoke(). */
int runner_tell_host(struct runner_worker *worker, const struct runner_call *call,
	const char *arguments, size_t size);

/* Let the host of a runner's only worker have what waits ahead of its time, as far as it may be. */
void runner_send_ahead(struct runner *runner);

/* What was sent ahead is lost with its host: it waits like the others. */
void runner_forget_ahead(struct runner *runner);

/* Whether the worker's host, behind a call that is done, is running one that nobody waits for. */
bool runner_has_strayed(const struct runner_worker *worker);

/* ── runner_trouble.c ────────────────────────────────────────────────────────────────────────── */

/* Log why its host has ended, which is kept for runner_reason(). */
void runner_note_end(struct runner *runner, const struct host_exit *end);

/* Log how a host that was dismissed has left, if that was not in order. It is no crash. */
void runner_note_leave(struct runner *runner, const struct host_exit *end);

/* Log that no host can be started, and why; once a minute, as long as it is so. */
void runner_note_no_start(struct runner *runner, int error);
