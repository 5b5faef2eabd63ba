/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/invocation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/tool_schemas.h"
#include "core/call/given.h"
#include "core/request/request.h"
#include "core/request/checks.h"
#include "core/request/cut_content.h"
#include "core/request/errors.h"
#include "policy/approval.h"
#include "json/document.h"
#include "json/writer.h"
#include "runner/failure.h"
#include "util/cleanup.h"
#include "util/clock.h"

/*
 * The way of a call, from its checks to the answer.
 *
 *   request ─ tool ─ arguments ─ cooldown ─ approval ─ open ──▶ in flight ──▶ runner
 *      │                 the first that fails                                  │
 *      ▼                                                                       ▼
 *   its error ──▶ sent ◀── events ◀── fits in a frame? ◀─┬── result ─ output schema ─ size guard
 *                   │                                    └── failure, crash, timeout, …: its code
 *                   └──▶ close
 *
 * The checks are made in that order (contract.md, Order of checks). Three sides enter here:
 *
 *   topics     invocation_begin ────┬─ run ──────────────────────────┐
 *                                   ├─ ask a person ──▶ approval     ├─▶ runner
 *              invocation_validate ─┴─ ask the tool first ───────────┘
 *   approval   invocation_decided ─── checks again ─ run, or refuse
 *   runner     invocation_done ────── answer, or ask a person now
 *
 * Other files have ovos.tools.cancel (core/call/cancel.c), questions (core/call/approval.c), and
 * requests in the waiting room (core/request/waiting.c).
 */

static const char unrecorded[] = "its line in the audit log cannot be written (audit.required)";

/* The factor of debt_charge() for the results of a package: a quarter of the loop. */
#define RESULTS_FACTOR 4

/* ── the record ──────────────────────────────────────────────────────────────────────────────── */

/* Write the error of a cancelled call: with its caller's id @call_id, or else with ours. */
static void write_cancelled(
	struct answer *answer, const struct buffer *call_id, uint32_t process, uint64_t number)
{
	char id[CALL_ID_BYTES];

	call_id_format(process, number, id);
	errors_write_cancelled(answer, call_id, id);
}

/* Write the caller into the record of @call. */
static void write_caller(struct call *call, const struct request_scope *scope)
{
	call->door = scope->caller.door;
	request_scope_keep_origin(scope, &call->call_id, &call->source);
	request_keep_text(&scope->caller.session_id, &call->session);
	buffer_reset(&call->trace);
	request_scope_write_trace(scope, &call->trace);
}

/* Begin the record of @call for the audit log. */
static void begin_record(const struct invoker *invoker, struct call *call,
	const struct request_scope *scope, bool has_arguments)
{
	cleanup(buffer_deinit) struct buffer profile = {0};
	cleanup(buffer_deinit) struct buffer id = {0};

	call_write_id(call, &id);
	policy_write_profile(invoker->offer->policy, &scope->caller, &profile);
	audit_record_begin(invoker->recorder, &call->record, scope, call->tool, &id, &call->trace,
		profile.size > 0 ? buffer_terminate(&profile) : NULL, has_arguments);
}

/* ── the end of a call ───────────────────────────────────────────────────────────────────────── */

/* Return the time until results of @tool are checked again; 0: they are now. */
static uint64_t results_wait_ns(const struct tool *tool, struct runner *runner)
{
	if (!tool->schemas->output.was_costly)
		return 0;
	return debt_wait_ns(runner_debt(runner), clock_now_ns(), DEBT_CREDIT_NS);
}

/* Write the error of a result for which schema_validate() has returned @status. Returns its
 * code. */
static int write_output_error(struct call *call, const struct call_result *result, int status)
{
	const struct invoker *invoker = call->invoker;
	cleanup(schema_report_deinit) struct schema_report report = {0};

	/* Without memory the report stays empty: the code is enough. */
	if (status == SCHEMA_E_INVALID)
		status = schema_explain(call->tool->schemas->output.compiled, invoker->context,
			result->tape, 0, &report);
	if (status == SCHEMA_E_UNCHECKED) {
		errors_write_unchecked(&call->answer, call->tool, "The output of",
			schema_stop_text(invoker->context));
		return ANSWER_TOO_LARGE;
	}
	errors_write_invalid_output(
		&call->answer, call->tool, &report, invoker->config->result_max_chars);
	return ANSWER_INVALID_OUTPUT;
}

/* Check the result against the tool's output schema, unless its host has done that, and write the
 * error if there is one. Returns its code, or -1. The time, with the time of reading, is charged to
 * the package of the tool, not to the caller. */
