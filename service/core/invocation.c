/* SPDX-License-Identifier: Apache-2.0 */
#include "core/invocation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/answer.h"
#include "core/events.h"
#include "core/lookup.h"
#include "json/writer.h"
#include "policy/approval.h"
#include "policy/filter.h"
#include "policy/size.h"
#include "util/clock.h"
#include "util/log.h"

#define NS_PER_US UINT64_C(1000)

struct invocation {
	struct runner_call call; /* first: a call is its invocation */
	struct invocation *next; /* of those in flight, or of the spare ones */
	struct invocation **link;
	struct service *service;
	const struct tool *tool;
	struct toolbox *toolbox; /* held until it is over */
	struct answer answer;
	uint64_t timeout_ms;
	struct buffer call_id; /* as it came, for events */
	bool has_events;
};

/* ── the beginning ───────────────────────────────────────────────────────────────────────────── */

/* `name` as it came; "" where none did. And `call_id`. */
static void write_head(const struct request *request, struct answer *answer)
{
	struct buffer *out = answer_member(answer, "name");
	const char *text;
	size_t size;

	if (request->name == JSON_NONE) {
		buffer_append_string(out, "\"\"");
	} else {
		text = json_value_text(request->data, request->name, &size);
		buffer_append(out, text, size);
	}
	if (request->call_id != JSON_NONE) {
		text = json_value_text(request->data, request->call_id, &size);
		buffer_append(answer_member(answer, "call_id"), text, size);
	}
	answer_keep(answer);
}

/* The members of invalid_arguments; the report is in service->arguments. */
static void write_invalid(
	const struct service *service, const struct tool *tool, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "ValueError: Tool input validation failed for '%s' in ToolBox '%s': ",
		tool->name, tool->toolbox->id);
	schema_report_write_text(&service->arguments.report, &text);
	answer_error(answer, ANSWER_INVALID_ARGUMENTS, text.data, text.size, UINT32_MAX);
	schema_report_write_json(
		&service->arguments.report, answer_member(answer, "violations"));
}

static void write_too_large(struct answer *answer, const struct tool *tool, const char *what,
	size_t actual, size_t max, const char *unit)
{
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: %s '%s' in ToolBox '%s': %zu %s, %zu are allowed", what, tool->name,
		tool->toolbox->id, actual, unit, max);
	answer_member_number(answer, "actual", actual);
	answer_member_number(answer, "max", max);
}

static void write_unavailable(struct answer *answer, const char *toolbox_id, const char *why)
{
	answer_error_format(answer, ANSWER_UNAVAILABLE,
		"RuntimeError: Toolbox '%s' is unavailable: %s", toolbox_id, why);
}

static void write_arguments_error(
	const struct service *service, const struct tool *tool, int status, struct answer *answer)
{
	const struct arguments *arguments = &service->arguments;

	if (status == ARGUMENTS_E_INVALID)
		write_invalid(service, tool, answer);
	else if (status == ARGUMENTS_E_TOO_LARGE)
		write_too_large(answer, tool, "Too large arguments for", arguments->actual,
			arguments->max, arguments->limit);
	else
		write_unavailable(answer, tool->toolbox->id, strerror(-status));
}

/* Whether the arguments are good; else the error is written. */
static bool check_arguments(
	struct service *service, const struct tool *tool, struct answer *answer)
{
	int r = arguments_check(&service->arguments, tool, &service->request, service->context,
		&service->config.limits);

	if (r != 0)
		write_arguments_error(service, tool, r, answer);
	return r == 0;
}

static bool check_cooldown(const struct runner *runner, const struct tool *tool, struct answer *answer)
{
	double left_s = runner_cooldown_s(runner, tool);

	if (left_s <= 0)
		return true;
	answer_error_format(answer, ANSWER_COOLDOWN,
		"RuntimeError: Tool is on cooldown: '%s' may run again in %.0f s", tool->name,
		ceil(left_s));
	json_write_f64(answer_member(answer, "retry_after_s"), ceil(left_s * 1000) / 1000);
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
	answer_error_format(answer, ANSWER_DENIED,
		"PermissionError: Tool '%s' in ToolBox '%s' has the risk '%s', which a person has to "
		"allow (approval.mode is '%s'), and nobody is there to ask; add '%s/%s' to "
		"approval.allow to let it run unasked",
		tool->name, tool->toolbox->id, tool_risk_name(tool->risk),
		approval_mode_name(config->approval_mode), tool->toolbox->id, tool->name);
	return false;
}

/* DESIGN §4: the request may only shorten what tool, toolbox or configuration give. */
static uint64_t timeout_of(
	const struct config *config, const struct tool *tool, uint64_t requested_ms)
{
	uint64_t allowed_ms = config->timeout_ms;

	if (tool->toolbox->limits.timeout_ms)
		allowed_ms = tool->toolbox->limits.timeout_ms;
	if (tool->timeout_ms)
		allowed_ms = tool->timeout_ms;
	return requested_ms && requested_ms < allowed_ms ? requested_ms : allowed_ms;
}

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

