/* SPDX-License-Identifier: Apache-2.0 */
#include "core/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"

#define BACKOFF_FIRST_MS 50
#define BACKOFF_LAST_MS	 5000
#define NS_PER_MS	 UINT64_C(1000000)
#define MS_PER_S	 UINT64_C(1000)
#define S_PER_NS	 1e-9
#define WHY_BYTES	 512

struct runner {
	struct loop *loop;
	struct toolbox *toolbox;
	struct runner_options options;
	struct runner_handler handler;
	void *data;
	enum runner_state state;
	struct host *host;
	struct runner_call *running;
	struct runner_call *first; /* of those that wait */
	struct runner_call **last_link;
	uint32_t n_waiting;
	struct loop_timer restart; /* RESTARTING: when the back-off is over */
	struct loop_timer rest;	   /* READY and nothing to do: when to stop; retired: when to go */
	uint64_t backoff_ms;	   /* before the next start; 0: at once */
	uint64_t crashes_ms[RUNNER_CRASHES_MAX]; /* a ring of when */
	uint64_t n_crashes;			 /* since it was forgiven */
	uint64_t *ended_ns; /* per tool, when its last run ended; NULL: no tool cools down */
	bool is_retired;
	char why[WHY_BYTES];
	struct statistics statistics;
};

static void start(struct runner *runner);

/* ── clocks ──────────────────────────────────────────────────────────────────────────────────── */

static void clock_run(struct runner_call *call)
{
	loop_timer_arm(&call->clock, call->left_ms);
}

static void clock_stand(struct runner_call *call)
{
	uint64_t now_ns = clock_now_ns();

	if (!loop_timer_is_armed(&call->clock))
		return;
	call->left_ms =
		call->clock.due_ns > now_ns ? (call->clock.due_ns - now_ns) / NS_PER_MS : 0;
	loop_timer_disarm(&call->clock);
}

/* ── the queue ───────────────────────────────────────────────────────────────────────────────── */

static void push(struct runner *runner, struct runner_call *call)
{
	call->next = NULL;
	*runner->last_link = call;
	runner->last_link = &call->next;
	runner->n_waiting++;
}

static void unlink_call(struct runner *runner, struct runner_call *call)
{
	struct runner_call **link = &runner->first;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	if (runner->last_link == &call->next)
		runner->last_link = link;
	runner->n_waiting--;
}

static void go_to_rest(struct runner *runner)
{
	if (runner->running || runner->first)
		return;
	if (runner->is_retired)
		loop_timer_arm(&runner->rest, 0);
	else if (runner->host && (!runner->toolbox->limits.prestart ||
					 runner->toolbox->limits.has_idle_s))
		loop_timer_arm(&runner->rest, runner->options.idle_s * MS_PER_S);
}

/* @call has left the queue and the host: tell its owner. */
static void end_call(struct runner *runner, struct runner_call *call,
	const struct runner_ending *ending)
{
	loop_timer_disarm(&call->clock);
	if (runner->ended_ns)
		runner->ended_ns[call->tool] = clock_now_ns();
	runner->handler.done(runner->data, call, ending);
}

static void end_waiting(struct runner *runner, enum runner_outcome outcome, const char *why)
{
	struct runner_ending ending = {.outcome = outcome, .text = why, .size = strlen(why)};

	while (runner->first) {
		struct runner_call *call = runner->first;

		unlink_call(runner, call);
		loop_timer_disarm(&call->clock);
		runner->handler.done(runner->data, call, &ending);
	}
}

static void run_call(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size)
{
	int r;

	runner->running = call;
	loop_timer_disarm(&runner->rest);
	r = host_invoke(runner->host, call->id, call->tool, arguments, size);
	/* A host that cannot be written to has ended, and says so in a moment: the call is its last. */
	if (r < 0)
		log_debug("%s: the host takes no call: %s", runner->toolbox->id, strerror(-r));
}