static int check_result(struct call *call, const struct call_result *result)
{
	struct schema_context *context = call->invoker->context;
	struct tool_schema *output = &call->tool->schemas->output;
	bool is_judged = kind_facts(call->package->kind)->judges;
	int r = is_judged ? 0 : schema_validate(output->compiled, context, result->tape, 0);
	int code = r != 0 ? write_output_error(call, result, r) : -1;
	uint64_t spent_ns = (is_judged ? 0 : schema_spent_ns(context)) + result->reading_ns;

	if (debt_is_due(spent_ns)) {
		output->was_costly = true;
		debt_charge(runner_debt(call->runner_call.runner), clock_now_ns(), spent_ns,
			RESULTS_FACTOR);
	}
	return code;
}

/* Write the result, cut by the size guard. */
static void write_guarded(
	const struct call *call, const struct call_result *result, struct buffer *out)
{
	uint32_t max = call->tool->result_max_chars;

	if (max == 0)
		max = call->invoker->config->result_max_chars;
	if (call->tool->has_content)
		cut_content_write(out, result->tape, result->text, result->size, max);
	else
		answer_write_result(out, result->text, result->size, max);
}

/* Write the result if it satisfies the tool's output schema, else the error. Returns the code of
 * the error, or -1. */
static int write_valid_result(struct call *call, const struct call_result *result)
{
	int r = tool_schemas_wake(call->tool);
	int code;

	if (r != 0)
		return write_output_error(call, result, r);
	if (results_wait_ns(call->tool, call->runner_call.runner) > 0) {
		errors_write_unchecked(&call->answer, call->tool, "The output of",
			"cannot be checked: the results of its toolbox take too long to check");
		return ANSWER_TOO_LARGE;
	}
	code = check_result(call, result);
	if (code >= 0)
		return code;
	call->answer.has_content = call->tool->has_content;
	write_guarded(call, result, answer_member(&call->answer, "result"));
	return -1;
}

/* Return the time of @result, a timeout, else the deadline of @call. */
static uint64_t passed_ms(const struct call *call, const struct call_result *result)
{
	return result->timeout_ms ? result->timeout_ms : call->timeout_ms;
}

/* Write the outcome of @call. Returns the code of the error, or -1. */
static int write_outcome(struct call *call, const struct call_result *result)
{
	const struct tool *tool = call->tool;
	struct answer *answer = &call->answer;
	uint32_t max = call->invoker->config->result_max_chars;

	switch (result->outcome) {
	case CALL_RESULT:
		return write_valid_result(call, result);
	case CALL_FAILED:
		errors_write_failure(
			answer, tool, result->text, result->size, result->refused, max);
		return ANSWER_TOOL_FAILED;
	case CALL_ERROR:
		return errors_write_reported(answer, tool, result->tape, result->refused, max);
	case CALL_TIMED_OUT:
		errors_write_timeout(answer, tool, passed_ms(call, result), result->text);
		return ANSWER_TIMEOUT;
	case CALL_CANCELLED:
		write_cancelled(answer, &call->call_id, call->process, call->runner_call.id);
		return ANSWER_CANCELLED;
	case CALL_CRASHED:
		errors_write_crash(answer, tool, result->exit);
		return ANSWER_HOST_CRASHED;
	case CALL_TOO_LARGE:
		errors_write_too_large(answer, tool, "Too large output of", result->exit->actual,
			result->exit->max, "bytes");
		return ANSWER_TOO_LARGE;
	case CALL_COOLING:
		errors_write_cooldown(
			answer, tool, runner_cooldown_s(call->runner_call.runner, tool));
		return ANSWER_COOLDOWN;
	case CALL_UNAVAILABLE:
		errors_write_unavailable(answer, tool, result->text);
		return ANSWER_UNAVAILABLE;
	case CALL_DENIED:
		errors_write_refused(answer, tool, result->text);
		return ANSWER_DENIED;
	}
	return -1;
}

/* Broadcast the end of @call. The answer, whose error text it repeats, has not been sent yet. */
static void announce_end(struct call *call, const struct call_result *result, uint64_t duration_us)
{
	const struct config *config = call->invoker->config;
	size_t error_size = 0;
	const char *error = answer_error_json(&call->answer, &error_size);
	cleanup(buffer_deinit) struct buffer cut = {0};

	/* The event has no more of the result than the answer. */
	if (!error && config->events_results)
		write_guarded(call, result, &cut);
	events_call_completed(call->invoker->events, call, (double)duration_us / US_PER_MS, error,
		error_size, cut.data, cut.size);
}

/* Count @call for ovos.tools.status. @code: as write_outcome() returns it. */
static void count_call(
	const struct call *call, const struct call_result *result, uint64_t duration_us, int code)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (code >= 0)
		failure_write(result, &text);
	runner_count(call->runner_call.runner, call->tool, duration_us,
		code >= 0 ? answer_code_name((enum answer_code)code) : NULL, text.data,
		buffer_status(&text) == 0 ? text.size : 0);
}

