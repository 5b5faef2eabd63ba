/* SPDX-License-Identifier: Apache-2.0 */
#include "core/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/runner_inside.h"
#include "util/clock.h"
#include "util/log.h"

#define MS_PER_S UINT64_C(1000)

static void schedule(struct runner *runner);

/* The clocks of those that wait stand while the only thing they wait for is the first host. */
static void set_clocks(struct runner *runner)
{
	queue_set_clocks(&runner->queue, runner->n_loaded == 0 && runner->n_starting > 0);
}

static void go_to_rest(struct runner *runner)
{
	const struct toolbox_limits *limits = &runner->toolbox->limits;

	if (runner->n_running > 0 || runner->queue.first)
		return;
	if (runner->is_retired)
		loop_timer_arm(&runner->rest, 0);
	else if (runner->n_loaded > 0 && (!limits->prestart || limits->has_idle_s))
		loop_timer_arm(&runner->rest, runner->options.idle_s * MS_PER_S);
}

/* Tell the owner of a call that was taken out of the queue, or off its worker. */
static void end_call(
	struct runner *runner, struct runner_call *call, const struct runner_ending *ending)
{
	loop_timer_disarm(&call->clock);
	runner->handler.done(runner->data, call, ending);
}

static void end_waiting(struct runner *runner, const char *why)
{
	struct runner_ending ending = {
		.outcome = RUNNER_UNAVAILABLE,
		.text = why,
		.size = strlen(why),
	};

	while (runner->queue.first) {
		struct runner_call *call = runner->queue.first;

		queue_remove(&runner->queue, call);
		end_call(runner, call, &ending);
	}
}

/* ── workers ─────────────────────────────────────────────────────────────────────────────────── */

/* Take the call off the worker that has run it. */
static struct runner_call *take_running(struct runner_worker *worker)
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
		worker->runner->handler.left(worker->runner->data, worker->host);
	runner_forget_ahead(worker->runner);
	return take_ptr(worker->host);
}

/* Kill it. */
static void drop_host(struct runner_worker *worker)
{
	host_free(take_host(worker));
}

/* Let those hosts that have nothing to do end in order. */
static void dismiss_hosts(struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		struct runner_worker *worker = runner->workers[i];

		if (worker->is_loaded && !worker->is_gone && !worker->running)
			leaving_take(&runner->leaving, take_host(worker));
	}
}

/* Give @call to the worker's idle host, unless it has it. 0, or a negative errno: it has not
 * begun. */
static int run_call(
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

/* The host of an idle worker takes no call. One that died in its sleep costs nobody an error: the
 * call waits for the next host, which is started when the death is noticed. */
static void give_up(struct runner_worker *worker, int error)
{
	struct runner *runner = worker->runner;

	log_debug("%s: the host takes no call: %s", runner->toolbox->id, strerror(-error));
	worker->is_gone = true;
	if (error == -EPIPE)
		return;
	drop_host(worker);
	loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
}

static struct runner_worker *find_idle(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (runner->workers[i]->is_loaded && !runner->workers[i]->running &&
			!runner->workers[i]->is_gone)
			return runner->workers[i];
	return NULL;
}

static struct runner_worker *find_free(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (!runner->workers[i]->host)
			return runner->workers[i];
	return NULL;
}

/* Whether a call of @tool may run beside what runs now. */
static bool may_run(const struct runner *runner, uint32_t tool)
{
	if (runner->n_running == 0)
		return true;
	return !runner->runs_alone && runner->toolbox->tools[tool].is_parallel;
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
	schedule(runner);
}

static void call_has_progressed(void *data, uint64_t id, const struct json_tape *progress)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;

	if (worker->running && worker->running->id == id)
		runner->handler.progressed(runner->data, worker->running, progress);
}

static void host_has_said(void *data, const struct json_tape *object, const char *text, size_t size)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;

	runner->handler.said(runner->data, runner, worker->host, object, text, size);
}

