/* SPDX-License-Identifier: Apache-2.0 */
#include "core/invocation.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/approval.h"
#include "catalogue/filter.h"
#include "core/answer.h"
#include "core/caller.h"
#include "core/errors.h"
#include "core/events.h"
#include "core/lookup.h"
#include "core/size.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/clock.h"

/*
 * The way of a call, from its checks to its one answer.
 *
 *   request ─ tool ─ arguments ─ cooldown ─ approval ─ open ──▶ in flight ──▶ runner
 *      │                 the first that fails                                  │
 *      ▼                                                                       ▼
 *   its error ──▶ sent ◀── events ◀── fits in a frame? ◀─┬── result ─ output schema ─ size guard
 *                   │                                    └── failure, crash, timeout, …: its code
 *                   └──▶ close ──▶ spare: memory for the next one
 *
 * The checks are made in that order (contract.md, Order of checks). A host knows a call by its id;
 * a cancel finds it by the call_id and the source that its caller gave.
 */

#define NS_PER_US UINT64_C(1000)

/* A tool that tells its progress more often is not repeated: the bus is everybody's. */
#define PROGRESS_MS 50

/* A buffer of a call that is over is kept for the next one, unless it has grown beyond this. */
#define KEEP_BYTES 16384

struct invocation {
	struct runner_call call; /* first: a call is its invocation */
	struct invocation *next; /* of those in flight, or of the spare ones */
	struct invocation **link;
	struct service *service;
	const struct tool *tool;
	struct toolbox *toolbox; /* held until it is over */
	struct answer answer;
	uint64_t timeout_ms;
	struct buffer call_id; /* JSON text, for events and for cancelling; empty: none */
	struct buffer source;  /* context.source as JSON text; empty: none */
	bool has_events;
	uint64_t progressed_ms; /* when progress was told last; 0: not yet */
};

/* ── in flight ───────────────────────────────────────────────────────────────────────────────── */

static struct invocation *take_spare(struct service *service)
{
	struct invocation *invocation = service->spare;

	if (invocation) {
		service->spare = invocation->next;
		return invocation;
	}
	invocation = calloc(1, sizeof(*invocation));
	if (invocation && runner_call_init(&invocation->call, service->loop) < 0) {
		free(invocation);
		return NULL;
	}
	return invocation;
}

static void link_in(struct service *service, struct invocation *invocation)
{
	invocation->next = service->invocations;
	invocation->link = &service->invocations;
	if (invocation->next)
		invocation->next->link = &invocation->next;
	service->invocations = invocation;
	service->n_in_flight++;
}

/* A burst of large calls must not stay with us for ever. */
static void give_back_large(struct buffer *buffer)
{
	if (buffer->capacity > KEEP_BYTES)
		buffer_deinit(buffer);
}

/* It is over: what it holds is given back, its memory is kept for the next one. */
static void close_call(struct invocation *invocation)
{
	struct service *service = invocation->service;

	*invocation->link = invocation->next;
	if (invocation->next)
		invocation->next->link = invocation->link;
	service->n_in_flight--;
	answer_deinit(&invocation->answer);
	toolbox_unref(take_ptr(invocation->toolbox));
	give_back_large(&invocation->call.arguments);
	give_back_large(&invocation->call.caller);
	give_back_large(&invocation->source);
	invocation->next = service->spare;
	service->spare = invocation;
}

/* Keep the JSON text of a value; nothing, when there is none. One string has one text, however its
 * sender escapes: clients differ in that. */
static void keep_value(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const char *text;
	size_t size;

	buffer_reset(out);
	if (token == JSON_NONE)
		return;
	if (json_at(tape, token)->flags & JSON_ESCAPED) {
		json_string_decode(tape, token, &decoded);
		json_write_string(out, decoded.data, decoded.size);
		return;
	}
	text = json_value_text(tape, token, &size);
	buffer_append(out, text, size);
}

/* A call of @tool by the request in service->envelope, in flight from now on. @answer is taken
 * over. NULL without memory; then it is still the caller's. */
static struct invocation *open_call(struct service *service, const struct tool *tool,
	uint64_t timeout_ms, struct answer *answer)
{
	const struct request *request = &service->request;
	struct invocation *invocation = take_spare(service);

	if (!invocation)
		return NULL;
	invocation->service = service;
	invocation->tool = tool;
	invocation->toolbox = toolbox_ref(tool->toolbox);
	invocation->answer = *answer;
	*answer = (struct answer){0};
	invocation->timeout_ms = timeout_ms;
	invocation->call.id = ++service->last_call_id;
	invocation->call.tool = tool->index;
	invocation->has_events = events_are_wanted(service);
	invocation->progressed_ms = 0;
	keep_value(request->data, request->call_id, &invocation->call_id);
	/* Only a call with an id can be cancelled: the others need no source. */
	keep_value(&service->envelope.context,
		request->call_id ? json_find(&service->envelope.context, 0, "source") : JSON_NONE,
		&invocation->source);
	caller_write(tool, &service->envelope.context, request, &invocation->call.caller);
	link_in(service, invocation);
	return invocation;
}