/* Append why @call has failed with @code, which is in its answer, as a JSON string. */
static void write_call_reason(const struct call *call, const struct call_result *result,
	enum answer_code code, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer crash = {0};

	if (code == ANSWER_HOST_CRASHED) {
		failure_write(result, &crash);
		buffer_fail_with(out, &crash);
		json_write_bytes_lossy(out, buffer_text(&crash), crash.size);
	} else if (code == ANSWER_TIMEOUT) {
		buffer_printf(out, "\"deadline of %llu ms\"",
			(unsigned long long)passed_ms(call, result));
	} else if (code != ANSWER_CANCELLED) {
		errors_write_reason(&call->answer, call->tool, out);
	}
}

/* Return what the end of a call, its error code or -1, shows of the server of its toolbox. */
static enum server_state server_state(int code)
{
	switch (code) {
	case -1:
	case ANSWER_TOOL_FAILED:
	case ANSWER_INVALID_OUTPUT:
		return SERVER_REACHED;
	case ANSWER_UNAVAILABLE:
		return SERVER_UNAVAILABLE;
	default:
		return SERVER_UNKNOWN;
	}
}

/* Answer @call, which has run. */
static void end_run(struct call *call, const struct call_result *result)
{
	struct invoker *invoker = call->invoker;
	uint64_t duration_us = (clock_now_ns() - call->runner_call.submitted_ns) / NS_PER_US;
	int code = write_outcome(call, result);
	struct account *before = bus_act_for(invoker->bus, call->account);
	cleanup(buffer_deinit) struct buffer reason = {0};

	if (!answer_make_fit(&call->answer, invoker->config->limits.frame_bytes,
		    "lower result_max_chars, or let the tool return less"))
		code = (int)call->answer.code;
	call->answer.is_oversized = code == ANSWER_TOO_LARGE;
	if (call->has_events)
		announce_end(call, result, duration_us);
	if (code >= 0)
		write_call_reason(call, result, (enum answer_code)code, &reason);
	answer_send(&call->answer, invoker->bus);
	count_call(call, result, duration_us, code);
	audit_record_write(invoker->recorder, &call->record, (double)duration_us / US_PER_MS,
		code >= 0 ? answer_code_name((enum answer_code)code) : "ok", NULL);
	history_add(invoker->history, call, duration_us, code, &reason);
	metrics_count_call(invoker->metrics, call->tool, duration_us, code);
	outages_note(invoker->outages, call->tool->toolbox->package, server_state(code));
	bus_act_for(invoker->bus, before);
	calls_close(invoker->calls, call);
}

void invocation_progressed(
	void *data, struct runner_call *runner_call, const struct json_tape *progress)
{
	struct call *call = container_of(runner_call, struct call, runner_call);
	struct account *before;

	(void)data;
	call_keep_progress(progress, &call->has_progress, &call->progress, &call->progress_text);
	address_progress(call->answer.address, progress);
	if (!(call->has_events || call->wants_progress) || !pace_take(&call->pace, clock_now_ms()))
		return;
	before = bus_act_for(call->invoker->bus, call->account);
	events_call_progress(call->invoker->events, call, progress);
	bus_act_for(call->invoker->bus, before);
}

/* ── checks ──────────────────────────────────────────────────────────────────────────────────── */

static void write_arguments_error(const struct invoker *invoker, const struct tool *tool,
	const struct arguments *arguments, int status, struct answer *answer)
{
	if (status == ARGUMENTS_E_INVALID)
		errors_write_invalid_arguments(
			answer, tool, &arguments->report, invoker->config->result_max_chars);
	else if (status == ARGUMENTS_E_TOO_LARGE)
		errors_write_too_large(answer, tool, "Too large arguments for", arguments->actual,
			arguments->max, arguments->limit);
	else if (status == ARGUMENTS_E_UNCHECKED)
		errors_write_unchecked(answer, tool, "The arguments for", arguments->stop);
	else
		errors_write_unavailable(answer, tool, strerror(-status));
}

static void write_validation(
	struct answer *answer, bool is_valid, const struct schema_report *report)
{
	answer_member_boolean(answer, "valid", is_valid);
	schema_report_write_json(report, answer_member(answer, "violations"));
}

/* Read and check the arguments of the request, unless that was done beside the loop. Returns the
 * result of arguments_check(). */
