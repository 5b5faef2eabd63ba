/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/kind.h"
#include "runner/cooldowns.h"
#include "runner/crashes.h"
#include "runner/troubles.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/log.h"
#include "util/file/stamp.h"

/*
 * The schedule: which call may run now, and how each ends.
 *
 *   runner_submit ──▶ queue ──▶ run_waiting ──▶ an idle worker      (runner/worker.h)
 *                       │             ▲         or the executor     (runner/executor.h)
 *                       │             │                  │
 *                       │             └── ready, done, ──┤
 *                       │                 ended          │
 *                       └── clock, cancel, no worker ────┴──▶ end_call: done(), once
 */

/* The most arguments of a call sent ahead. Larger ones gain nothing, and might not fit into a
 * socket. */
#define AHEAD_BYTES_MAX 4096

struct runner {
	struct loop *loop;
	struct package *package;
	struct runner_options options;
	struct runner_handler handler;
	void *data;
	struct worker **workers;
	uint32_t n_workers;
	struct worker_counts counts;
	uint32_t capacity;       /* the calls of one worker at a time */
	struct list running;     /* the calls that the executor runs */
	uint32_t n_running;      /* the running calls, of workers or of the executor */
	struct list waiting;     /* calls, first come first served */
	struct list *last_ahead; /* the last waiting call sent ahead; the head waiting: none */
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
	struct troubles troubles; /* with the text of runner_reason() */
	struct tool_statistics statistics;
	struct output_tail output;     /* the last lines of its hosts */
	enum runner_state noted_state; /* the state of runner_state() when it was noted last */
	int64_t state_since_ns;
	uint32_t n_holders;
};

static uint32_t count_starting(const struct runner *runner)
{
	return runner->counts.n[WORKER_STARTING];
}

static uint32_t count_loaded(const struct runner *runner)
{
	const uint32_t *n = runner->counts.n;

	return n[WORKER_IDLE] + n[WORKER_RUNNING] + n[WORKER_SHARED] + n[WORKER_GONE];
}

/* Return a worker in @state, or NULL. */
static struct worker *find_worker(const struct runner *runner, enum worker_state state)
{
	if (runner->counts.n[state] == 0)
		return NULL;
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (worker_state(runner->workers[i]) == state)
			return runner->workers[i];
	return NULL;
}

/* Return a worker with room for a call, and the fewest calls, or NULL. */
static struct worker *find_ready(const struct runner *runner)
{
	struct worker *least = find_worker(runner, WORKER_IDLE);

	if (least || runner->counts.n[WORKER_SHARED] == 0)
		return least;
	for (uint32_t i = 0; i < runner->n_workers; i++) {
		struct worker *worker = runner->workers[i];

		if (worker_state(worker) == WORKER_SHARED &&
			(!least || worker_n_calls(worker) < worker_n_calls(least)))
			least = worker;
	}
	return least;
}

/* Note since when the runner is in its state. */
static void note_state(struct runner *runner)
{
	enum runner_state state = runner_state(runner);

	if (state == runner->noted_state)
		return;
	runner->noted_state = state;
	runner->state_since_ns = stamp_now_ns();
}

/* ── the queue ───────────────────────────────────────────────────────────────────────────────── */

static struct runner_call *call_of(struct list *link)
{
	return container_of(link, struct runner_call, link);
}

static struct runner_call *first_waiting(const struct runner *runner)
{
	check(runner->n_waiting > 0);
	return call_of(runner->waiting.next);
}

/* Stop the clock of @call, or let it run. */
static void set_clock(struct runner_call *call, bool runs)
{
	if (runs) {
		loop_timer_arm(&call->clock, call->left_ms);
		return;
	}
	call->left_ms = runner_call_left_ms(call);
	loop_timer_disarm(&call->clock);
}

/* Append @call, with left_ms to go. */
static void push_call(struct runner *runner, struct runner_call *call)
{
	list_append(&runner->waiting, &call->link);
	runner->n_waiting++;
	if (!runner->clocks_are_stopped)
		loop_timer_arm_from(&call->clock, call->submitted_ns, call->left_ms);
}