/* What its events tell of it. */
static struct events_call event_of(const struct invocation *invocation)
{
	return (struct events_call){
		.tool = invocation->tool,
		.call_id = invocation->call_id.data,
		.call_id_size = invocation->call_id.size,
	};
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

/* Write the result if it is what the tool has promised; else the error. The code of it, or -1. */
static int write_result(
	struct invocation *invocation, const struct call_result *ending, struct answer *answer)
{
	const struct service *service = invocation->service;
	const struct tool *tool = invocation->tool;
	cleanup(schema_report_deinit) struct schema_report report = {0};

	if (schema_validate(tool->output, service->context, ending->tape, 0) == 0) {
		size_write_result(answer_member(answer, "result"), ending->text, ending->size,
			service->config.result_max_chars);
		return -1;
	}
	/* Without memory the report stays empty; the code tells enough. */
	schema_explain(tool->output, service->context, ending->tape, 0, &report);
	errors_write_invalid_output(answer, tool, &report, service->config.result_max_chars);
	return ANSWER_INVALID_OUTPUT;
}

/* Write what the call has come to. The code of an error, or -1. */
static int write_ending(
	struct invocation *invocation, const struct call_result *ending, struct answer *answer)
{
	const struct tool *tool = invocation->tool;

	switch (ending->outcome) {
	case CALL_RESULT:
		return write_result(invocation, ending, answer);
	case CALL_FAILED:
		errors_write_failure(answer, tool, ending->text, ending->size,
			invocation->service->config.result_max_chars);
		return ANSWER_TOOL_FAILED;
	case CALL_ERROR:
		return errors_write_told(
			answer, tool, ending->tape, invocation->service->config.result_max_chars);
	case CALL_TIMED_OUT:
		errors_write_timeout(answer, tool, invocation->timeout_ms);
		return ANSWER_TIMEOUT;
	case CALL_CANCELLED:
		errors_write_cancelled(answer, &invocation->call_id);
		return ANSWER_CANCELLED;
	case CALL_CRASHED:
		errors_write_crash(answer, tool, ending->end);
		return ANSWER_HOST_CRASHED;
	case CALL_TOO_LARGE:
		errors_write_too_large(answer, tool, "Too large output of", ending->end->actual,
			ending->end->max, "bytes");
		return ANSWER_TOO_LARGE;
	case CALL_COOLING:
		errors_write_cooldown(
			answer, tool, runner_cooldown_s(invocation->call.runner, tool));
		return ANSWER_COOLDOWN;
	case CALL_UNAVAILABLE:
		errors_write_unavailable(answer, tool, ending->text);
		return ANSWER_UNAVAILABLE;
	}
	return -1;
}

/* Before the answer goes, since its words are told, too. */
static void tell_completion(
	struct invocation *invocation, const struct call_result *ending, uint64_t duration_us)
{
	struct service *service = invocation->service;
	struct events_call event = event_of(invocation);
	size_t error_size = 0;
	const char *error = answer_error_json(&invocation->answer, &error_size);
	cleanup(buffer_deinit) struct buffer result = {0};