static void host_has_answered(void *data, uint64_t id, const struct host_answer *answer)
{
	static const enum runner_outcome outcomes[] = {
		[HOST_ANSWER_RESULT] = RUNNER_RESULT,
		[HOST_ANSWER_FAILED] = RUNNER_FAILED,
		[HOST_ANSWER_ERROR] = RUNNER_ERROR,
	};
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;
	struct runner_call *call;
	struct runner_ending ending = {
		.outcome = outcomes[answer->kind],
		.text = answer->text,
		.size = answer->size,
		.tape = answer->tape,
	};
	bool has_strayed;

	/* service/host has checked the id; what it lets through is the call that runs. */
	if (!worker->running || worker->running->id != id)
		return;
	call = take_running(worker);
	crashes_note_success(&runner->crashes);
	has_strayed = worker->is_gone = runner_has_strayed(worker);
	/* The next call is under way before this one's answer is written. */
	schedule(runner);
	end_call(runner, call, &ending);
	if (has_strayed) {
		drop_host(worker);
		schedule(runner);
	}
	go_to_rest(runner);
}

static void quarantine(struct runner *runner)
{
	snprintf(runner->why, sizeof(runner->why),
		"quarantined after %u crashes within %llu s; a reload lets it try again",
		runner->options.crash_limit, (unsigned long long)runner->options.crash_window_s);
	log_error("Toolbox %s is %s", runner->toolbox->id, runner->why);
	runner->is_quarantined = true;
	loop_timer_disarm(&runner->restart);
	end_waiting(runner, runner->why);
}

static bool will_not_load(const struct host_end *end)
{
	return end->reason == HOST_REFUSED || end->reason == HOST_TOO_SLOW;
}

/* DESIGN §4: crashes, not kills of ours. */
static bool has_crashed(const struct host_end *end)
{
	return end->reason != HOST_TOO_LARGE && !will_not_load(end);
}

static void host_has_ended(void *data, const struct host_end *end)
{
	struct runner_worker *worker = data;
	struct runner *runner = worker->runner;
	struct runner_call *call = take_running(worker);
	struct runner_ending ending = {
		.outcome = end->reason == HOST_TOO_LARGE ? RUNNER_TOO_LARGE : RUNNER_CRASHED,
		.end = end,
	};
	bool is_too_often = has_crashed(end) && crashes_note(&runner->crashes, clock_now_ms(),
							runner->options.crash_limit,
							runner->options.crash_window_s * MS_PER_S);

	runner_note_end(runner, end);
	drop_host(worker);
	set_clocks(runner);
	if (call)
		end_call(runner, call, &ending);
	if (is_too_often) {
		quarantine(runner);
	} else {
		/* What cannot be loaded will not be by waiting; what crashed may be, next time. */
		if (will_not_load(end) && runner->n_loaded == 0)
			end_waiting(runner, runner->why);
		loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
	}
	go_to_rest(runner);
}