/* Take @call out of the queue; its clock runs. */
static void remove_call(struct runner *runner, struct runner_call *call)
{
	if (runner->last_ahead == &call->link)
		runner->last_ahead = call->link.previous;
	list_remove(&call->link);
	runner->n_waiting--;
	if (runner->clocks_are_stopped)
		set_clock(call, true);
}

/* Stop the clocks of the waiting calls as long as they only wait for the first worker. */
static void set_clocks(struct runner *runner)
{
	bool stopped = count_loaded(runner) == 0 && count_starting(runner) > 0;

	if (stopped == runner->clocks_are_stopped)
		return;
	runner->clocks_are_stopped = stopped;
	list_for_each(link, &runner->waiting)
		set_clock(call_of(link), !stopped);
}

/* ── ends ────────────────────────────────────────────────────────────────────────────────────── */

/* Report the end of @call, now in neither the queue nor a worker. */
static void end_call(
	struct runner *runner, struct runner_call *call, const struct call_result *result)
{
	check(call->is_taken && list_is_empty(&call->link) && !call->worker);
	call->is_taken = false;
	loop_timer_disarm(&call->clock);
	runner->handler.done(runner->data, call, result);
}

/* Note the end of the run of @call: its tool cools down, and other calls may run. */
static void note_run_end(struct runner *runner, struct runner_call *call)
{
	check(runner->n_running > 0);
	list_remove(&call->running_link);
	runner->n_running--;
	runner->runs_alone = false;
	if (runner->package->tools[call->tool]->cooldown_s > 0 && !call->is_check)
		cooldowns_note_end(&runner->cooldowns, call->tool);
}

/* End the waiting @call. */
static void end_waiting_call(
	struct runner *runner, struct runner_call *call, const struct call_result *result)
{
	remove_call(runner, call);
	if (call->is_ahead)
		worker_cancel(call->worker, call, false);
	end_call(runner, call, result);
}

/* End the running @call. */
static void end_running_call(
	struct runner *runner, struct runner_call *call, const struct call_result *result)
{
	struct executor *executor = runner->options.executor;
	bool is_late = result->outcome == CALL_TIMED_OUT;

	note_run_end(runner, call);
	if (executor)
		executor->operations->cancel(executor, call, is_late);
	else
		worker_cancel(call->worker, call, is_late);
	end_call(runner, call, result);
}

static struct call_result unavailable(const char *reason)
{
	return (struct call_result){
		.outcome = CALL_UNAVAILABLE, .text = reason, .size = strlen(reason)};
}

/* End all waiting calls, as unavailable for @reason. */
static void end_waiting(struct runner *runner, const char *reason)
{
	struct call_result result = unavailable(reason);

	while (runner->n_waiting > 0)
		end_waiting_call(runner, first_waiting(runner), &result);
}

/* After the last call: arrange when the workers are dismissed. */
static void go_to_rest(struct runner *runner)
{
	const struct toolbox_limits *limits = &runner->package->limits;

	if (runner->n_running > 0 || runner->n_waiting > 0)
		return;
	if (runner->is_retired)
		loop_timer_arm(&runner->rest, 0);
	else if (count_loaded(runner) > 0 && (!limits->prestart || limits->has_idle_s))
		loop_timer_arm(&runner->rest, runner->options.idle_s * MS_PER_S);
}

/* ── troubles of workers ─────────────────────────────────────────────────────────────────────── */

static void start_worker(struct runner *runner, struct worker *worker, enum runner_start reason)
{
	int r = worker_start(worker);

	if (r == 0) {
		runner->handler.started(runner->data, runner, reason);
		note_state(runner);
		return;
	}
	troubles_log_no_start(
		&runner->troubles, runner->package->id, runner->options.worker.host_program, r);
	if (count_loaded(runner) + count_starting(runner) == 0)
		end_waiting(runner, runner->troubles.reason);
}