static int read_arguments(
	const struct invoker *invoker, const struct tool *tool, struct request_scope *scope)
{
	const struct arguments_limits limits = checks_limits(invoker->config);
	int r = scope->checking;

	if (scope->checked != tool)
		r = arguments_check(&scope->arguments, tool, scope->request.args_tape,
			scope->request.args, scope->context, &limits);
	arguments_log_changes(&scope->arguments, tool);
	if (checks_charge(invoker->bus, scope, scope->arguments.spent_ns))
		tool->schemas->arguments.was_costly = true;
	return r;
}

/* Return whether the arguments are good; else the error is written. */
static bool check_arguments(const struct invoker *invoker, const struct tool *tool,
	struct request_scope *scope, struct answer *answer)
{
	int r = read_arguments(invoker, tool, scope);
	enum run_llm run_llm = scope->arguments.run_llm;

	/* It is beside the result, and beside every error from here on. */
	if (run_llm != RUN_LLM_UNSAID) {
		answer_member_boolean(answer, "run_llm", run_llm == RUN_LLM_YES);
		answer_keep(answer);
	}
	if (r != 0)
		write_arguments_error(invoker, tool, &scope->arguments, r, answer);
	return r == 0;
}

/* Return whether a result of the tool could be checked now; else the error is written. */
static bool admit_result(const struct tool *tool, struct runner *runner, struct answer *answer)
{
	uint64_t wait_ns = results_wait_ns(tool, runner);

	if (wait_ns > 0)
		errors_write_results(answer, tool, wait_ns);
	return wait_ns == 0;
}

static bool check_cooldown(
	const struct runner *runner, const struct tool *tool, struct answer *answer)
{
	double left_s = runner_cooldown_s(runner, tool);

	if (left_s <= 0)
		return true;
	errors_write_cooldown(answer, tool, left_s);
	return false;
}

/* ── the beginning of a call ─────────────────────────────────────────────────────────────────── */

static void write_submit_error(
	struct answer *answer, int status, const struct tool *tool, const struct runner *runner)
{
	if (status == RUNNER_E_BUSY)
		errors_write_busy(answer, tool, runner_n_queued(runner));
	else if (status == RUNNER_E_QUARANTINED)
		errors_write_unavailable(answer, tool, runner_reason(runner));
	else
		errors_write_unavailable(answer, tool, strerror(-status));
}

/* Return a record for a call of @tool by @scope's caller; NULL with the error in @answer. */
static struct call *make_call(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	struct calls *calls = invoker->calls;
	struct call *call;

	if (calls->n_in_flight >= invoker->config->limits.in_flight) {
		errors_write_busy(answer, tool, calls->n_in_flight);
		return NULL;
	}
	call = calls_new(calls, tool);
	if (!call) {
		errors_write_unavailable(answer, tool, "out of memory");
		return NULL;
	}
	write_caller(call, scope);
	if (given_is_asked(call))
		given_write_caller(invoker->conversations, scope, call);
	call->invoker = invoker;
	call->wants_progress = scope->request.wants_progress;
	call->timeout_ms =
		address_is_of_job(scope->address)
			? address_left_ms(scope->address, clock_now_ms())
			: call_timeout_ms(invoker->config, tool, scope->request.timeout_ms);
	/* A deadline that the caller has set stays as it is. */
	call->runner_call.most_ms = scope->request.timeout_ms > 0 ? 0 : call_most_ms(tool);
	return call;
}

/* Charge @caller with @size bytes of arguments of @call; false with the error in @answer. */
static bool charge_call(struct invoker *invoker, struct call *call,
	const struct policy_caller *caller, size_t size, struct answer *answer)
{
	if (calls_charge(invoker->calls, call, bus_sender(invoker->bus), size, answer))
		return true;
	errors_write_too_many(answer, &caller->source, 1,
		"their requests hold as much memory as they may (limits.peer_bytes)");
	return false;
}

/* Give @call to @runner. Returns 0, or the status of runner_submit(). */
static int run_call(struct invoker *invoker, struct call *call, struct runner *runner,
	const char *json, size_t size)
{
	call->has_events = events_are_wanted(invoker->events);
	return runner_submit(runner, &call->runner_call, json, size, call->timeout_ms);
}

/* Begin the record of @call, which may run. */
static void record_call(const struct invoker *invoker, struct call *call,
	const struct request_scope *scope, bool is_granted)
{
	bool is_listed = approval_is_needed(invoker->config->approval_mode, call->tool->risk);

	if (!recorder_wants(invoker->recorder, call->tool, false))
		return;
	begin_record(invoker, call, scope, true);
	audit_record_decide(&call->record, "allow",
		&TEXT_VIEW(is_granted  ? "session"
			   : is_listed ? "approval.allow"
				       : "approval.mode"));
}

/* Submit a call of @tool to @runner. @is_granted: it was approved for a session. Returns true with
 * @answer taken over; else the error is in @answer. */
