/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/gate/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/arguments.h"
#include "catalogue/tool_schemas.h"
#include "json/document.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "loader/gate/close.h"
#include "loader/settings.h"
#include "runner/failure.h"
#include "runner/runner.h"
#include "runner/worker.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/debt.h"
#include "util/text/utf8.h"

/* The most characters of a value, or of a tool's own text, in a reason. */
#define SHOWN_CHARS 200

#define EXIT_BYTES 512

/* The factor of debt_charge() for the checks of results, as for the results of calls. */
#define RESULTS_FACTOR 4

/* An example. */
struct trial {
	const struct tool *tool;
	unsigned int number;    /* among the examples of the tool, from 1 */
	struct buffer args;     /* JSON text */
	struct buffer expected; /* JSON text; empty: any result */
	double tolerance;       /* see values_are_close() */
};

struct target {
	struct package *package;
	void *item;
	struct trial *trials;
	size_t n_trials;
};

/* A process, with the examples of a target. */
struct attempt {
	struct gate *gate;
	struct target *target; /* NULL: free for the next one */
	struct worker_options options;
	struct worker_counts counts;
	struct worker *worker;
	struct runner_call call;
	size_t next;     /* the trial under way, or the next one */
	uint64_t end_ms; /* when the time of all is over; 0: the process has not started */
	bool has_failed;
	struct debt debt;        /* for the time that the checks of results take */
	struct loop_timer step;  /* the next trial, or the end */
	struct loop_timer clock; /* the deadline of the trial */
};

struct gate {
	struct loop *loop;
	const char *host_program;
	const struct config *config;
	uint64_t all_ms; /* the time of all examples of a toolbox */
	struct schema_context *context;
	struct target *targets;
	size_t n_targets;
	size_t n_begun;
	struct attempt attempts[GATE_HOSTS_MAX];
	struct loop_timer work;
	gate_failed_function failed;
	gate_done_function done;
	void *data;
};

bool gate_is_for(enum toolbox_kind kind)
{
	return kind == KIND_NATIVE || kind == KIND_COMMAND;
}

/* ── reasons ─────────────────────────────────────────────────────────────────────────────────── */

static void append_clipped(struct buffer *out, const char *text, size_t size)
{
	size_t shown = utf8_prefix(text, size, SHOWN_CHARS);

	buffer_append(out, text, shown);
	buffer_append_string(out, shown < size ? "…" : "");
}

/* Report the failure of the target, for @reason about the trial under way; NULL: no memory. */
static void close_for(struct attempt *attempt, const struct buffer *reason)
{
	const struct trial *trial = &attempt->target->trials[attempt->next];
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "its gate is closed: example %u of '%s', ", trial->number,
		trial->tool->name);
	append_clipped(&text, trial->args.data, trial->args.size);
	buffer_append_string(&text, ": ");
	append_clipped(&text, buffer_text(reason), reason->size);
	buffer_fail_with(&text, reason);
	attempt->has_failed = true;
	attempt->gate->failed(
		attempt->target->item, buffer_terminate(&text) ? text.data : strerror(ENOMEM));
	loop_timer_arm(&attempt->step, 0);
}

static void close_with(struct attempt *attempt, const char *reason)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, reason);
	close_for(attempt, &text);
}

/* ── the result of an example ────────────────────────────────────────────────────────────────── */

/* Write why @result is no result of the tool of @trial, or nothing. 0 or a negative errno. */
static int check_output(struct attempt *attempt, const struct trial *trial,
	const struct call_result *result, struct buffer *reason)
{
	struct schema_context *context = attempt->gate->context;
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = tool_schemas_wake(trial->tool);
	const struct schema *schema = trial->tool->schemas->output.compiled;
	uint64_t spent_ns;

	r = r ? r : schema_validate(schema, context, result->tape, 0);
	if (r == SCHEMA_E_INVALID)
		r = schema_explain(schema, context, result->tape, 0, &report);
	if (r == SCHEMA_E_UNCHECKED)
		buffer_printf(reason, "its result %s", schema_stop_text(context));
	else if (report.n_violations > 0)
		schema_report_write_text(&report, "Result", reason);
	spent_ns = schema_spent_ns(context) + result->reading_ns;
	if (debt_is_due(spent_ns))
		debt_charge(&attempt->debt, clock_now_ns(), spent_ns, RESULTS_FACTOR);
	return r < 0 ? r : 0;
}