/* Let a call not taken by an idle worker wait. A worker that died unnoticed costs no call an error:
 * ended() follows and starts the next worker. A worker that carries calls may take the call later:
 * ready() follows. */
static void note_run_failed(struct runner *runner, int error)
{
	log_debug("%s: the host takes no call: %s", runner->package->id, strerror(-error));
	if (error != -EPIPE && !(error == -EBUSY && runner->capacity > 1))
		loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
}

/* ── calls sent ahead ────────────────────────────────────────────────────────────────────────── */

/*
 * When a host is done with a call, a call sent ahead is in its socket, and the daemon takes several
 * answers in one turn: 3.9 times as many calls per second with 64 in flight, 1.6 times with 4
 * (tests/bench/call, medians of 5 rounds on two cores).
 *
 *   queue    4   5   6   7   8 …      all of these wait: their clocks run, they can be cancelled
 *            └───┴───┘
 *            is_ahead                 the worker has these already
 *   worker   3 runs
 *
 * A sent call cannot be taken back. If it is cancelled afterwards, the worker is gone when it
 * begins the call, and the next worker runs the calls after it, some of them perhaps again: so only
 * tools that only read are sent ahead. Nor is any call where several workers share the queue:
 * another may be free first. Hosts of other kinds than native receive the remaining time, counted
 * from the turn of the call, so nothing is sent ahead to them.
 */
static bool may_go_ahead(const struct runner *runner, const struct runner_call *call)
{
	const struct tool *tool = runner->package->tools[call->tool];

	return runner->package->kind == KIND_NATIVE && tool->risk == TOOL_READ &&
	       tool->cooldown_s == 0 && call->arguments.size <= AHEAD_BYTES_MAX;
}

/* Return the first waiting call that was not sent ahead, or the head. They are sent in their order.
 * A worker whose host is gone has forgotten all of them. */
static struct list *first_unsent(struct runner *runner)
{
	if (runner->last_ahead != &runner->waiting && !call_of(runner->last_ahead)->is_ahead)
		runner->last_ahead = &runner->waiting;
	return runner->last_ahead->next;
}

/* Send the only worker as many of the waiting calls as it takes. */
static void send_ahead(struct runner *runner)
{
	struct worker *worker = runner->n_workers > 0 ? runner->workers[0] : NULL;

	if (runner->n_workers != 1 || worker_state(worker) != WORKER_RUNNING)
		return;
	for (struct list *link = first_unsent(runner);
		link != &runner->waiting && worker_has_room(worker); link = link->next) {
		struct runner_call *call = call_of(link);

		if (!may_go_ahead(runner, call) || worker_send_ahead(worker, call) < 0)
			return;
		runner->last_ahead = link;
	}
}

/* ── the schedule ────────────────────────────────────────────────────────────────────────────── */

/* Return why the next worker starts for a call. */
static enum runner_start next_start(struct runner *runner)
{
	if (runner->n_lost > 0) {
		runner->n_lost--;
		return RUNNER_START_CRASH;
	}
	return count_loaded(runner) + count_starting(runner) > 0 ? RUNNER_START_LOAD
								 : RUNNER_START_CALL;
}

/* Return how many workers should be starting for calls in wait, or sharing a worker. */
static uint32_t count_wanted(const struct runner *runner)
{
	uint32_t n_wanted = (runner->n_waiting + runner->capacity - 1) / runner->capacity;

	return n_wanted == 0 && runner->counts.n[WORKER_SHARED] > 0 &&
			       runner->n_running > count_loaded(runner)
		       ? 1
		       : n_wanted;
}

/* Start workers for these calls, as far as there may be more. */
static void start_workers(struct runner *runner)
{
	struct worker *worker;

	/* With an idle worker, the first call waits to run alone; another worker would not help. */
	if (loop_timer_is_armed(&runner->restart) || runner->is_quarantined ||
		runner->counts.n[WORKER_IDLE] > 0)
		return;
	while (count_starting(runner) < count_wanted(runner) &&
		(worker = find_worker(runner, WORKER_FREE))) {
		start_worker(runner, worker, next_start(runner));
		if (worker_state(worker) == WORKER_FREE)
			break;
	}
}