static bool submit_call(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, struct runner *runner, bool is_granted, struct answer *answer)
{
	const struct arguments *arguments = &scope->arguments;
	struct calls *calls = invoker->calls;
	struct call *call = make_call(invoker, scope, tool, answer);
	int r;

	if (!call)
		return false;
	record_call(invoker, call, scope, is_granted);
	if (!charge_call(invoker, call, &scope->caller, arguments->size, answer)) {
		calls_close(calls, call);
		return false;
	}
	r = run_call(invoker, call, runner, arguments->json, arguments->size);
	if (r != 0) {
		calls_close(calls, call);
		write_submit_error(answer, r, tool, runner);
		return false;
	}
	call->answer = answer_take(answer);
	calls_open(calls, call);
	if (call->has_events)
		events_call_started(invoker->events, call,
			&(struct text_view){arguments->json, arguments->size});
	return true;
}

/* ── approval ────────────────────────────────────────────────────────────────────────────────── */

/* Ask the tool of @call whether it takes the arguments, the JSON text @json. Returns false with the
 * error in @answer. */
static bool submit_check(struct call *call, const char *json, size_t size, struct answer *answer)
{
	struct runner *runner = call->tool->toolbox->package->runner;
	int r;

	call->has_events = false;
	call->runner_call.is_check = true;
	r = runner_submit(runner, &call->runner_call, json, size, call->timeout_ms);
	if (r != 0)
		write_submit_error(answer, r, call->tool, runner);
	return r == 0;
}

/* Ask a person @question now, or its tool first. Return false with the error in @answer. */
static bool begin_question(struct invoker *invoker, struct pending_question *question,
	struct call *call, struct answer *answer)
{
	const struct buffer *json = &question->arguments;

	if (!call->tool->validates)
		return approval_ask(invoker->approval, question, NULL, answer);
	if (!submit_check(call, json->data, json->size, answer))
		return false;
	call->question = question;
	return true;
}

/* Ask a person about a call of @tool. Returns true with @answer taken over; else the error is in
 * @answer. */
static bool ask_person(struct invoker *invoker, struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	struct approval *approval = invoker->approval;
	struct pending_question *question = NULL;
	struct call *call;

	if (!approval_check(approval, tool, &scope->caller, answer))
		return false;
	call = make_call(invoker, scope, tool, answer);
	if (!call)
		return false;
	if (recorder_wants(invoker->recorder, tool, true))
		begin_record(invoker, call, scope, true);
	call->runner_call.submitted_ns = clock_now_ns();
	question = approval_prepare(approval, call, scope, answer);
	if (question &&
		charge_call(invoker, call, &scope->caller,
			question->arguments.size + question->members.size, answer) &&
		begin_question(invoker, question, call, answer)) {
		call->answer = answer_take(answer);
		calls_open(invoker->calls, call);
		return true;
	}
	if (question)
		approval_forget(approval, question);
	calls_close(invoker->calls, call);
	return false;
}

/* Run a call of @tool, or ask a person first, as policy has it. Returns true with @answer taken
 * over; else the error is in @answer. */
static bool run_or_ask(struct invoker *invoker, struct request_scope *scope,
	const struct tool *tool, struct runner *runner, struct answer *answer)
{
	struct policy_decision decision =
		policy_decide(invoker->offer->policy, &scope->caller, tool);
	bool may_run = decision.verdict == POLICY_RUN;
	bool is_granted = decision.verdict == POLICY_ASK &&
			  approval_is_granted(invoker->approval, scope, tool, &may_run);

	if (may_run || is_granted)
		return admit_result(tool, runner, answer) &&
		       submit_call(invoker, scope, tool, runner, is_granted, answer);
	return ask_person(invoker, scope, tool, answer);
}

bool invocation_is_changed(
	void *data, const struct call *call, const struct pending_question *question)
{
	const struct invoker *invoker = data;
	const struct tool *tool =
		request_find_tool_again(invoker->offer, question->caller, call->tool, NULL);

	return tool && (tool_differs(call->tool, tool) || !tool_program_is_current(tool));
}

/* Return whether the arguments that were approved are good for @tool, which is another object than
 * before; else the error is in @answer. */
static bool check_again(const struct invoker *invoker, const struct tool *tool,
	const struct buffer *json, struct answer *answer)
{
	const struct arguments_limits limits = checks_limits(invoker->config);
	cleanup(arguments_deinit) struct arguments arguments = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, json->data, json->size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	if (r > 0)
		r = -EINVAL;
	if (r == 0)
		r = arguments_check(&arguments, tool, &tape, 0, invoker->context, &limits);
	if (r != 0)
		write_arguments_error(invoker, tool, &arguments, r, answer);
	return r == 0;
}