/* It is over: what it holds is given back, its memory is kept for the next one. */
static void close_invocation(struct invocation *invocation)
{
	struct service *service = invocation->service;

	*invocation->link = invocation->next;
	if (invocation->next)
		invocation->next->link = invocation->link;
	service->n_in_flight--;
	answer_deinit(&invocation->answer);
	toolbox_unref(take_ptr(invocation->toolbox));
	invocation->next = service->spare;
	service->spare = invocation;
}

/* Takes @answer over. NULL without memory; then it is still the caller's. */
static struct invocation *open_invocation(
	struct service *service, const struct tool *tool, uint64_t timeout_ms, struct answer *answer)
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
	invocation->has_events = service->config.events_calls;
	buffer_reset(&invocation->call_id);
	if (invocation->has_events && request->call_id != JSON_NONE) {
		size_t size;
		const char *text = json_value_text(request->data, request->call_id, &size);

		buffer_append(&invocation->call_id, text, size);
	}
	link_in(service, invocation);
	return invocation;
}

static struct events_call event_of(const struct invocation *invocation)
{
	return (struct events_call){
		.tool = invocation->tool,
		.call_id = invocation->call_id.data,
		.call_id_size = invocation->call_id.size,
	};
}

static void write_busy(struct answer *answer, const struct tool *tool, uint32_t n_waiting)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: Toolbox '%s' is busy: %u calls are waiting", tool->toolbox->id,
		n_waiting);
}

static void write_refusal(
	struct answer *answer, int status, const struct tool *tool, const struct runner *runner)
{
	if (status == RUNNER_E_BUSY)
		write_busy(answer, tool, runner_n_waiting(runner));
	else if (status == RUNNER_E_QUARANTINED)
		write_unavailable(answer, tool->toolbox->id, runner_why(runner));
	else
		write_unavailable(answer, tool->toolbox->id, strerror(-status));
}

/* Hand the call to its runner. True when it is under way; else the error is in @answer. */
static bool submit(struct service *service, const struct tool *tool, struct runner *runner,
	struct answer *answer)
{
	uint64_t timeout_ms = timeout_of(&service->config, tool, service->request.timeout_ms);
	struct invocation *invocation;
	int r;