static void run_next(struct runner *runner)
{
	struct runner_call *call = runner->first;

	if (runner->state != RUNNER_READY || runner->running || !call)
		return;
	unlink_call(runner, call);
	run_call(runner, call, call->arguments.data, call->arguments.size);
}

/* ── the host ────────────────────────────────────────────────────────────────────────────────── */

static void host_is_loaded(void *data, const char *loaded, size_t size)
{
	struct runner *runner = data;

	(void)loaded;
	(void)size;
	runner->state = RUNNER_READY;
	runner->why[0] = '\0';
	for (struct runner_call *call = runner->first; call; call = call->next)
		clock_run(call);
	run_next(runner);
	go_to_rest(runner);
}

static void host_has_answered(
	void *data, uint64_t id, const struct json_tape *result, const char *text, size_t size)
{
	struct runner *runner = data;
	struct runner_call *call = runner->running;
	struct runner_ending ending = {
		.outcome = result ? RUNNER_RESULT : RUNNER_FAILED,
		.text = text,
		.size = size,
		.result = result,
	};

	/* service/host has checked the id; what it lets through is the call that runs. */
	if (!call || call->id != id)
		return;
	runner->running = NULL;
	runner->backoff_ms = 0;
	run_next(runner);
	end_call(runner, call, &ending);
	go_to_rest(runner);
}

/* Note a crash; whether there were too many of them in the window. */
static bool is_one_too_many(struct runner *runner)
{
	uint64_t now_ms = clock_now_ms();
	uint32_t limit = runner->options.crash_limit;
	uint64_t oldest_ms;

	runner->crashes_ms[runner->n_crashes++ % RUNNER_CRASHES_MAX] = now_ms;
	if (limit == 0 || runner->n_crashes < limit)
		return false;
	oldest_ms = runner->crashes_ms[(runner->n_crashes - limit) % RUNNER_CRASHES_MAX];
	return now_ms - oldest_ms <= runner->options.crash_window_s * MS_PER_S;
}

static void quarantine(struct runner *runner)
{
	snprintf(runner->why, sizeof(runner->why),
		"quarantined after %u crashes within %llu s; a reload lets it try again",
		runner->options.crash_limit, (unsigned long long)runner->options.crash_window_s);
	log_error("Toolbox %s is %s", runner->toolbox->id, runner->why);
	runner->state = RUNNER_QUARANTINED;
	end_waiting(runner, RUNNER_UNAVAILABLE, runner->why);
}

/* Have a host again for those that wait, after the back-off. */
static void restart(struct runner *runner)
{
	uint64_t delay_ms = runner->backoff_ms;

	runner->backoff_ms = delay_ms == 0 ? BACKOFF_FIRST_MS : 2 * delay_ms;
	if (runner->backoff_ms > BACKOFF_LAST_MS)
		runner->backoff_ms = BACKOFF_LAST_MS;
	runner->state = RUNNER_RESTARTING;
	loop_timer_arm(&runner->restart, delay_ms);
}

static void restart_is_due(void *data)
{
	struct runner *runner = data;

	if (runner->first)
		start(runner);
	else
		runner->state = RUNNER_IDLE;
	go_to_rest(runner);
}

static void describe_end(struct runner *runner, const struct host_end *end)
{
	switch (end->reason) {
	case HOST_EXITED:
		snprintf(runner->why, WHY_BYTES, "its host ended with exit status %d", end->exit_code);
		break;
	case HOST_SIGNALED:
		snprintf(runner->why, WHY_BYTES, "its host died (%s)", host_signal_name(end->signal));
		break;
	case HOST_MALFORMED:
		snprintf(runner->why, WHY_BYTES, "its host sent a malformed frame");
		break;
	case HOST_TOO_LARGE:
		snprintf(runner->why, WHY_BYTES, "its host sent %zu bytes, %zu are allowed",
			end->actual, end->max);
		break;
	case HOST_REFUSED:
		snprintf(runner->why, WHY_BYTES, "it cannot be loaded: %s", end->message);
		break;
	case HOST_TOO_SLOW:
		snprintf(runner->why, WHY_BYTES, "its host did not start within %llu ms",
			(unsigned long long)runner->options.start_timeout_ms);
		break;
	}
}