/* Let @call be one of @tool, which differs from the one before in nothing but its package. */
static void move_call(struct call *call, const struct tool *tool)
{
	package_unref(call->package);
	call->package = package_ref(tool->toolbox->package);
	call->tool = tool;
	call->runner_call.tool = tool->index;
}

/* Run @call, which was approved, with everything looked at again. Returns false with the error in
 * its answer. */
static bool run_approved(struct invoker *invoker, struct call *call,
	const struct pending_question *question, const struct approval_outcome *outcome)
{
	const struct buffer *json = &question->arguments;
	struct answer *answer = &call->answer;
	const struct tool *tool =
		request_find_tool_again(invoker->offer, question->caller, call->tool, answer);
	struct runner *runner;
	int r;

	if (!tool || (tool != call->tool && !check_again(invoker, tool, json, answer)))
		return false;
	if (outcome->is_changed) {
		approval_write_refusal(invoker->approval, question, outcome, answer);
		return false;
	}
	runner = tool->toolbox->package->runner;
	if (!check_cooldown(runner, tool, answer))
		return false;
	move_call(call, tool);
	if (!address_is_of_job(answer->address))
		call->timeout_ms = call_timeout_ms(invoker->config, tool, call->timeout_ms);
	r = run_call(invoker, call, runner, json->data, json->size);
	if (r != 0)
		write_submit_error(answer, r, tool, runner);
	else if (call->has_events)
		events_call_started(
			invoker->events, call, &(struct text_view){json->data, json->size});
	return r == 0;
}

/* Count @call, which was not run and ended with the error @code, among the calls of its tool, if
 * still offered. */
static void count_refused(
	const struct invoker *invoker, const struct call *call, enum answer_code code)
{
	const char *name = call->tool->name;
	const char *id = call->tool->toolbox->id;
	const struct tool *tool;

	if (catalogue_find(invoker->offer->catalogue, name, strlen(name), id, strlen(id), false,
		    &tool) == 0)
		runner_count_refused(tool->toolbox->package->runner, tool, answer_code_name(code));
}

/* Add @call to the history, which was refused with the error in @answer. */
static void note_end(struct invoker *invoker, const struct call *call, uint64_t waited_us,
	const struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	if (answer->code != ANSWER_CANCELLED)
		errors_write_reason(answer, call->tool, &reason);
	history_add(invoker->history, call, waited_us, (int)answer->code, &reason);
	metrics_count_refused(invoker->metrics, call->tool, answer->code);
}

/* End @call, about which @question was or would have been asked, and which was not run, with the
 * error in its answer. */
static void end_refused(
	struct invoker *invoker, struct call *call, const struct pending_question *question)
{
	const struct buffer *json = &question->arguments;

	answer_make_fit(
		&call->answer, invoker->config->limits.frame_bytes, "send shorter arguments");
	if (events_are_wanted(invoker->events))
		events_call_refused(invoker->events, call,
			&(struct text_view){json->data, json->size}, &call->answer);
	audit_record_write(
		invoker->recorder, &call->record, 0, answer_code_name(call->answer.code), NULL);
	note_end(invoker, call, (clock_now_ns() - call->runner_call.submitted_ns) / NS_PER_US,
		&call->answer);
	answer_send(&call->answer, invoker->bus);
	count_refused(invoker, call, call->answer.code);
	calls_close(invoker->calls, call);
}

void invocation_decided(void *data, struct call *call, const struct pending_question *question,
	const struct approval_outcome *outcome)
{
	struct invoker *invoker = data;
	struct account *before = bus_act_for(invoker->bus, call->account);
	bool is_run = false;

	audit_record_decide(&call->record, approval_decision_name(outcome), &outcome->by);
	audit_record_write(invoker->recorder, &call->record, -1, NULL, NULL);
	if (outcome->decision <= APPROVAL_SESSION)
		is_run = run_approved(invoker, call, question, outcome);
	else if (outcome->is_stopping)
		errors_write_unavailable(&call->answer, call->tool, "the service is stopping");
	else if (outcome->decision == APPROVAL_CANCELLED)
		write_cancelled(&call->answer, &call->call_id, call->process, call->runner_call.id);
	else
		approval_write_refusal(invoker->approval, question, outcome, &call->answer);
	if (!is_run)
		end_refused(invoker, call, question);
	bus_act_for(invoker->bus, before);
}

