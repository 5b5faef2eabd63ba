/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/runner_inside.h"
#include "util/clock.h"

/*
 * The workers of a runner: the place of one host each, what it is given, and what it tells.
 *
 *             runner_worker_start        loaded         runner_worker_run
 *     free ──────────────────────▶ starting ──▶ idle ───────────────────▶ running
 *      ▲                              │          │ ▲                       │  │
 *      │                              │          │ └────── answered ───────┘  │
 *      └──── ended, dropped ──────────┴──────────┴────────────────────────────┘
 *
 * Whatever comes from a host ends in the schedule (runner.c): somebody may run now, or needs one
 * more host.
 */

#define MS_PER_S UINT64_C(1000)

/* So often in such a time may a host tell how far its call is. */
#define PROGRESS_MAX       100
#define PROGRESS_WINDOW_MS 100

struct runner_call *runner_worker_take_call(struct runner_worker *worker)
{
	struct runner *runner = worker->runner;
	struct runner_call *call = take_ptr(worker->running);

	if (!call)
		return NULL;
	call->worker = NULL;
	runner->n_running--;
	runner->runs_alone = false;
	cooldowns_note_end(&runner->cooldowns, call->tool);
	return call;
}

/* Take the worker's host, if it has one, off it, and keep count. */
static struct host *take_host(struct runner_worker *worker)
{
	if (!worker->host)
		return NULL;
	if (worker->is_loaded)
		worker->runner->n_loaded--;
	else
		worker->runner->n_starting--;
	worker->is_loaded = worker->is_gone = false;
	if (has_bus(worker->runner))
		worker->runner->handler.host_gone(worker->runner->data, worker->host);
	runner_forget_ahead(worker->runner);
	return take_ptr(worker->host);
}

void runner_worker_drop_host(struct runner_worker *worker)
{
	host_free(take_host(worker));
}

void runner_dismiss_hosts(struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		struct runner_worker *worker = runner->workers[i];

		if (worker->is_loaded && !worker->is_gone && !worker->running)
			reaper_take(&runner->reaper, take_host(worker));
	}
}

int runner_worker_run(
	struct runner_worker *worker, struct runner_call *call, const char *arguments, size_t size)
{
	struct runner *runner = worker->runner;
	int r = call->is_ahead ? 0 : runner_tell_host(worker, call, arguments, size);

	if (r < 0)
		return r;
	call->is_ahead = false;
	worker->running = call;
	call->worker = worker;
	runner->n_running++;
	runner->runs_alone = !runner->toolbox->tools[call->tool].is_parallel;
	loop_timer_disarm(&runner->rest);
	return 0;
}

/* A host that died in its sleep costs nobody an error: the call waits for the next one, which is
 * started when the death is noticed. */
void runner_worker_give_up(struct runner_worker *worker, int error)
{
	struct runner *runner = worker->runner;

	log_debug("%s: the host takes no call: %s", runner->toolbox->id, strerror(-error));
	worker->is_gone = true;
	if (error == -EPIPE)
		return;
	runner_worker_drop_host(worker);
	loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
}

struct runner_worker *runner_find_idle(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (runner->workers[i]->is_loaded && !runner->workers[i]->running &&
			!runner->workers[i]->is_gone)
			return runner->workers[i];
	return NULL;
}

struct runner_worker *runner_find_free(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (!runner->workers[i]->host)
			return runner->workers[i];
	return NULL;
}

static void host_is_loaded(void *data, const char *loaded, size_t size)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;

	(void)loaded;
	(void)size;
	worker->is_loaded = true;
	runner->n_starting--;
	runner->n_loaded++;
	runner->why[0] = '\0';
	runner_schedule(runner);
}

/* Nobody reads a tenth of that; a host that says more waits, so that it costs us next to nothing.
 */
static void bound_progress(struct runner_worker *worker)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms - worker->progress_ms >= PROGRESS_WINDOW_MS) {
		worker->progress_ms = now_ms;
		worker->n_progress = 0;
	}
	if (++worker->n_progress > PROGRESS_MAX)
		host_hold(worker->host, PROGRESS_WINDOW_MS);
}

static void call_has_progressed(void *data, uint64_t id, const struct json_tape *progress)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;

	bound_progress(worker);
	if (worker->running && worker->running->id == id)
		runner->handler.progressed(runner->data, worker->running, progress);
}