/* Return whether a call of @tool may run beside the calls running now. */
static bool may_run(const struct runner *runner, uint32_t tool)
{
	if (runner->n_running == 0)
		return true;
	return !runner->runs_alone && runner->package->tools[tool]->is_parallel;
}

/* Return whether a call can begin now: with the executor, else with the worker *@ret_worker. */
static bool find_room(const struct runner *runner, struct worker **ret_worker)
{
	*ret_worker = runner->options.executor ? NULL : find_ready(runner);
	return runner->options.executor || *ret_worker;
}

/* Let @worker (NULL: the executor) run @call. Returns 0, or a negative errno: the call has not
 * begun. */
static int run_call(struct runner *runner, struct worker *worker, struct runner_call *call,
	const char *arguments, size_t size)
{
	struct executor *executor = runner->options.executor;
	int r = worker ? worker_run(worker, call, arguments, size)
		       : executor->operations->begin(executor, call, arguments, size);

	if (r < 0 && worker)
		note_run_failed(runner, r);
	if (r < 0)
		return r;
	if (!worker)
		list_append(&runner->running, &call->running_link);
	runner->n_running++;
	runner->runs_alone = !runner->package->tools[call->tool]->is_parallel;
	loop_timer_disarm(&runner->rest);
	return 0;
}

static bool is_cooling(const struct runner *runner, const struct runner_call *call)
{
	return !call->is_check && runner_cooldown_s(runner, runner->package->tools[call->tool]) > 0;
}

/* Run the calls allowed to run now, first come first served, and have workers for the others. */
static void run_waiting(struct runner *runner)
{
	static const struct call_result cooling = {.outcome = CALL_COOLING};
	const struct call_result changed = unavailable(
		"its program has changed while the call waited for its turn; call it again");
	const struct call_result no_memory = unavailable("memory is short");
	struct worker *worker;

	while (runner->n_waiting > 0 && find_room(runner, &worker)) {
		struct runner_call *call = first_waiting(runner);
		const struct buffer *arguments = &call->arguments;

		if (!may_run(runner, call->tool))
			break;
		/* The call came before the end of the run from which its tool now cools down. */
		if (is_cooling(runner, call))
			end_waiting_call(runner, call, &cooling);
		else if (!tool_program_is_current(runner->package->tools[call->tool]))
			end_waiting_call(runner, call, &changed);
		else if (run_call(runner, worker, call, arguments->data, arguments->size) == 0)
			remove_call(runner, call);
		else if (!worker)
			end_waiting_call(runner, call, &no_memory);
	}
	send_ahead(runner);
	start_workers(runner);
	set_clocks(runner);
	go_to_rest(runner);
}

static void restart_is_due(void *data)
{
	run_waiting(data);
	note_state(data);
}

/* End @call, wherever it is. */
static void withdraw(struct runner_call *call, const struct call_result *result)
{
	struct runner *runner = call->runner;

	if (list_is_empty(&call->link))
		end_running_call(runner, call, result);
	else
		end_waiting_call(runner, call, result);
	run_waiting(runner);
	note_state(runner);
}

/* Return the reason why the running @call is late, or NULL. */
static const char *run_note(const struct runner_call *call)
{
	struct executor *executor = call->runner->options.executor;

	return executor ? executor->operations->note(executor, call)
			: worker_note(call->worker, call->submitted_ns);
}

static void clock_has_run_out(void *data)
{
	const struct runner_call *call = data;
	struct call_result result = {.outcome = CALL_TIMED_OUT};
	const char *note = list_is_empty(&call->link) ? run_note(call) : NULL;
	char text[HOST_NOTE_BYTES];

	/* The host may not outlive the call. */
	if (note) {
		snprintf(text, sizeof(text), "%s", note);
		result.text = text;
		result.size = strlen(text);
	}
	withdraw(data, &result);
}