/* Ask a person about @call, whose tool takes the arguments, or end it with why not. */
static void ask_checked(struct call *call, const struct call_result *result)
{
	struct invoker *invoker = call->invoker;
	struct pending_question *question = take_ptr(call->question);

	if (result->outcome != CALL_RESULT)
		write_outcome(call, result);
	else if (invoker->calls->is_stopping)
		errors_write_unavailable(&call->answer, call->tool, "the service is stopping");
	else if (approval_check(invoker->approval, call->tool, question->caller, &call->answer) &&
		 approval_ask(invoker->approval, question, result->tape, &call->answer))
		return;
	end_refused(invoker, call, question);
	approval_forget(invoker->approval, question);
}

/* End @call, which was only a question to its tool whether it takes the arguments. */
static void end_validation(struct call *call, const struct call_result *result)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	struct invoker *invoker = call->invoker;

	if (result->outcome == CALL_RESULT ||
		(result->outcome == CALL_ERROR && errors_read_refusal(result->tape, &report)))
		write_validation(&call->answer, result->outcome == CALL_RESULT, &report);
	else
		write_outcome(call, result);
	answer_make_fit(
		&call->answer, invoker->config->limits.frame_bytes, "send shorter arguments");
	answer_send(&call->answer, invoker->bus);
	calls_close(invoker->calls, call);
}

/* Go on with @call, whose tool was asked whether it takes the arguments. */
static void end_check(struct call *call, const struct call_result *result)
{
	struct account *before = bus_act_for(call->invoker->bus, call->account);
	struct bus *bus = call->invoker->bus;

	call->runner_call.is_check = false;
	if (call->question)
		ask_checked(call, result);
	else
		end_validation(call, result);
	bus_act_for(bus, before);
}