static void host_has_said(void *data, const struct json_tape *object, const char *text, size_t size)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;

	runner->handler.bus_message(runner->data, runner, worker->host, object, text, size);
}

static void host_has_answered(void *data, uint64_t id, const struct host_answer *answer)
{
	static const enum call_outcome outcomes[] = {
		[HOST_ANSWER_RESULT] = CALL_RESULT,
		[HOST_ANSWER_FAILED] = CALL_FAILED,
		[HOST_ANSWER_ERROR] = CALL_ERROR,
	};
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;
	struct runner_call *call;
	struct call_result ending = {
		.outcome = outcomes[answer->kind],
		.text = answer->text,
		.size = answer->size,
		.tape = answer->tape,
	};
	bool has_strayed;

	/* service/host has checked the id; what it lets through is the call that runs. */
	if (!worker->running || worker->running->id != id)
		return;
	call = runner_worker_take_call(worker);
	crashes_note_success(&runner->crashes);
	has_strayed = worker->is_gone = runner_has_strayed(worker);
	/* The next call is under way before this one's answer is written. */
	runner_schedule(runner);
	runner_end_call(runner, call, &ending);
	if (has_strayed) {
		runner_worker_drop_host(worker);
		runner_schedule(runner);
	}
	runner_go_to_rest(runner);
}

static void quarantine(struct runner *runner)
{
	snprintf(runner->why, sizeof(runner->why),
		"quarantined after %u crashes within %llu s; a reload lets it try again",
		runner->options.crash_limit, (unsigned long long)runner->options.crash_window_s);
	log_error("Toolbox %s is %s", runner->toolbox->id, runner->why);
	runner->is_quarantined = true;
	loop_timer_disarm(&runner->restart);
	runner_end_waiting(runner, runner->why);
}

static bool will_not_load(const struct host_exit *end)
{
	return end->reason == HOST_REFUSED || end->reason == HOST_TOO_SLOW;
}

/* Count a crash; a kill of ours is none (contract.md, Processes). */
static bool has_crashed(const struct host_exit *end)
{
	return end->reason != HOST_TOO_LARGE && !will_not_load(end);
}

static void host_has_ended(void *data, const struct host_exit *end)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;
	struct runner_call *call = runner_worker_take_call(worker);
	struct call_result ending = {
		.outcome = end->reason == HOST_TOO_LARGE ? CALL_TOO_LARGE : CALL_CRASHED,
		.end = end,
	};
	bool is_too_often = has_crashed(end) && crashes_note(&runner->crashes, clock_now_ms(),
							runner->options.crash_limit,
							runner->options.crash_window_s * MS_PER_S);

	runner_note_end(runner, end);
	runner_worker_drop_host(worker);
	runner_set_clocks(runner);
	if (call)
		runner_end_call(runner, call, &ending);
	if (is_too_often) {
		quarantine(runner);
	} else {
		/* What cannot be loaded will not be by waiting; what crashed may be, next time. */
		if (will_not_load(end) && runner->n_loaded == 0)
			runner_end_waiting(runner, runner->why);
		loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
	}
	runner_go_to_rest(runner);
}

void runner_worker_start(struct runner_worker *worker)
{
	struct runner *runner = worker->runner;
	static const struct host_handler handler = {
		.loaded = host_is_loaded,
		.answered = host_has_answered,
		.progressed = call_has_progressed,
		.bus_message = host_has_said,
		.ended = host_has_ended,
	};
	struct host_options options = {
		.program = runner->options.host_program,
		.toolbox_id = runner->toolbox->id,
		.environment = runner->toolbox->environment,
		.load = runner->toolbox->load,
		.load_size = runner->toolbox->load_size,
		.output_max = runner->options.output_max,
		.stderr_max = runner->options.stderr_max,
		.start_timeout_ms = runner->options.start_timeout_ms,
		.has_bus = has_bus(runner),
		.has_guard = toolbox_has_guard(runner->toolbox),
	};
	int r = host_spawn(runner->loop, &options, &handler, worker, &worker->host);

	if (r == 0) {
		runner->n_starting++;
		return;
	}
	runner_note_no_start(runner, r);
	if (runner->n_loaded + runner->n_starting == 0)
		runner_end_waiting(runner, runner->why);
}