/* Nothing has run or waited for idle_s, or since the runner was retired. */
static void rest_is_over(void *data)
{
	struct runner *runner = data;

	if (runner->n_running > 0 || runner->n_waiting > 0 ||
		(!runner->is_retired && runner->counts.n_in_use > 0))
		return;
	runner_dismiss_idle(runner);
	if (runner->is_retired && runner_has_reaped_all(runner))
		runner->handler.drained(runner->data, runner);
}

/* ── events of workers ───────────────────────────────────────────────────────────────────────── */

static void worker_is_ready(void *data)
{
	struct runner *runner = data;

	runner->troubles.reason[0] = '\0';
	note_state(runner);
	run_waiting(runner);
}

static void call_is_done(void *data, struct worker *worker, struct runner_call *call,
	const struct call_result *result)
{
	struct runner *runner = data;
	/* A worker with other calls ends by itself. */
	bool is_gone = worker_state(worker) == WORKER_GONE && runner->capacity == 1;

	note_run_end(runner, call);
	crashes_note_success(&runner->crashes);
	/* The next call is under way before the answer of this one is written. */
	run_waiting(runner);
	end_call(runner, call, result);
	if (is_gone) {
		worker_drop(worker);
		run_waiting(runner);
		note_state(runner);
	}
}

void runner_finish(struct runner_call *call, const struct call_result *result)
{
	struct runner *runner = call->runner;

	check(call->is_taken && runner->options.executor);
	note_run_end(runner, call);
	run_waiting(runner);
	end_call(runner, call, result);
}

/* Begin the deadline of the running @call anew. */
static void renew_clock(struct runner_call *call)
{
	uint64_t passed_ms = (clock_now_ns() - call->submitted_ns) / NS_PER_MS;
	uint64_t left_ms = call->most_ms > passed_ms ? call->most_ms - passed_ms : 0;

	left_ms = call->timeout_ms < left_ms ? call->timeout_ms : left_ms;
	if (left_ms > runner_call_left_ms(call))
		loop_timer_arm(&call->clock, left_ms);
}

static void call_has_progressed(
	void *data, struct runner_call *call, const struct json_tape *progress)
{
	struct runner *runner = data;

	if (call->most_ms > 0)
		renew_clock(call);
	runner->handler.progressed(runner->data, call, progress);
}

void runner_progress(struct runner_call *call, const struct json_tape *progress)
{
	call_has_progressed(call->runner, call, progress);
}

static void package_is_stale(void *data)
{
	struct runner *runner = data;

	if (!runner->is_retired)
		runner->handler.stale(runner->data, runner);
}

static void on_bus_message(void *data, struct host *host, const struct json_tape *object,
	const char *text, size_t size)
{
	struct runner *runner = data;

	runner->handler.bus_message(runner->data, runner, host, object, text, size);
}

static void host_is_gone(void *data, const struct host *host)
{
	struct runner *runner = data;

	runner->handler.host_gone(runner->data, host);
}

static bool will_not_load(const struct host_exit *exit)
{
	return exit->reason == HOST_REFUSED || exit->reason == HOST_TOO_SLOW;
}

/* Count the end of a worker if it is a crash, not a kill of ours (contract.md, Processes). Returns
 * whether there were too many. */
static bool count_crash(struct runner *runner, const struct host_exit *exit)
{
	if (exit->reason == HOST_TOO_LARGE || will_not_load(exit))
		return false;
	return crashes_note(&runner->crashes, clock_now_ms(), runner->options.crash_limit,
		runner->options.crash_window_s * MS_PER_S);
}

static void quarantine(struct runner *runner)
{
	snprintf(runner->troubles.reason, sizeof(runner->troubles.reason),
		"quarantined after %u crash%s within %llu s; a reload lets it try again",
		runner->options.crash_limit, runner->options.crash_limit == 1 ? "" : "es",
		(unsigned long long)runner->options.crash_window_s);
	log_error("Toolbox %s is %s", runner->package->id, runner->troubles.reason);
	runner->is_quarantined = true;
	loop_timer_disarm(&runner->restart);
	end_waiting(runner, runner->troubles.reason);
}