	/* No more of it than its caller was told. */
	if (!error && service->config.events_results)
		size_write_result(
			&result, ending->text, ending->size, service->config.result_max_chars);
	events_call_completed(service->bus, &event, (double)duration_us / 1000.0, error, error_size,
		result.data, result.size);
}

void invocation_done(void *data, struct runner_call *call, const struct call_result *ending)
{
	struct invocation *invocation = (struct invocation *)call;
	struct service *service = data;
	uint64_t duration_us = (clock_now_ns() - call->submitted_ns) / NS_PER_US;
	int code = write_ending(invocation, ending, &invocation->answer);

	if (!answer_make_fit(&invocation->answer, service->config.limits.frame_bytes,
		    "lower result_max_chars, or let the tool return less"))
		code = ANSWER_TOO_LARGE;
	if (invocation->has_events)
		tell_completion(invocation, ending, duration_us);
	answer_send(&invocation->answer, service->bus);
	statistics_count(
		runner_statistics(call->runner, invocation->tool->toolbox), duration_us, code >= 0);
	close_call(invocation);
}

void invocation_progressed(void *data, struct runner_call *call, const struct json_tape *progress)
{
	struct invocation *invocation = (struct invocation *)call;
	struct service *service = data;
	struct events_call event = event_of(invocation);
	uint64_t now_ms = clock_now_ms();

	if (!invocation->has_events ||
		(invocation->progressed_ms && now_ms < invocation->progressed_ms + PROGRESS_MS))
		return;
	invocation->progressed_ms = now_ms;
	events_call_progress(service->bus, &event, progress);
}

/* ── checks ──────────────────────────────────────────────────────────────────────────────────── */

static void write_arguments_error(
	const struct service *service, const struct tool *tool, int status, struct answer *answer)
{
	const struct arguments *arguments = &service->arguments;

	if (status == ARGUMENTS_E_INVALID)
		errors_write_invalid_arguments(
			answer, tool, &service->arguments.report, service->config.result_max_chars);
	else if (status == ARGUMENTS_E_TOO_LARGE)
		errors_write_too_large(answer, tool, "Too large arguments for", arguments->actual,
			arguments->max, arguments->limit);
	else
		errors_write_unavailable(answer, tool, strerror(-status));
}

/* Whether the arguments are good; else the error is written. */
static bool check_arguments(struct service *service, const struct tool *tool, struct answer *answer)
{
	int r = arguments_check(&service->arguments, tool, &service->request, service->context,
		&service->config.limits);

	if (r != 0)
		write_arguments_error(service, tool, r, answer);
	return r == 0;
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

/* Nobody can be asked in this version: what needs an answer is denied, and told what would do. */
static bool check_approval(
	const struct config *config, const struct tool *tool, struct answer *answer)
{
	if (!approval_is_needed(config->approval_mode, tool->risk) ||
		filter_names((const char *const *)config->approval_allow.items,
			config->approval_allow.n_items, tool->toolbox->id, tool->name))
		return true;
	errors_write_denied(answer, tool, config->approval_mode);
	return false;
}

/* The deadline of a call (contract.md, Deadlines): the request may only shorten it. */
static uint64_t timeout_of(
	const struct config *config, const struct tool *tool, uint64_t requested_ms)
{
	uint64_t allowed_ms = config->timeout_ms;

	if (!allowed_ms)
		allowed_ms = kind_facts(tool->toolbox->kind)->timeout_ms;
	if (tool->toolbox->limits.timeout_ms)
		allowed_ms = tool->toolbox->limits.timeout_ms;
	if (tool->timeout_ms)
		allowed_ms = tool->timeout_ms;
	return requested_ms && requested_ms < allowed_ms ? requested_ms : allowed_ms;
}

static void write_refusal(
	struct answer *answer, int status, const struct tool *tool, const struct runner *runner)
{
	if (status == RUNNER_E_BUSY)
		errors_write_busy(answer, tool, runner_n_waiting(runner));
	else if (status == RUNNER_E_QUARANTINED)
		errors_write_unavailable(answer, tool, runner_reason(runner));
	else
		errors_write_unavailable(answer, tool, strerror(-status));
}

/* Hand the call to its runner. True when it is under way; else the error is in @answer. */
static bool submit(struct service *service, const struct tool *tool, struct runner *runner,
	struct answer *answer)
{
	uint64_t timeout_ms = timeout_of(&service->config, tool, service->request.timeout_ms);
	struct invocation *invocation;
	int r;

	if (service->n_in_flight >= service->config.limits.in_flight) {
		errors_write_busy(answer, tool, service->n_in_flight);
		return false;
	}
	invocation = open_call(service, tool, timeout_ms, answer);
	if (!invocation) {
		errors_write_unavailable(answer, tool, "out of memory");
		return false;
	}
	r = runner_submit(runner, &invocation->call, service->arguments.json,
		service->arguments.size, timeout_ms);
	if (r == 0) {
		struct events_call event = event_of(invocation);

		if (invocation->has_events)
			events_call_started(service->bus, &event);
		return true;
	}
	*answer = invocation->answer;
	invocation->answer = (struct answer){0};
	close_call(invocation);
	write_refusal(answer, r, tool, runner);
	return false;
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

/* The checks of a call, one after the other, as far as the queue. */
static bool begin(struct service *service, struct answer *answer)
{
	const struct config *config = &service->config;
	const struct tool *tool;
	struct runner *runner;
	struct statistics *statistics;

	if (!lookup_tool(service->catalogue, &service->request,
		    config->duplicate_names == CONFIG_DUPLICATES_LAST, answer, &tool))
		return false;
	runner = state_runner(service, tool);
	statistics = runner_statistics(runner, tool->toolbox);
	if (service->is_stopping)
		errors_write_unavailable(answer, tool, "the service is stopping");
	else if (check_arguments(service, tool, answer) && check_cooldown(runner, tool, answer) &&
		 check_approval(config, tool, answer) && submit(service, tool, runner, answer))
		return true;
	statistics_count_refused(statistics);
	return false;
}

/* Answer a request that has not become a call. */
static void send_verdict(struct service *service, struct answer *answer)
{
	answer_make_fit(answer, service->config.limits.frame_bytes, "send shorter arguments");
	answer_send(answer, service->bus);
}

void invocation_begin(struct service *service)
{
	struct request *request = &service->request;
	bool is_good = request_read(request, &service->envelope, REQUEST_CALL | REQUEST_OWNER);
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	request_write_echo(request, &answer);
	if (!is_good)
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	else if (begin(service, &answer))
		return;
	send_verdict(service, &answer);
}

/* Whether a toolbox of this id is offered by us. */
static bool is_ours(const struct service *service, const struct request_text *id)
{
	long index = id->text ? catalogue_find_toolbox(service->catalogue, id->text, id->size) : -1;
	size_t n_tools;

	if (index < 0)
		return false;
	catalogue_toolbox(service->catalogue, (size_t)index, NULL, &n_tools);
	return n_tools > 0;
}

void invocation_begin_persona(struct service *service, const struct request_text *toolbox_id)
{
	struct request *request = &service->request;
	struct answer answer;

	/* Of a toolbox_id that is no string nobody is the owner: silence. */
	request_read(request, &service->envelope, REQUEST_PERSONA);
	if (toolbox_id)
		request->toolbox_id = *toolbox_id;
	if (!is_ours(service, &request->toolbox_id))
		return;
	answer_begin(&answer, &service->envelope);
	json_write_string(answer_member(&answer, "toolbox_id"), request->toolbox_id.text,
		request->toolbox_id.size);
	answer_keep(&answer);
	if (service->envelope.data_status != 0)
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	else if (begin(service, &answer))
		return;
	send_verdict(service, &answer);
}

/* The members of an answer to ovos.tools.validate. */
static void write_validation(
	struct service *service, const struct tool *tool, struct answer *answer)
{
	struct arguments *arguments = &service->arguments;
	int r = arguments_check(
		arguments, tool, &service->request, service->context, &service->config.limits);

	if (r != 0 && r != ARGUMENTS_E_INVALID) {
		write_arguments_error(service, tool, r, answer);
		return;
	}
	answer_member_boolean(answer, "valid", r == 0);
	schema_report_write_json(&arguments->report, answer_member(answer, "violations"));
}

void invocation_validate(struct service *service)
{
	struct request *request = &service->request;
	bool is_good = request_read(request, &service->envelope, REQUEST_CALL | REQUEST_OWNER);
	const struct tool *tool;
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	request_write_echo(request, &answer);
	if (!is_good)
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	else if (lookup_tool(service->catalogue, request,
			 service->config.duplicate_names == CONFIG_DUPLICATES_LAST, &answer, &tool))
		write_validation(service, tool, &answer);
	send_verdict(service, &answer);
}

/* ── cancelling ──────────────────────────────────────────────────────────────────────────────── */

static bool is_equal(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static struct invocation *find_call(
	const struct service *service, const struct buffer *call_id, const struct buffer *source)
{
	struct invocation *invocation = service->invocations;

	while (invocation &&
		!(is_equal(&invocation->call_id, call_id) && is_equal(&invocation->source, source)))
		invocation = invocation->next;
	return invocation;
}

/* Cancel what the request means. Whether there was any. Looked for anew each time, since the end of
 * one call may be the end of others. */
static bool cancel_calls(struct service *service)
{
	const struct json_tape *context = &service->envelope.context;
	cleanup(buffer_deinit) struct buffer call_id = {0};
	cleanup(buffer_deinit) struct buffer source = {0};
	struct invocation *invocation;
	bool is_any = false;

	keep_value(service->request.data, service->request.call_id, &call_id);
	keep_value(context, json_find(context, 0, "source"), &source);
	while ((invocation = find_call(service, &call_id, &source))) {
		runner_cancel(invocation->call.runner, &invocation->call);
		is_any = true;
	}
	return is_any;
}

void invocation_cancel(struct service *service)
{
	struct request *request = &service->request;
	bool is_good = request_read(request, &service->envelope, REQUEST_CALL_ID);
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	if (is_good) {
		size_t size;
		const char *text = json_value_text(request->data, request->call_id, &size);

		buffer_append(answer_member(&answer, "call_id"), text, size);
		answer_member_boolean(&answer, "cancelled", cancel_calls(service));
	} else {
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	}
	answer_send(&answer, service->bus);
}

void invocation_free_all(struct service *service)
{
	while (service->invocations)
		close_call(service->invocations);
	while (service->spare) {
		struct invocation *invocation = service->spare;

		service->spare = invocation->next;
		runner_call_deinit(&invocation->call);
		buffer_deinit(&invocation->call_id);
		buffer_deinit(&invocation->source);
		free(invocation);
	}
}