void invocation_done(void *data, struct runner_call *runner_call, const struct call_result *result)
{
	struct call *call = container_of(runner_call, struct call, runner_call);

	(void)data;
	if (runner_call->is_check)
		end_check(call, result);
	else
		end_run(call, result);
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

/* Announce and record the request of @scope, which is refused with the error in @answer. @tool:
 * NULL when there is none. @has_arguments: its arguments are good. */
static void note_refusal(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, bool has_arguments, const struct answer *answer)
{
	bool is_denied = answer->code == ANSWER_DENIED;
	bool is_recorded = tool && recorder_wants(invoker->recorder, tool, is_denied);
	const struct text_view *name = &scope->request.name_text;
	const struct text_view arguments = {scope->arguments.json, scope->arguments.size};
	struct call *call = calls_new(invoker->calls, tool);

	if (!call)
		return;
	write_caller(call, scope);
	call->runner_call.submitted_ns = clock_now_ns();
	if (!tool)
		json_write_string(&call->name, name->text ? name->text : "",
			name->text ? (size_t)request_name_length(name) : 0);
	if (events_are_wanted(invoker->events))
		events_call_refused(
			invoker->events, call, has_arguments ? &arguments : NULL, answer);
	note_end(invoker, call, 0, answer);
	if (is_recorded) {
		begin_record(invoker, call, scope, has_arguments);
		if (is_denied)
			audit_record_decide(&call->record, "deny", &TEXT_VIEW("toolboxd"));
		audit_record_write(
			invoker->recorder, &call->record, 0, answer_code_name(answer->code), NULL);
	}
	calls_close(invoker->calls, call);
}

void invocation_note_refused(
	struct invoker *invoker, const struct request_scope *scope, const struct answer *answer)
{
	note_refusal(invoker, scope, NULL, false, answer);
}

/* Find the tool, as it is now. Returns false with the error in @answer, or, when the request waits
 * for a change, with @answer given up. */
static bool find_tool(const struct invoker *invoker, const struct request_scope *scope,
	struct answer *answer, const struct tool **ret_tool)
{
	bool last_wins = invoker->config->duplicate_names == CONFIG_DUPLICATES_LAST;
	const struct waiting_request *waited = scope->waited;

	if (waiting_has_ended(waited)) {
		errors_write_cancelled(answer, &waited->call_id, NULL);
		return false;
	}
	if (!request_find_tool(
		    invoker->offer, scope->view, &scope->request, last_wins, answer, ret_tool)) {
		waiting_for_unknown(invoker->waiting, scope, answer);
		return false;
	}
	/* The end of a request with a line names the tool. */
	return (waited && waited->is_cancelled) ||
	       waiting_admit(invoker->waiting, scope, *ret_tool, answer);
}

/* Write the line about the beginning of a call of @tool, for which @request waits. Returns 0 or a
 * negative errno. */
static int write_first_line(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, struct waiting_request *request)
{
	struct call *call = calls_new(invoker->calls, tool);
	int r = -ENOMEM;

	if (!call)
		return r;
	if (!request->summary)
		request->summary = malloc(sizeof(*request->summary));
	if (request->summary) {
		write_caller(call, scope);
		begin_record(invoker, call, scope, true);
		call->runner_call.submitted_ns = clock_now_ns();
		request->call_number = call->runner_call.id;
		call_summary_describe(call, request->summary);
		call_summary_go_on(request->summary, call);
		r = audit_record_write(invoker->recorder, &call->record, -1, NULL, &request->line);
	}
	calls_close(invoker->calls, call);
	return r;
}

/* Let the request wait until a line about its beginning is written. Returns false with the error in
 * @answer. */
static bool wait_for_line(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	struct waiting_request *request = waiting_begin(
		invoker->waiting, scope, WAITING_LINE, invoker->config->start_timeout_ms);

	if (!request) {
		errors_write_too_many(answer, &scope->caller.source, 1, "no more of them may wait");
		return false;
	}
	request->is_counted = true;
	if (write_first_line(invoker, scope, tool, request) == 0) {
		answer_deinit(answer);
		return true;
	}
	waiting_drop(request);
	errors_write_unavailable(answer, tool, unrecorded);
	return false;
}

/* Return whether the request @waited, about which there is a line, may go on; else the error is in
 * @answer. */
static bool check_line(const struct invoker *invoker, const struct waiting_request *waited,
	const struct tool *tool, struct answer *answer)
{
	if (waited->is_cancelled)
		write_cancelled(
			answer, &waited->call_id, invoker->calls->process, waited->call_number);
	else if (waited->reason == WAITING_LINE && !waited->has_line)
		errors_write_unavailable(answer, tool, unrecorded);
	else
		return true;
	return false;
}

/* Let the request wait, run a call of @tool, or ask a person. Returns true with @answer taken over;
 * else the error is in @answer. */
static bool wait_or_go_on(struct invoker *invoker, struct request_scope *scope,
	const struct tool *tool, struct runner *runner, struct answer *answer)
{
	const struct waiting_request *waited = scope->waited;

	if (scope->request.is_background && !address_is_of_job(scope->address))
		return invoker->begin_job(invoker->jobs, scope, tool, answer);
	if (waited && waited->call_number > 0 && !check_line(invoker, waited, tool, answer))
		return false;
	if (!(waited && waited->has_line) && recorder_requires(invoker->recorder, tool))
		return wait_for_line(invoker, scope, tool, answer);
	return run_or_ask(invoker, scope, tool, runner, answer);
}

void invocation_begin(struct invoker *invoker, struct request_scope *scope, struct answer *answer)
{
	bool has_arguments = false;
	const struct tool *tool;
	struct runner *runner;

	if (!find_tool(invoker, scope, answer, &tool)) {
		if (!answer_is_open(answer))
			return;
		note_refusal(invoker, scope, NULL, false, answer);
		return;
	}
	runner = tool->toolbox->package->runner;
	if (invoker->calls->is_stopping)
		errors_write_unavailable(answer, tool, "the service is stopping");
	else
		has_arguments = offload_admit(invoker->offload, tool, scope, answer) &&
				check_arguments(invoker, tool, scope, answer);
	if (has_arguments && check_cooldown(runner, tool, answer) &&
		wait_or_go_on(invoker, scope, tool, runner, answer))
		return;
	if (!answer_is_open(answer))
		return;
	note_refusal(invoker, scope, tool, has_arguments, answer);
	runner_count_refused(runner, tool, answer_code_name(answer->code));
}

/* Ask @tool whether it takes the arguments of @scope: then @answer is taken over. Else the error is
 * in it. */
static void ask_tool(struct invoker *invoker, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	const struct arguments *arguments = &scope->arguments;
	struct call *call;

	if (invoker->calls->is_stopping) {
		errors_write_unavailable(answer, tool, "the service is stopping");
		return;
	}
	call = make_call(invoker, scope, tool, answer);
	if (!call)
		return;
	if (charge_call(invoker, call, &scope->caller, arguments->size, answer) &&
		submit_check(call, arguments->json, arguments->size, answer)) {
		call->answer = answer_take(answer);
		calls_open(invoker->calls, call);
	} else {
		calls_close(invoker->calls, call);
	}
}

void invocation_validate(
	struct invoker *invoker, struct request_scope *scope, struct answer *answer)
{
	struct arguments *arguments = &scope->arguments;
	const struct tool *tool;
	int r;

	if (!find_tool(invoker, scope, answer, &tool) ||
		!offload_admit(invoker->offload, tool, scope, answer))
		return;
	r = read_arguments(invoker, tool, scope);
	if (r != 0 && r != ARGUMENTS_E_INVALID) {
		write_arguments_error(invoker, tool, arguments, r, answer);
		return;
	}
	if (r == 0 && tool->validates)
		ask_tool(invoker, scope, tool, answer);
	else
		write_validation(answer, r == 0, &arguments->report);
}