	if (service->n_in_flight >= service->config.limits.in_flight) {
		write_busy(answer, tool, service->n_in_flight);
		return false;
	}
	invocation = open_invocation(service, tool, timeout_ms, answer);
	if (!invocation) {
		write_unavailable(answer, tool->toolbox->id, "out of memory");
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
	close_invocation(invocation);
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
	runner = service_runner(service, tool);
	statistics = runner_statistics(runner);
	if (service->is_stopping)
		write_unavailable(answer, tool->toolbox->id, "the service is stopping");
	else if (check_arguments(service, tool, answer) && check_cooldown(runner, tool, answer) &&
		check_approval(config, tool, answer) && submit(service, tool, runner, answer))
		return true;
	statistics_count_refused(statistics);
	return false;
}

void invocation_begin(struct service *service)
{
	struct request *request = &service->request;
	bool is_good = request_read(request, &service->envelope, REQUEST_CALL | REQUEST_OWNER);
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	write_head(request, &answer);
	if (!is_good)
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	else if (begin(service, &answer))
		return;
	answer_send(&answer, service->bus);
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
	bool is_good = request_read(request, &service->envelope, REQUEST_PERSONA);
	struct answer answer;

	if (toolbox_id) {
		is_good = is_good || request->bad_field != NULL;
		request->toolbox_id = *toolbox_id;
	}
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
	answer_send(&answer, service->bus);
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
	write_head(request, &answer);
	if (!is_good)
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	else if (lookup_tool(service->catalogue, request,
			 service->config.duplicate_names == CONFIG_DUPLICATES_LAST, &answer, &tool))
		write_validation(service, tool, &answer);
	answer_send(&answer, service->bus);
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

/* Write the result if it is what the tool has promised; else the error. The code of it, or -1. */
static int write_result(
	struct invocation *invocation, const struct runner_ending *ending, struct answer *answer)
{
	struct service *service = invocation->service;
	const struct tool *tool = invocation->tool;
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	if (schema_validate(tool->output, service->context, ending->result, 0) == 0) {
		size_write_result(answer_member(answer, "result"), ending->text, ending->size,
			service->config.result_max_chars);
		return -1;
	}
	buffer_printf(&text, "RuntimeError: Tool output validation failed for '%s' in ToolBox '%s': ",
		tool->name, tool->toolbox->id);
	schema_explain(tool->output, service->context, ending->result, 0, &report);
	schema_report_write_text(&report, &text);
	answer_error(answer, ANSWER_INVALID_OUTPUT, text.data ? text.data : "", text.size,
		service->config.result_max_chars);
	schema_report_write_json(&report, answer_member(answer, "violations"));
	return ANSWER_INVALID_OUTPUT;
}

static int write_failure(
	struct invocation *invocation, const struct runner_ending *ending, struct answer *answer)
{
	const struct tool *tool = invocation->tool;
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "RuntimeError: Tool execution failed for '%s' in ToolBox '%s': ",
		tool->name, tool->toolbox->id);
	buffer_append(&text, ending->text, ending->size);
	answer_error(answer, ANSWER_TOOL_FAILED, text.data ? text.data : "", text.size,
		invocation->service->config.result_max_chars);
	return ANSWER_TOOL_FAILED;
}

static int write_timeout(const struct invocation *invocation, struct answer *answer)
{
	answer_error_format(answer, ANSWER_TIMEOUT,
		"TimeoutError: Tool '%s' in ToolBox '%s' exceeded its deadline of %llu ms",
		invocation->tool->name, invocation->tool->toolbox->id,
		(unsigned long long)invocation->timeout_ms);
	answer_member_number(answer, "timeout_ms", invocation->timeout_ms);
	return ANSWER_TIMEOUT;
}

static int write_crash(
	const struct invocation *invocation, const struct host_end *end, struct answer *answer)
{
	const struct tool *tool = invocation->tool;
	char how[64];

	if (end->reason == HOST_SIGNALED)
		snprintf(how, sizeof(how), "died (%s)", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		snprintf(how, sizeof(how), "died (exit %d)", end->exit_code);
	else
		snprintf(how, sizeof(how), "sent a malformed frame");
	answer_error_format(answer, ANSWER_HOST_CRASHED,
		"RuntimeError: Toolbox host '%s' %s while running '%s'", tool->toolbox->id, how,
		tool->name);
	if (end->reason == HOST_SIGNALED)
		answer_member_text(answer, "signal", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		answer_member_number(answer, "exit_code", (uint64_t)end->exit_code);
	return ANSWER_HOST_CRASHED;
}

/* Write what the call has come to. The code of an error, or -1. */
static int write_ending(
	struct invocation *invocation, const struct runner_ending *ending, struct answer *answer)
{
	switch (ending->outcome) {
	case RUNNER_RESULT:
		return write_result(invocation, ending, answer);
	case RUNNER_FAILED:
		return write_failure(invocation, ending, answer);
	case RUNNER_TIMED_OUT:
		return write_timeout(invocation, answer);
	case RUNNER_CRASHED:
		return write_crash(invocation, ending->end, answer);
	case RUNNER_TOO_LARGE:
		write_too_large(answer, invocation->tool, "Too large output of", ending->end->actual,
			ending->end->max, "bytes");
		return ANSWER_TOO_LARGE;
	case RUNNER_UNAVAILABLE:
		write_unavailable(answer, invocation->tool->toolbox->id, ending->text);
		return ANSWER_UNAVAILABLE;
	}
	return -1;
}

/* An answer that no frame can hold becomes an error that tells so. */
static int make_it_fit(struct invocation *invocation, struct answer *answer, int code)
{
	size_t frame_bytes = invocation->service->config.limits.frame_bytes;
	size_t size;

	if (answer_fits(answer, frame_bytes))
		return code;
	bus_message_text(&answer->message, &size);
	answer_rewind(answer);
	write_too_large(
		answer, invocation->tool, "Too large answer of", size, frame_bytes, "bytes");
	return ANSWER_TOO_LARGE;
}

static void tell_completion(struct invocation *invocation, const struct runner_ending *ending,
	int code, uint64_t duration_us)
{
	struct service *service = invocation->service;
	struct events_call event = event_of(invocation);
	bool is_told = code < 0 && service->config.events_results;

	events_call_completed(service->bus, &event, (double)duration_us / 1000.0,
		code < 0 ? NULL : answer_code_name((enum answer_code)code),
		is_told ? ending->text : NULL, is_told ? ending->size : 0);
}

void invocation_done(void *data, struct runner_call *call, const struct runner_ending *ending)
{
	struct invocation *invocation = (struct invocation *)call;
	struct service *service = data;
	uint64_t duration_us = (clock_now_ns() - call->submitted_ns) / NS_PER_US;
	int code = write_ending(invocation, ending, &invocation->answer);

	code = make_it_fit(invocation, &invocation->answer, code);
	answer_send(&invocation->answer, service->bus);
	statistics_count(runner_statistics(call->runner), duration_us, code >= 0);
	if (invocation->has_events)
		tell_completion(invocation, ending, code, duration_us);
	close_invocation(invocation);
}

void invocation_free_all(struct service *service)
{
	while (service->invocations)
		close_invocation(service->invocations);
	while (service->spare) {
		struct invocation *invocation = service->spare;

		service->spare = invocation->next;
		runner_call_deinit(&invocation->call);
		buffer_deinit(&invocation->call_id);
		free(invocation);
	}
}