/* Write how @result differs from the expected result of @trial, or nothing. 0 or -ENOMEM. */
static int compare(
	const struct trial *trial, const struct call_result *result, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape expected = {0};
	int r;

	if (trial->expected.size == 0)
		return 0;
	r = json_tape_read(&expected, trial->expected.data, trial->expected.size,
		JSON_DOCUMENT_DEPTH_MAX, NULL);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	if (values_are_close(&expected, 0, result->tape, 0, trial->tolerance))
		return 0;
	buffer_append_string(reason, "expected ");
	append_clipped(reason, trial->expected.data, trial->expected.size);
	buffer_append_string(reason, ", came ");
	append_clipped(reason, result->text, result->size);
	return 0;
}

/* A worker's done(). */
static void has_answered(void *data, struct worker *worker, struct runner_call *call,
	const struct call_result *result)
{
	struct attempt *attempt = data;
	const struct trial *trial = &attempt->target->trials[attempt->next];
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r = 0;

	(void)worker, (void)call;
	loop_timer_disarm(&attempt->clock);
	if (result->outcome == CALL_RESULT) {
		r = check_output(attempt, trial, result, &reason);
		if (r == 0 && reason.size == 0)
			r = compare(trial, result, &reason);
	} else {
		buffer_append_string(&reason, "failed: ");
		failure_write(result, &reason);
	}
	if (r < 0) {
		close_with(attempt, strerror(-r));
	} else if (reason.size > 0) {
		close_for(attempt, &reason);
	} else {
		attempt->next++;
		loop_timer_arm(&attempt->step,
			debt_wait_ns(&attempt->debt, clock_now_ns(), DEBT_CREDIT_NS) / NS_PER_MS);
	}
}

/* ── one toolbox ─────────────────────────────────────────────────────────────────────────────── */

static void end_attempt(struct attempt *attempt)
{
	loop_timer_disarm(&attempt->step);
	loop_timer_disarm(&attempt->clock);
	worker_free(take_ptr(attempt->worker));
	attempt->target = NULL;
	loop_timer_arm(&attempt->gate->work, 0);
}

/* A worker's ended(): of itself. */
static void worker_has_left(void *data, struct worker *worker, const struct host_exit *exit)
{
	struct attempt *attempt = data;
	char text[EXIT_BYTES];

	while (worker_take_lost(worker))
		;
	loop_timer_disarm(&attempt->clock);
	/* After the last answer the end of a host is no reason against the toolbox. */
	if (attempt->next == attempt->target->n_trials) {
		loop_timer_arm(&attempt->step, 0);
		return;
	}
	host_describe_exit(exit, text, sizeof(text));
	close_with(attempt, exit->reason == HOST_REFUSED ? exit->message : text);
}

static void time_is_over(void *data)
{
	struct attempt *attempt = data;
	cleanup(buffer_deinit) struct buffer reason = {0};

	worker_cancel(attempt->worker, &attempt->call, true);
	if (clock_now_ms() >= attempt->end_ms)
		buffer_printf(&reason, "all examples together take longer than %llu ms",
			(unsigned long long)attempt->gate->all_ms);
	else
		buffer_printf(&reason, "it has not answered within its deadline of %llu ms",
			(unsigned long long)attempt->call.left_ms);
	close_for(attempt, &reason);
}

/* Send @trial to the idle worker with the JSON text of @arguments. */
static void call_tool(
	struct attempt *attempt, const struct trial *trial, const struct arguments *arguments)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t allowed_ms = settings_timeout_ms(attempt->gate->config, trial->tool);
	uint64_t left_ms = attempt->end_ms > now_ms ? attempt->end_ms - now_ms : 0;
	struct runner_call *call = &attempt->call;
	int r;

	call->id++;
	call->tool = trial->tool->index;
	call->left_ms = allowed_ms < left_ms ? allowed_ms : left_ms;
	r = worker_run(attempt->worker, call, arguments->json, arguments->size);
	if (r < 0) {
		close_with(attempt, strerror(-r));
		return;
	}
	loop_timer_arm(&attempt->clock, call->left_ms);
}