static void worker_has_ended(void *data, struct worker *worker, const struct host_exit *exit)
{
	struct runner *runner = data;
	struct call_result result = {
		.outcome = exit->reason == HOST_TOO_LARGE ? CALL_TOO_LARGE : CALL_CRASHED,
		.exit = exit,
	};
	bool is_too_often = count_crash(runner, exit);
	struct runner_call *call;
	bool has_cost_call = false;

	runner->n_lost++;
	host_describe_exit(exit, runner->troubles.reason, sizeof(runner->troubles.reason));
	set_clocks(runner);
	while ((call = worker_take_lost(worker))) {
		has_cost_call = true;
		note_run_end(runner, call);
		end_call(runner, call, &result);
	}
	/* The owner of a call reports its end. */
	if (!has_cost_call)
		troubles_log(&runner->troubles, runner->package->id, runner->troubles.reason);
	if (is_too_often) {
		quarantine(runner);
	} else {
		/* A toolbox that cannot be loaded will not load later; a crashed toolbox may. */
		if (will_not_load(exit) && count_loaded(runner) == 0)
			end_waiting(runner, runner->troubles.reason);
		loop_timer_arm(&runner->restart, crashes_next_delay_ms(&runner->crashes));
	}
	note_state(runner);
	go_to_rest(runner);
}

