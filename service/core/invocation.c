/* SPDX-License-Identifier: Apache-2.0 */
#include "core/invocation.h"

#include <string.h>

#include "catalogue/approval.h"
#include "catalogue/filter.h"
#include "core/errors.h"
#include "core/invocation_inside.h"
#include "core/lookup.h"
#include "json/writer.h"

/*
 * The beginning of a call: the checks, in the order of DESIGN §2.2, as far as the queue. What fails
 * writes its error into the answer, and is sent at once.
 */

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

/* DESIGN §4: the request may only shorten what tool, toolbox or configuration give. */
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
		errors_write_unavailable(answer, tool, runner_why(runner));
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
	invocation = invocation_open(service, tool, timeout_ms, answer);
	if (!invocation) {
		errors_write_unavailable(answer, tool, "out of memory");
		return false;
	}
	r = runner_submit(runner, &invocation->call, service->arguments.json,
		service->arguments.size, timeout_ms);
	if (r == 0) {
		struct events_call event = invocation_event(invocation);

		if (invocation->has_events)
			events_call_started(service->bus, &event);
		return true;
	}
	*answer = invocation->answer;
	invocation->answer = (struct answer){0};
	invocation_close(invocation);
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
