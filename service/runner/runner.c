/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/runner_inside.h"
#include "util/clock.h"

/*
 * The calls of a runner: which of them may run now, and how each ends.
 *
 *   runner_submit ──▶ queue ──▶ runner_schedule ──▶ an idle worker      (runner_workers.c)
 *                       │             ▲                  │
 *                       │             └── a host came, ──┤
 *                       │                 answered, went │
 *                       └── clock, cancel, no host ──────┴──▶ runner_end_call: done(), once
 */

#define MS_PER_S UINT64_C(1000)

void runner_set_clocks(struct runner *runner)
{
	queue_set_clocks(&runner->queue, runner->n_loaded == 0 && runner->n_starting > 0);
}

void runner_go_to_rest(struct runner *runner)
{
	const struct toolbox_limits *limits = &runner->toolbox->limits;

	if (runner->n_running > 0 || runner->queue.first)
		return;
	if (runner->is_retired)
		loop_timer_arm(&runner->rest, 0);
	else if (runner->n_loaded > 0 && (!limits->prestart || limits->has_idle_s))
		loop_timer_arm(&runner->rest, runner->options.idle_s * MS_PER_S);
}

void runner_end_call(
	struct runner *runner, struct runner_call *call, const struct call_result *ending)
{
	loop_timer_disarm(&call->clock);
	runner->handler.done(runner->data, call, ending);
}

void runner_end_waiting(struct runner *runner, const char *why)
{
	struct call_result ending = {
		.outcome = CALL_UNAVAILABLE,
		.text = why,
		.size = strlen(why),
	};

	while (runner->queue.first) {
		struct runner_call *call = runner->queue.first;

		queue_remove(&runner->queue, call);
		runner_end_call(runner, call, &ending);
	}
}

/* ── the schedule ────────────────────────────────────────────────────────────────────────────── */

/* Start hosts for those that wait, as far as there may be more. */
static void start_workers(struct runner *runner)
{
	struct runner_worker *worker;

	/* Who waits beside an idle host waits for others to end, not for one more. */
	if (loop_timer_is_armed(&runner->restart) || runner->is_quarantined ||
		runner_find_idle(runner))
		return;
	while (runner->n_starting < runner->queue.n_calls && (worker = runner_find_free(runner))) {
		uint32_t n_starting = runner->n_starting;

		runner_worker_start(worker);
		if (runner->n_starting == n_starting)
			break;
	}
}

/* Whether a call of @tool may run beside what runs now. */
static bool may_run(const struct runner *runner, uint32_t tool)
{
	if (runner->n_running == 0)
		return true;
	return !runner->runs_alone && runner->toolbox->tools[tool].is_parallel;
}

static bool is_cooling(const struct runner *runner, const struct runner_call *call)
{
	return runner_cooldown_s(runner, &runner->toolbox->tools[call->tool]) > 0;
}

/* It came before the run that its tool now cools down from has ended. */
static void end_cooling(struct runner *runner, struct runner_call *call)
{
	struct call_result ending = {.outcome = CALL_COOLING};

	queue_remove(&runner->queue, call);
	runner_end_call(runner, call, &ending);
}

void runner_schedule(struct runner *runner)
{
	struct runner_call *call;
	struct runner_worker *worker;

	while ((call = runner->queue.first) && may_run(runner, call->tool) &&
		(worker = runner_find_idle(runner))) {
		int r;

		if (is_cooling(runner, call)) {
			end_cooling(runner, call);
			continue;
		}
		r = runner_worker_run(worker, call, call->arguments.data, call->arguments.size);
		if (r < 0)
			runner_worker_give_up(worker, r);
		else
			queue_remove(&runner->queue, call);
	}
	runner_send_ahead(runner);
	start_workers(runner);
	runner_set_clocks(runner);
	runner_go_to_rest(runner);
}

static void restart_is_due(void *data)
{
	runner_schedule(data);
}

/* Take a call out, wherever it is; its host, if it runs, goes with it. */
static void withdraw(struct runner_call *call, const struct call_result *ending)
{
	struct runner *runner = call->runner;
	struct runner_worker *worker = call->worker;

	if (worker) {
		runner_worker_take_call(worker);
		runner_worker_drop_host(worker);
	} else {
		queue_remove(&runner->queue, call);
	}
	runner_end_call(runner, call, ending);
	runner_schedule(runner);
}

static void clock_has_run_out(void *data)
{
	struct call_result ending = {.outcome = CALL_TIMED_OUT};

	withdraw(data, &ending);
}

void runner_cancel(struct runner *runner, struct runner_call *call)
{
	struct call_result ending = {.outcome = CALL_CANCELLED};

	(void)runner;
	withdraw(call, &ending);
}

static void rest_is_over(void *data)
{
	struct runner *runner = data;

	if (runner->n_running > 0 || runner->queue.first)
		return;
	runner_dismiss_hosts(runner);
	if (runner->is_retired && reaper_is_empty(&runner->reaper))
		runner->handler.drained(runner->data, runner);
}