/* Log how a dismissed host has ended, unless it was in order. It is no crash. */
static void host_is_reaped(void *data, const struct host_exit *exit)
{
	static const char when[] = "while it was ended, ";
	struct runner *runner = data;
	char text[TROUBLES_REASON_BYTES];

	if (exit->reason != HOST_EXITED || exit->exit_code != 0) {
		memcpy(text, when, sizeof(when));
		host_describe_exit(exit, text + strlen(when), sizeof(text) - strlen(when));
		troubles_log(&runner->troubles, runner->package->id, text);
	}
	if (runner->is_retired)
		go_to_rest(runner);
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

static void set_options(struct runner *runner, const struct runner_options *options)
{
	runner->options = *options;
	runner->options.worker.tail = &runner->output;
}

/* An executor needs no workers. */
static int make_workers(struct runner *runner)
{
	static const struct worker_handler handler = {
		.ready = worker_is_ready,
		.done = call_is_done,
		.progressed = call_has_progressed,
		.stale = package_is_stale,
		.bus_message = on_bus_message,
		.host_gone = host_is_gone,
		.ended = worker_has_ended,
		.reaped = host_is_reaped,
	};
	uint32_t n_workers = runner->options.workers;

	if (runner->options.executor)
		return 0;
	check(n_workers > 0);
	runner->workers = calloc(n_workers, sizeof(struct worker *));
	if (!runner->workers)
		return -ENOMEM;
	for (; runner->n_workers < n_workers; runner->n_workers++) {
		int r = worker_new(runner->loop, runner->package, &runner->options.worker, &handler,
			runner, &runner->counts, &runner->workers[runner->n_workers]);

		if (r < 0)
			return r;
	}
	return 0;
}

int runner_new(struct loop *loop, struct package *package, const struct runner_options *options,
	const struct runner_handler *handler, void *data, struct runner **ret_runner)
{
	cleanup(runner_cleanup) struct runner *runner = calloc(1, sizeof(*runner));

	if (!runner)
		return -ENOMEM;
	check(handler->done);
	runner->loop = loop;
	runner->package = package_ref(package);
	runner->capacity = package_capacity(package);
	set_options(runner, options);
	runner->handler = *handler;
	runner->data = data;
	runner->state_since_ns = stamp_now_ns();
	list_init(&runner->waiting);
	runner->last_ahead = &runner->waiting;
	list_init(&runner->running);
	if (tool_statistics_init(&runner->statistics, package) < 0 || make_workers(runner) < 0 ||
		loop_timer_init(&runner->restart, loop, restart_is_due, runner) < 0 ||
		loop_timer_init(&runner->rest, loop, rest_is_over, runner) < 0 ||
		cooldowns_init(&runner->cooldowns, package) < 0)
		return -ENOMEM;
	*ret_runner = take_ptr(runner);
	return 0;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	for (uint32_t i = 0; i < runner->n_workers; i++)
		worker_free(runner->workers[i]);
	free(runner->workers);
	loop_timer_deinit(&runner->restart);
	loop_timer_deinit(&runner->rest);
	package_unref(runner->package);
	cooldowns_deinit(&runner->cooldowns);
	tool_statistics_deinit(&runner->statistics);
	output_tail_deinit(&runner->output);
	free(runner);
}

void runner_configure(struct runner *runner, const struct runner_options *options)
{
	set_options(runner, options);
}

int runner_call_init(struct runner_call *call, struct loop *loop)
{
	*call = (struct runner_call){0};
	list_init(&call->link);
	list_init(&call->running_link);
	return loop_timer_init(&call->clock, loop, clock_has_run_out, call);
}

void runner_call_deinit(struct runner_call *call)
{
	loop_timer_deinit(&call->clock);
	buffer_deinit(&call->arguments);
	buffer_deinit(&call->caller);
}

/* Start a worker from the loop: done() never comes before runner_submit() returns. */
static void start_soon(struct runner *runner)
{
	if (!loop_timer_is_armed(&runner->restart) && count_starting(runner) == 0 &&
		runner->counts.n[WORKER_FREE] > 0)
		loop_timer_arm(&runner->restart, 0);
}

/* Let @call wait, with a copy of @arguments. */
static int queue_call(
	struct runner *runner, struct runner_call *call, const char *arguments, size_t size)
{
	if (runner->n_waiting >= runner->options.queue_max)
		return RUNNER_E_BUSY;
	buffer_reset(&call->arguments);
	buffer_append(&call->arguments, arguments, size);
	if (buffer_status(&call->arguments) < 0)
		return buffer_status(&call->arguments);
	push_call(runner, call);
	start_soon(runner);
	send_ahead(runner);
	return 0;
}

/* Take @call, which has begun. */
static void note_begin(struct runner *runner, struct runner_call *call)
{
	loop_timer_arm_from(&call->clock, call->submitted_ns, call->left_ms);
	call->is_taken = true;
	if (runner->counts.n[WORKER_SHARED] > 0 && count_wanted(runner) > 0)
		start_soon(runner);
}

int runner_submit(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size, uint64_t timeout_ms)
{
	struct worker *worker = NULL;
	int r;

	check(!runner->is_retired && !call->is_taken && call->id != 0);
	if (runner->is_quarantined)
		return RUNNER_E_QUARANTINED;
	if (runner->options.executor && runner_n_queued(runner) >= runner->options.queue_max)
		return RUNNER_E_BUSY;
	call->runner = runner;
	call->left_ms = timeout_ms;
	call->timeout_ms = timeout_ms;
	call->submitted_ns = clock_now_ns();
	if (runner->n_waiting == 0 && may_run(runner, call->tool) && find_room(runner, &worker)) {
		r = run_call(runner, worker, call, arguments, size);
		if (r < 0 && !worker)
			return r;
		if (r == 0) {
			note_begin(runner, call);
			return 0;
		}
	}
	r = queue_call(runner, call, arguments, size);
	call->is_taken = r == 0;
	return r;
}

void runner_cancel(struct runner *runner, struct runner_call *call)
{
	struct call_result result = {.outcome = CALL_CANCELLED};

	check(call->is_taken && call->runner == runner);
	withdraw(call, &result);
}

void runner_end_all(struct runner *runner, const char *reason)
{
	struct call_result result = unavailable(reason);
	struct runner_call *call;

	end_waiting(runner, reason);
	while (!list_is_empty(&runner->running)) {
		call = container_of(runner->running.next, struct runner_call, running_link);
		end_running_call(runner, call, &result);
	}
	for (uint32_t i = 0; i < runner->n_workers; i++)
		while ((call = worker_running(runner->workers[i])))
			end_running_call(runner, call, &result);
	go_to_rest(runner);
}

void runner_retire(struct runner *runner)
{
	check(!runner->is_retired);
	runner->is_retired = true;
	for (uint32_t i = 0; i < runner->n_workers; i++)
		worker_replace(runner->workers[i]);
	go_to_rest(runner);
}

void runner_dismiss_idle(struct runner *runner)
{
	struct worker *worker;

	if (runner->n_waiting > 0)
		return;
	while ((worker = find_worker(runner, WORKER_IDLE)))
		worker_dismiss(worker);
	note_state(runner);
}

bool runner_has_reaped_all(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->n_workers; i++)
		if (!worker_has_reaped_all(runner->workers[i]))
			return false;
	return true;
}