static void host_has_ended(void *data, const struct host_end *end)
{
	struct runner *runner = data;
	struct runner_call *call = take_ptr(runner->running);
	bool was_starting = runner->state == RUNNER_STARTING;
	struct runner_ending ending = {
		.outcome = end->reason == HOST_TOO_LARGE ? RUNNER_TOO_LARGE : RUNNER_CRASHED,
		.end = end,
	};
	bool is_one = end->reason != HOST_TOO_LARGE && is_one_too_many(runner);

	describe_end(runner, end);
	log_warning("Toolbox %s: %s", runner->toolbox->id, runner->why);
	if (call)
		end_call(runner, call, &ending);
	host_free(take_ptr(runner->host));
	if (is_one) {
		quarantine(runner);
	} else {
		if (was_starting)
			end_waiting(runner, RUNNER_UNAVAILABLE, runner->why);
		restart(runner);
	}
	go_to_rest(runner);
}

static void start(struct runner *runner)
{
	static const struct host_handler handler = {
		.loaded = host_is_loaded,
		.answered = host_has_answered,
		.ended = host_has_ended,
	};
	struct host_options options = {
		.program = runner->options.host_program,
		.toolbox_id = runner->toolbox->id,
		.load = runner->toolbox->load,
		.load_size = runner->toolbox->load_size,
		.output_max = runner->options.output_max,
		.stderr_max = runner->options.stderr_max,
		.start_timeout_ms = runner->options.start_timeout_ms,
	};
	int r;

	loop_timer_disarm(&runner->restart);
	for (struct runner_call *call = runner->first; call; call = call->next)
		clock_stand(call);
	runner->state = RUNNER_STARTING;
	r = host_spawn(runner->loop, &options, &handler, runner, &runner->host);
	if (r == 0)
		return;
	snprintf(runner->why, WHY_BYTES, "its host cannot be started (%s): %s",
		options.program, strerror(-r));
	log_error("Toolbox %s: %s", runner->toolbox->id, runner->why);
	runner->state = RUNNER_IDLE;
	end_waiting(runner, RUNNER_UNAVAILABLE, runner->why);
}

/* A deadline has passed. */
static void clock_has_run_out(void *data)
{
	struct runner_call *call = data;
	struct runner *runner = call->runner;
	struct runner_ending ending = {.outcome = RUNNER_TIMED_OUT};

	if (call != runner->running) {
		unlink_call(runner, call);
		runner->handler.done(runner->data, call, &ending);
		go_to_rest(runner);
		return;
	}
	runner->running = NULL;
	host_free(take_ptr(runner->host));
	runner->state = RUNNER_IDLE;
	end_call(runner, call, &ending);
	if (runner->first && runner->state == RUNNER_IDLE)
		start(runner);
	go_to_rest(runner);
}

