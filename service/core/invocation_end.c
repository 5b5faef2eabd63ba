/* SPDX-License-Identifier: Apache-2.0 */
#include "core/errors.h"
#include "core/invocation_inside.h"
#include "core/size.h"
#include "util/cleanup.h"
#include "util/clock.h"

/*
 * The end of a call: what it has come to becomes its one answer.
 *
 *   result ─── output schema ─── size guard ──┐
 *   failure, crash, timeout, …: its code ─────┴── fits in a frame? ─── events ─── sent
 *
 * And what it tells before: its progress.
 */

#define NS_PER_US UINT64_C(1000)

/* A tool that tells its progress more often is not repeated: the bus is everybody's. */
#define PROGRESS_MS 50

/* Write the result if it is what the tool has promised; else the error. The code of it, or -1. */
static int write_result(
	struct invocation *invocation, const struct runner_ending *ending, struct answer *answer)
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
	struct invocation *invocation, const struct runner_ending *ending, struct answer *answer)
{
	const struct tool *tool = invocation->tool;

	switch (ending->outcome) {
	case RUNNER_RESULT:
		return write_result(invocation, ending, answer);
	case RUNNER_FAILED:
		errors_write_failure(answer, tool, ending->text, ending->size,
			invocation->service->config.result_max_chars);
		return ANSWER_TOOL_FAILED;
	case RUNNER_ERROR:
		return errors_write_told(
			answer, tool, ending->tape, invocation->service->config.result_max_chars);
	case RUNNER_TIMED_OUT:
		errors_write_timeout(answer, tool, invocation->timeout_ms);
		return ANSWER_TIMEOUT;
	case RUNNER_CANCELLED:
		errors_write_cancelled(answer, &invocation->call_id);
		return ANSWER_CANCELLED;
	case RUNNER_CRASHED:
		errors_write_crash(answer, tool, ending->end);
		return ANSWER_HOST_CRASHED;
	case RUNNER_TOO_LARGE:
		errors_write_too_large(answer, tool, "Too large output of", ending->end->actual,
			ending->end->max, "bytes");
		return ANSWER_TOO_LARGE;
	case RUNNER_COOLING:
		errors_write_cooldown(
			answer, tool, runner_cooldown_s(invocation->call.runner, tool));
		return ANSWER_COOLDOWN;
	case RUNNER_UNAVAILABLE:
		errors_write_unavailable(answer, tool, ending->text);
		return ANSWER_UNAVAILABLE;
	}
	return -1;
}

/* Before the answer goes, since its words are told, too. */
static void tell_completion(
	struct invocation *invocation, const struct runner_ending *ending, uint64_t duration_us)
{
	struct service *service = invocation->service;
	struct events_call event = invocation_event(invocation);
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

void invocation_done(void *data, struct runner_call *call, const struct runner_ending *ending)
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
	invocation_close(invocation);
}

void invocation_progressed(void *data, struct runner_call *call, const struct json_tape *progress)
{
	struct invocation *invocation = (struct invocation *)call;
	struct service *service = data;
	struct events_call event = invocation_event(invocation);
	uint64_t now_ms = clock_now_ms();

	if (!invocation->has_events ||
		(invocation->progressed_ms && now_ms < invocation->progressed_ms + PROGRESS_MS))
		return;
	invocation->progressed_ms = now_ms;
	events_call_progress(service->bus, &event, progress);
}