void runner_prestart(struct runner *runner)
{
	if (!runner->options.executor && runner_n_hosts(runner) == 0 && !runner->is_quarantined)
		start_worker(runner, find_worker(runner, WORKER_FREE), RUNNER_START_PRESTART);
}

void runner_forgive(struct runner *runner)
{
	crashes_forgive(&runner->crashes);
	if (runner->is_quarantined)
		runner->troubles.reason[0] = '\0';
	runner->is_quarantined = false;
	note_state(runner);
}

struct package *runner_package(const struct runner *runner)
{
	return runner->package;
}

enum runner_state runner_state(const struct runner *runner)
{
	if (runner->is_quarantined)
		return RUNNER_QUARANTINED;
	if (count_loaded(runner) > 0 || runner->options.executor)
		return RUNNER_READY;
	if (count_starting(runner) > 0)
		return RUNNER_STARTING;
	return loop_timer_is_armed(&runner->restart) ? RUNNER_RESTARTING : RUNNER_IDLE;
}

const struct output_tail *runner_output(const struct runner *runner)
{
	return &runner->output;
}

int64_t runner_state_since_ns(const struct runner *runner)
{
	return runner->state_since_ns;
}

const char *runner_reason(const struct runner *runner)
{
	return runner->troubles.reason[0] ? runner->troubles.reason : NULL;
}

unsigned int runner_n_hosts(const struct runner *runner)
{
	return count_starting(runner) + count_loaded(runner);
}

struct debt *runner_debt(struct runner *runner)
{
	return &runner->debt;
}

uint32_t runner_n_waiting(const struct runner *runner)
{
	return runner->n_waiting;
}

uint32_t runner_n_running(const struct runner *runner)
{
	return runner->n_running;
}

uint32_t runner_n_queued(const struct runner *runner)
{
	return runner->n_waiting + (runner->options.executor ? runner->n_running : 0);
}

uint32_t runner_n_calls(const struct runner *runner)
{
	return runner->n_waiting + runner->n_running;
}

double runner_cooldown_s(const struct runner *runner, const struct tool *tool)
{
	return tool->cooldown_s > 0 ? cooldowns_left_s(&runner->cooldowns, tool) : 0;
}

void runner_count_refused(struct runner *runner, const struct tool *tool, const char *code)
{
	struct statistics *statistics = tool_statistics_take(&runner->statistics, tool->index);

	if (!statistics)
		return;
	statistics->calls++;
	statistics_note_failure(statistics, code, NULL, 0);
}

void runner_count(struct runner *runner, const struct tool *tool, uint64_t duration_us,
	const char *code, const char *text, size_t size)
{
	struct statistics *statistics = tool_statistics_take(&runner->statistics, tool->index);

	if (!statistics)
		return;
	statistics->calls++;
	histogram_add(&statistics->durations_us, duration_us);
	if (code)
		statistics_note_failure(statistics, code, text, size);
}

const struct statistics *runner_statistics(const struct runner *runner, const struct tool *tool)
{
	return tool_statistics_find(&runner->statistics, tool->index);
}

struct runner *runner_hold(struct runner *runner)
{
	runner->n_holders++;
	return runner;
}

bool runner_release(struct runner *runner)
{
	check(runner->n_holders > 0);
	return --runner->n_holders == 0;
}