static void rest_is_over(void *data)
{
	struct runner *runner = data;

	if (runner->running || runner->first)
		return;
	if (runner->is_retired) {
		runner->handler.drained(runner->data, runner);
		return;
	}
	host_free(take_ptr(runner->host));
	runner->state = RUNNER_IDLE;
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

static bool has_cooldown(const struct toolbox *toolbox)
{
	for (size_t i = 0; i < toolbox->n_tools; i++)
		if (toolbox->tools[i].cooldown_s > 0)
			return true;
	return false;
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
	runner->last_link = &runner->first;
	if (loop_timer_init(&runner->restart, loop, restart_is_due, runner) < 0 ||
		loop_timer_init(&runner->rest, loop, rest_is_over, runner) < 0)
		return -ENOMEM;
	if (has_cooldown(toolbox)) {
		runner->ended_ns = calloc(toolbox->n_tools, sizeof(*runner->ended_ns));
		if (!runner->ended_ns)
			return -ENOMEM;
	}
	*ret_runner = take_ptr(runner);
	return 0;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	host_free(runner->host);
	loop_timer_deinit(&runner->restart);
	loop_timer_deinit(&runner->rest);
	toolbox_unref(runner->toolbox);
	free(runner->ended_ns);
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
}

int runner_submit(struct runner *runner, struct runner_call *call, const char *arguments,
	size_t size, uint64_t timeout_ms)
{
	if (runner->state == RUNNER_QUARANTINED)
		return RUNNER_E_QUARANTINED;
	call->runner = runner;
	call->left_ms = timeout_ms;
	call->submitted_ns = clock_now_ns();
	if (runner->state == RUNNER_READY && !runner->running) {
		clock_run(call);
		run_call(runner, call, arguments, size);
		return 0;
	}
	if (runner->n_waiting >= runner->options.queue_max)
		return RUNNER_E_BUSY;
	buffer_reset(&call->arguments);
	buffer_append(&call->arguments, arguments, size);
	if (buffer_status(&call->arguments) < 0)
		return buffer_status(&call->arguments);
	push(runner, call);
	if (runner->state != RUNNER_STARTING)
		clock_run(call);
	if (runner->state == RUNNER_IDLE) {
		/* From the loop, so that done() never comes before this returns. */
		runner->state = RUNNER_RESTARTING;
		loop_timer_arm(&runner->restart, 0);
	}
	return 0;
}

void runner_end_all(struct runner *runner, const char *why)
{
	struct runner_call *call = take_ptr(runner->running);
	struct runner_ending ending = {
		.outcome = RUNNER_UNAVAILABLE,
		.text = why,
		.size = strlen(why),
	};

	if (call) {
		host_free(take_ptr(runner->host));
		runner->state = RUNNER_IDLE;
		end_call(runner, call, &ending);
	}
	end_waiting(runner, RUNNER_UNAVAILABLE, why);
	go_to_rest(runner);
}

void runner_retire(struct runner *runner)
{
	runner->is_retired = true;
	go_to_rest(runner);
}

void runner_prestart(struct runner *runner)
{
	if (runner->state == RUNNER_IDLE)
		start(runner);
}

void runner_forgive(struct runner *runner)
{
	runner->n_crashes = 0;
	runner->backoff_ms = 0;
	if (runner->state == RUNNER_QUARANTINED) {
		runner->state = RUNNER_IDLE;
		runner->why[0] = '\0';
	}
}

struct toolbox *runner_toolbox(const struct runner *runner)
{
	return runner->toolbox;
}

enum runner_state runner_state(const struct runner *runner)
{
	return runner->state;
}

const char *runner_state_name(enum runner_state state)
{
	static const char *const names[] = {
		[RUNNER_IDLE] = "idle",
		[RUNNER_STARTING] = "starting",
		[RUNNER_READY] = "ready",
		[RUNNER_RESTARTING] = "restarting",
		[RUNNER_QUARANTINED] = "quarantined",
	};

	return names[state];
}

const char *runner_why(const struct runner *runner)
{
	return runner->why[0] ? runner->why : NULL;
}

unsigned int runner_n_hosts(const struct runner *runner)
{
	return runner->host != NULL;
}

uint32_t runner_n_waiting(const struct runner *runner)
{
	return runner->n_waiting;
}

uint32_t runner_n_calls(const struct runner *runner)
{
	return runner->n_waiting + (runner->running != NULL);
}

double runner_cooldown_s(const struct runner *runner, const struct tool *tool)
{
	double passed_s;

	if (tool->cooldown_s <= 0 || !runner->ended_ns || runner->ended_ns[tool->index] == 0)
		return 0;
	passed_s = (double)(clock_now_ns() - runner->ended_ns[tool->index]) * S_PER_NS;
	return passed_s < tool->cooldown_s ? tool->cooldown_s - passed_s : 0;
}

struct statistics *runner_statistics(struct runner *runner)
{
	return &runner->statistics;
}