static void host_has_left(void *data, const struct host_exit *end)
{
	struct runner *runner = data;

	runner_note_leave(runner, end);
	if (runner->is_retired)
		runner_go_to_rest(runner);
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

static int make_workers(struct runner *runner, uint32_t n_workers)
{
	runner->workers = calloc(n_workers, sizeof(struct runner_worker *));
	if (!runner->workers)
		return -ENOMEM;
	for (; runner->n_workers < n_workers; runner->n_workers++) {
		struct runner_worker *worker = calloc(1, sizeof(*worker));

		if (!worker)
			return -ENOMEM;
		worker->runner = runner;
		runner->workers[runner->n_workers] = worker;
	}
	return 0;
}

int runner_new(struct loop *loop, struct toolbox *toolbox, const struct runner_options *options,
	const struct runner_handler *handler, void *data, struct runner **ret_runner)
{
	cleanup(runner_cleanup) struct runner *runner = calloc(1, sizeof(*runner));

	if (!runner)
		return -ENOMEM;
	runner->loop = loop;
	runner->toolbox = toolbox_ref(toolbox);
	runner->options = *options;
	runner->handler = *handler;
	runner->data = data;
	runner->statistics =
		calloc(toolbox->n_members ? toolbox->n_members : 1, sizeof(*runner->statistics));
	queue_init(&runner->queue);
	reaper_init(&runner->reaper, host_has_left, runner);
	if (!runner->statistics || make_workers(runner, options->workers) < 0 ||
		loop_timer_init(&runner->restart, loop, restart_is_due, runner) < 0 ||
		loop_timer_init(&runner->rest, loop, rest_is_over, runner) < 0 ||
		cooldowns_init(&runner->cooldowns, toolbox) < 0)
		return -ENOMEM;
	*ret_runner = take_ptr(runner);
	return 0;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		runner_worker_drop_host(runner->workers[i]);
		free(runner->workers[i]);
	}
	free(runner->workers);
	reaper_deinit(&runner->reaper);
	loop_timer_deinit(&runner->restart);
	loop_timer_deinit(&runner->rest);
	toolbox_unref(runner->toolbox);
	cooldowns_deinit(&runner->cooldowns);
	free(runner->statistics);
	free(runner);
}

void runner_configure(struct runner *runner, const struct runner_options *options)
{
	runner->options = *options;
}

int runner_call_init(struct runner_call *call, struct loop *loop)
{
	*call = (struct runner_call){0};
	return loop_timer_init(&call->clock, loop, clock_has_run_out, call);
}

void runner_call_deinit(struct runner_call *call)
{
	loop_timer_deinit(&call->clock);
	buffer_deinit(&call->arguments);
	buffer_deinit(&call->caller);
}

/* Put the call behind those that wait. */
static int queue_call(
	struct runner *runner, struct runner_call *call, const char *arguments, size_t size)
{
	if (runner->queue.n_calls >= runner->options.queue_max)
		return RUNNER_E_BUSY;
	buffer_reset(&call->arguments);
	buffer_append(&call->arguments, arguments, size);
	if (buffer_status(&call->arguments) < 0)
		return buffer_status(&call->arguments);
	queue_push(&runner->queue, call);
	return 0;
}

int runner_submit(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size, uint64_t timeout_ms)
{
	struct runner_worker *worker = NULL;
	int r;

	if (runner->is_quarantined)
		return RUNNER_E_QUARANTINED;
	call->runner = runner;
	call->worker = NULL;
	call->is_ahead = false;
	call->left_ms = timeout_ms;
	call->submitted_ns = clock_now_ns();
	if (!runner->queue.first && may_run(runner, call->tool))
		worker = runner_find_idle(runner);
	if (worker) {
		r = runner_worker_run(worker, call, arguments, size);
		if (r == 0) {
			loop_timer_arm(&call->clock, timeout_ms);
			return 0;
		}
		runner_worker_give_up(worker, r);
	}
	r = queue_call(runner, call, arguments, size);
	/* From the loop, so that done() never comes before this returns. */
	if (r == 0 && !loop_timer_is_armed(&runner->restart) && runner->n_starting == 0 &&
		runner_find_free(runner))
		loop_timer_arm(&runner->restart, 0);
	runner_send_ahead(runner);
	return r;
}

void runner_end_all(struct runner *runner, const char *why)
{
	struct call_result ending = {
		.outcome = CALL_UNAVAILABLE,
		.text = why,
		.size = strlen(why),
	};

	runner_end_waiting(runner, why);
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		struct runner_call *call = runner_worker_take_call(runner->workers[i]);

		if (!call)
			continue;
		runner_worker_drop_host(runner->workers[i]);
		runner_end_call(runner, call, &ending);
	}
	runner_go_to_rest(runner);
}

void runner_retire(struct runner *runner)
{
	runner->is_retired = true;
	runner_go_to_rest(runner);
}

void runner_dismiss_idle(struct runner *runner)
{
	if (!runner->queue.first)
		runner_dismiss_hosts(runner);
}

void runner_prestart(struct runner *runner)
{
	struct runner_worker *worker = runner_find_free(runner);

	if (worker && runner->n_loaded + runner->n_starting == 0 && !runner->is_quarantined)
		runner_worker_start(worker);
}

void runner_forgive(struct runner *runner)
{
	crashes_forgive(&runner->crashes);
	if (runner->is_quarantined)
		runner->why[0] = '\0';
	runner->is_quarantined = false;
}