/* Check the arguments of the next trial like the arguments of a call, and call its tool. */
static void begin_trial(struct attempt *attempt)
{
	const struct trial *trial = &attempt->target->trials[attempt->next];
	const struct config_limits *limits = &attempt->gate->config->limits;
	const struct arguments_limits bounds = {
		.bytes = limits->args_bytes, .depth = limits->depth};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(arguments_deinit) struct arguments arguments = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r = json_tape_read(
		&tape, trial->args.data, trial->args.size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	r = r > 0 ? -EINVAL : r;
	r = r ? r
	      : arguments_check(&arguments, trial->tool, &tape, 0, attempt->gate->context, &bounds);
	if (r == 0)
		call_tool(attempt, trial, &arguments);
	else if (r == ARGUMENTS_E_INVALID)
		schema_report_write_text(&arguments.report, "Parameters", &reason);
	else if (r > 0)
		buffer_append_string(&reason, "its arguments are larger than calls may have");
	else
		buffer_append_string(&reason, strerror(-r));
	if (r != 0)
		close_for(attempt, &reason);
}

static void take_step(void *data)
{
	struct attempt *attempt = data;

	if (!attempt->has_failed && attempt->next < attempt->target->n_trials)
		begin_trial(attempt);
	else if (!attempt->has_failed && worker_state(attempt->worker) == WORKER_IDLE)
		/* Let deinit() end the work begun by init(). */
		worker_dismiss(attempt->worker);
	else
		end_attempt(attempt);
}

/* A worker's ready(): it has started, or has read what was sent. */
static void is_ready(void *data)
{
	struct attempt *attempt = data;

	if (attempt->end_ms > 0)
		return;
	attempt->end_ms = clock_now_ms() + attempt->gate->all_ms;
	loop_timer_arm(&attempt->step, 0);
}

static void has_progressed(void *data, struct runner_call *call, const struct json_tape *progress)
{
	(void)data, (void)call, (void)progress;
}

static void ignore_change(void *data)
{
	(void)data;
}

static void is_reaped(void *data, const struct host_exit *exit)
{
	(void)exit;
	end_attempt(data);
}

static void begin_target(struct attempt *attempt, struct target *target)
{
	static const struct worker_handler handler = {
		.ready = is_ready,
		.done = has_answered,
		.progressed = has_progressed,
		.stale = ignore_change,
		.ended = worker_has_left,
		.reaped = is_reaped,
	};
	const struct gate *gate = attempt->gate;
	int r;

	attempt->target = target;
	attempt->next = 0;
	attempt->end_ms = 0;
	attempt->has_failed = false;
	attempt->debt = (struct debt){0};
	attempt->counts = (struct worker_counts){.yield = true};
	attempt->options =
		settings_worker_options(gate->config, target->package, gate->host_program);
	r = worker_new(gate->loop, target->package, &attempt->options, &handler, attempt,
		&attempt->counts, &attempt->worker);
	r = r ? r : worker_start(attempt->worker);
	if (r < 0)
		close_with(attempt, strerror(-r));
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

/* Keep the processes busy; call done() when nothing is left. */
static void keep_busy(void *data)
{
	struct gate *gate = data;
	bool is_busy = false;

	for (size_t i = 0; i < GATE_HOSTS_MAX; i++) {
		struct attempt *attempt = &gate->attempts[i];

		if (!attempt->target && gate->n_begun < gate->n_targets)
			begin_target(attempt, &gate->targets[gate->n_begun++]);
		is_busy = is_busy || attempt->target;
	}
	if (!is_busy)
		gate->done(gate->data);
}

static void free_target(struct target *target)
{
	for (size_t i = 0; i < target->n_trials; i++) {
		buffer_deinit(&target->trials[i].args);
		buffer_deinit(&target->trials[i].expected);
	}
	free(target->trials);
}

static int init_attempt(struct gate *gate, struct attempt *attempt)
{
	int r = runner_call_init(&attempt->call, gate->loop);

	attempt->gate = gate;
	r = r ? r : loop_timer_init(&attempt->step, gate->loop, take_step, attempt);
	return r ? r : loop_timer_init(&attempt->clock, gate->loop, time_is_over, attempt);
}

int gate_new(struct loop *loop, const char *host_program, const struct config *config,
	uint64_t all_ms, struct gate **ret_gate)
{
	cleanup(gate_cleanup) struct gate *gate = calloc(1, sizeof(*gate));
	int r = 0;

	if (!gate)
		return -ENOMEM;
	gate->loop = loop;
	gate->host_program = host_program;
	gate->config = config;
	gate->all_ms = all_ms;
	gate->context = schema_context_new();
	if (!gate->context)
		return -ENOMEM;
	schema_context_limit_patterns(gate->context, config->limits.pattern_steps);
	schema_context_limit_time(gate->context, config->limits.check_ms);
	for (size_t i = 0; r == 0 && i < GATE_HOSTS_MAX; i++)
		r = init_attempt(gate, &gate->attempts[i]);
	r = r ? r : loop_timer_init(&gate->work, loop, keep_busy, gate);
	if (r < 0)
		return r;
	*ret_gate = take_ptr(gate);
	return 0;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	for (size_t i = 0; i < GATE_HOSTS_MAX; i++) {
		struct attempt *attempt = &gate->attempts[i];

		worker_free(attempt->worker);
		runner_call_deinit(&attempt->call);
		loop_timer_deinit(&attempt->step);
		loop_timer_deinit(&attempt->clock);
	}
	loop_timer_deinit(&gate->work);
	for (size_t i = 0; i < gate->n_targets; i++)
		free_target(&gate->targets[i]);
	free(gate->targets);
	schema_context_free(gate->context);
	free(gate);
}

/* Add the example at @at of @tape, the definition of @tool. 0 or -ENOMEM. */
static int add_trial(struct target *target, const struct tool *tool, unsigned int number,
	const struct json_tape *tape, uint32_t at)
{
	uint32_t args = json_find(tape, at, "args");
	uint32_t result = json_find(tape, at, "result");
	uint32_t tolerance = json_find(tape, at, "tolerance");
	struct trial *trial;

	if (array_grow(target->trials, target->n_trials) < 0)
		return -ENOMEM;
	trial = &target->trials[target->n_trials++];
	*trial = (struct trial){.tool = tool, .number = number};
	if (args != JSON_NONE)
		json_write_compact(&trial->args, tape, args);
	else
		buffer_append_string(&trial->args, "{}");
	if (result != JSON_NONE)
		json_write_compact(&trial->expected, tape, result);
	if (tolerance != JSON_NONE)
		json_number_f64(tape, tolerance, &trial->tolerance);
	return buffer_status(&trial->args) < 0 || buffer_status(&trial->expected) < 0 ? -ENOMEM : 0;
}

/* Add the examples of @tool. 0 or -ENOMEM. */
static int add_examples(struct target *target, const struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	unsigned int number = 0;
	uint32_t examples;
	int r = json_tape_read(
		&tape, tool->definition, tool->definition_size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	if (r != 0)
		return -ENOMEM;
	examples = json_find(&tape, 0, "examples");
	if (examples == JSON_NONE)
		return 0;
	json_each(at, &tape, examples) {
		r = add_trial(target, tool, ++number, &tape, at);
		if (r < 0)
			break;
	}
	return r;
}

/* Return whether the gate is for @tool: as with `toolboxctl check --run`, nothing but what reads is
 * called unasked. */
static bool is_tried(const struct config *config, const struct tool *tool)
{
	return !tool->has_passed_gate && tool->risk == TOOL_READ && settings_offer(config, tool);
}

bool gate_awaits(const struct config *config, const struct package *package)
{
	for (size_t i = 0; i < package->n_tools; i++) {
		const struct tool *tool = package->tools[i];
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		uint32_t examples;

		if (!is_tried(config, tool))
			continue;
		/* Without memory gate_add() fails. */
		if (json_tape_read(&tape, tool->definition, tool->definition_size,
			    JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
			return true;
		examples = json_find(&tape, 0, "examples");
		if (examples != JSON_NONE && json_count(&tape, examples) > 0)
			return true;
	}
	return false;
}

void gate_note(const struct config *config, const struct package *package)
{
	for (size_t i = 0; i < package->n_tools; i++)
		if (!package->tools[i]->has_passed_gate)
			package->tools[i]->has_passed_gate =
				settings_offer(config, package->tools[i]);
}

int gate_add(struct gate *gate, struct package *package, void *item)
{
	struct target target = {.package = package, .item = item};
	int r = array_grow(gate->targets, gate->n_targets);

	for (size_t i = 0; r == 0 && i < package->n_tools; i++)
		if (is_tried(gate->config, package->tools[i]))
			r = add_examples(&target, package->tools[i]);
	if (r == 0 && target.n_trials > 0)
		gate->targets[gate->n_targets++] = target;
	else
		free_target(&target);
	return r;
}

bool gate_is_empty(const struct gate *gate)
{
	return gate->n_targets == 0;
}

void gate_start(struct gate *gate, gate_failed_function failed, gate_done_function done, void *data)
{
	gate->failed = failed;
	gate->done = done;
	gate->data = data;
	loop_timer_arm(&gate->work, 0);
}