static void start_worker(struct runner *runner, struct runner_worker *worker)
{
	static const struct host_handler handler = {
		.loaded = host_is_loaded,
		.answered = host_has_answered,
		.progressed = call_has_progressed,
		.said = host_has_said,
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
		end_waiting(runner, runner->why);
}

/* ── the schedule ────────────────────────────────────────────────────────────────────────────── */

/* Start hosts for those that wait, as far as there may be more. */
static void start_workers(struct runner *runner)
{
	struct runner_worker *worker;

	/* Who waits beside an idle host waits for others to end, not for one more. */
	if (loop_timer_is_armed(&runner->restart) || runner->is_quarantined || find_idle(runner))
		return;
	while (runner->n_starting < runner->queue.n_calls && (worker = find_free(runner))) {
		uint32_t n_starting = runner->n_starting;

		start_worker(runner, worker);
		if (runner->n_starting == n_starting)
			break;
	}
}

static bool is_cooling(const struct runner *runner, const struct runner_call *call)
{
	return runner_cooldown_s(runner, &runner->toolbox->tools[call->tool]) > 0;
}

/* It came before the run that its tool now cools down from has ended. */
static void end_cooling(struct runner *runner, struct runner_call *call)
{
	struct runner_ending ending = {.outcome = RUNNER_COOLING};

	queue_remove(&runner->queue, call);
	end_call(runner, call, &ending);
}

/* Run what may run now, first come first served; have hosts for the rest. */
static void schedule(struct runner *runner)
{
	struct runner_call *call;
	struct runner_worker *worker;

	while ((call = runner->queue.first) && may_run(runner, call->tool) &&
		(worker = find_idle(runner))) {
		int r;

		if (is_cooling(runner, call)) {
			end_cooling(runner, call);
			continue;
		}
		r = run_call(worker, call, call->arguments.data, call->arguments.size);
		if (r < 0)
			give_up(worker, r);
		else
			queue_remove(&runner->queue, call);
	}
	runner_send_ahead(runner);
	start_workers(runner);
	set_clocks(runner);
	go_to_rest(runner);
}

static void restart_is_due(void *data)
{
	schedule(data);
}

/* Take a call out, wherever it is; its host, if it runs, goes with it. */
static void withdraw(struct runner_call *call, const struct runner_ending *ending)
{
	struct runner *runner = call->runner;
	struct runner_worker *worker = call->worker;

	if (worker) {
		take_running(worker);
		drop_host(worker);
	} else {
		queue_remove(&runner->queue, call);
	}
	end_call(runner, call, ending);
	schedule(runner);
}

static void clock_has_run_out(void *data)
{
	struct runner_ending ending = {.outcome = RUNNER_TIMED_OUT};

	withdraw(data, &ending);
}

void runner_cancel(struct runner *runner, struct runner_call *call)
{
	struct runner_ending ending = {.outcome = RUNNER_CANCELLED};

	(void)runner;
	withdraw(call, &ending);
}

static void rest_is_over(void *data)
{
	struct runner *runner = data;

	if (runner->n_running > 0 || runner->queue.first)
		return;
	dismiss_hosts(runner);
	if (runner->is_retired && leaving_is_empty(&runner->leaving))
		runner->handler.drained(runner->data, runner);
}

static void host_has_left(void *data, const struct host_end *end)
{
	struct runner *runner = data;

	runner_note_leave(runner, end);
	if (runner->is_retired)
		go_to_rest(runner);
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
		calloc(toolbox->n_parts ? toolbox->n_parts : 1, sizeof(*runner->statistics));
	queue_init(&runner->queue);
	leaving_init(&runner->leaving, host_has_left, runner);
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
		drop_host(runner->workers[i]);
		free(runner->workers[i]);
	}
	free(runner->workers);
	leaving_deinit(&runner->leaving);
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
		worker = find_idle(runner);
	if (worker) {
		r = run_call(worker, call, arguments, size);
		if (r == 0) {
			loop_timer_arm(&call->clock, timeout_ms);
			return 0;
		}
		give_up(worker, r);
	}
	r = queue_call(runner, call, arguments, size);
	/* From the loop, so that done() never comes before this returns. */
	if (r == 0 && !loop_timer_is_armed(&runner->restart) && runner->n_starting == 0 &&
		find_free(runner))
		loop_timer_arm(&runner->restart, 0);
	runner_send_ahead(runner);
	return r;
}

void runner_end_all(struct runner *runner, const char *why)
{
	struct runner_ending ending = {
		.outcome = RUNNER_UNAVAILABLE,
		.text = why,
		.size = strlen(why),
	};

	end_waiting(runner, why);
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		struct runner_call *call = take_running(runner->workers[i]);

		if (!call)
			continue;
		drop_host(runner->workers[i]);
		end_call(runner, call, &ending);
	}
	go_to_rest(runner);
}

void runner_retire(struct runner *runner)
{
	runner->is_retired = true;
	go_to_rest(runner);
}

void runner_rest(struct runner *runner)
{
	if (!runner->queue.first)
		dismiss_hosts(runner);
}

void runner_prestart(struct runner *runner)
{
	struct runner_worker *worker = find_free(runner);

	if (worker && runner->n_loaded + runner->n_starting == 0 && !runner->is_quarantined)
		start_worker(runner, worker);
}

void runner_forgive(struct runner *runner)
{
	crashes_forgive(&runner->crashes);
	if (runner->is_quarantined)
		runner->why[0] = '\0';
	runner->is_quarantined = false;
}
