/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text/utf8.h"

/* The most code points of a source in a text. */
#define SOURCE_POINTS 128

void errors_write_missing_name(struct answer *answer)
{
	answer_error_format(answer, ANSWER_MISSING_NAME, "Missing required field: 'name'");
}

/* Return the failure of the toolbox @id, or NULL. */
static const struct catalogue_failure *find_failure(
	const struct catalogue *catalogue, const struct text_view *id)
{
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++) {
		const struct catalogue_failure *failure = catalogue_failure(catalogue, i);

		if (text_view_is(*id, failure->toolbox_id))
			return failure;
	}
	return NULL;
}

/* Append "; there is no toolbox 'wether', did you mean 'weather'?" when @catalogue does not have
 * the toolbox that @request names, or why the toolbox failed; with an empty name nothing. */
static void write_unknown_toolbox(
	const struct catalogue *catalogue, const struct request *request, struct buffer *out)
{
	const struct text_view *id = &request->toolbox_id;
	const struct catalogue_failure *failure;
	const char *near;

	if (!id->text || id->size == 0 ||
		catalogue_find_toolbox(catalogue, id->text, id->size) >= 0)
		return;
	failure = find_failure(catalogue, id);
	if (failure) {
		buffer_printf(
			out, "; the toolbox '%s' failed: %s", failure->toolbox_id, failure->error);
		return;
	}
	near = catalogue_suggest_toolbox(catalogue, id->text, id->size);
	buffer_printf(out, "; there is no toolbox '%.*s'", request_name_length(id), id->text);
	if (near)
		buffer_printf(out, ", did you mean '%s'?", near);
}

void errors_write_unknown_tool(
	struct answer *answer, const struct catalogue *catalogue, const struct request *request)
{
	const char *names[CATALOGUE_SUGGESTIONS_MAX];
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t n_names = 0;
	struct buffer *out;

	if (request->name_is_string)
		n_names = catalogue_suggest(catalogue, request->name_text.text,
			request->name_text.size, request->toolbox_id.text, request->toolbox_id.size,
			names);
	buffer_printf(&text, "Unknown tool: '%.*s'", request_name_length(&request->name_text),
		request->name_text.text);
	write_unknown_toolbox(catalogue, request, &text);
	for (size_t i = 0; i < n_names; i++)
		buffer_printf(&text, "%s'%s'", i > 0 ? ", " : "; did you mean ", names[i]);
	buffer_append_string(&text, n_names > 0 ? "?" : "");
	answer_error(answer, ANSWER_UNKNOWN_TOOL, text.data, text.size, UINT32_MAX);
	out = answer_member(answer, "suggestions");
	buffer_append_char(out, '[');
	for (size_t i = 0; i < n_names; i++) {
		json_write_comma(out);
		json_write_text(out, names[i]);
	}
	buffer_append_char(out, ']');
}

static void write_owners(const struct catalogue *catalogue, const struct text_view *name,
	const char *quote, const char *between, struct buffer *out)
{
	const char *id;

	for (size_t i = 0; (id = catalogue_owner(catalogue, name->text, name->size, i)); i++) {
		if (i > 0)
			buffer_append_string(out, between);
		buffer_append_string(out, quote);
		buffer_append_string(out, id);
		buffer_append_string(out, quote);
	}
}

void errors_write_ambiguous_tool(
	struct answer *answer, const struct catalogue *catalogue, const struct request *request)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct buffer *out;

	buffer_printf(&text, "Ambiguous tool: '%.*s' is in toolboxes ",
		request_name_length(&request->name_text), request->name_text.text);
	write_owners(catalogue, &request->name_text, "'", ", ", &text);
	buffer_append_string(&text, "; name one in 'toolbox_id'");
	answer_error(answer, ANSWER_AMBIGUOUS_TOOL, text.data, text.size, UINT32_MAX);
	out = answer_member(answer, "toolbox_ids");
	buffer_append_char(out, '[');
	write_owners(catalogue, &request->name_text, "\"", ",", out);
	buffer_append_char(out, ']');
}

void errors_write_invalid_arguments(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text,
		"ValueError: Tool input validation failed for '%s' in ToolBox '%s': ", tool->name,
		tool->toolbox->id);
	schema_report_write_text(report, "Parameters", &text);
	answer_error(answer, ANSWER_INVALID_ARGUMENTS, text.data, text.size, max);
	schema_report_write_json(report, answer_member(answer, "violations"));
}

/* In whole milliseconds, rounded up: a caller that waits so long is not refused again. */
static void write_retry(struct answer *answer, double seconds)
{
	json_write_f64(answer_member(answer, "retry_after_s"),
		(double)clock_round_up(seconds * MS_PER_S) / MS_PER_S);
}

void errors_write_cooldown(struct answer *answer, const struct tool *tool, double left_s)
{
	answer_error_format(answer, ANSWER_COOLDOWN,
		"RuntimeError: Tool is on cooldown: '%s' may run again in %llu s", tool->name,
		(unsigned long long)clock_round_up(left_s));
	write_retry(answer, left_s);
}

void errors_write_denied(
	struct answer *answer, const struct tool *tool, enum approval_mode mode, const char *reason)
{
	answer_error_format(answer, ANSWER_DENIED,
		"PermissionError: Tool '%s' in ToolBox '%s' has the risk '%s', which needs a "
		"person's approval (approval.mode is '%s'), and %s, or allow the "
		"tool for good: `toolboxctl allow %s/%s`, or approval.allow",
		tool->name, tool->toolbox->id, tool_risk_names[tool->risk],
		approval_mode_names[mode], reason, tool->toolbox->id, tool->name);
}

void errors_write_refused(struct answer *answer, const struct tool *tool, const char *reason)
{
	answer_error_format(answer, ANSWER_DENIED,
		"PermissionError: Tool '%s' in ToolBox '%s' was denied: %s", tool->name,
		tool->toolbox->id, reason);
}

void errors_write_busy(struct answer *answer, const struct tool *tool, uint32_t n_waiting)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: Toolbox '%s' is busy: %u call%s waiting", tool->toolbox->id,
		n_waiting, n_waiting == 1 ? " is" : "s are");
}

void errors_write_many_questions(
	struct answer *answer, const struct tool *tool, uint32_t n_pending, bool is_share)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: Toolbox '%s' is busy: %u call%s waiting for a person's approval%s "
		"(limits.pending_approvals)",
		tool->toolbox->id, n_pending, n_pending == 1 ? " is" : "s are",
		is_share ? ", and the rest is for other clients and sources" : "");
}

/* Write that there are too many of @what from @source, for @reason. */
static void write_too_many(struct answer *answer, const char *what, const struct text_view *source,
	double retry_after_s, const char *reason)
{
	size_t size = utf8_prefix(source->text ? source->text : "", source->size, SOURCE_POINTS);

	if (source->text)
		answer_error_format(answer, ANSWER_BUSY,
			"RuntimeError: Too many %s from '%.*s': %s", what, (int)size, source->text,
			reason);
	else
		answer_error_format(answer, ANSWER_BUSY,
			"RuntimeError: Too many %s from one client: %s", what, reason);
	write_retry(answer, retry_after_s);
}

void errors_write_too_many(struct answer *answer, const struct text_view *source,
	double retry_after_s, const char *reason)
{
	write_too_many(answer, "calls", source, retry_after_s, reason);
}

void errors_write_checking(struct answer *answer, const struct text_view *source, uint64_t wait_ns)
{
	write_too_many(answer, "checks", source, (double)wait_ns / NS_PER_S,
		"they have taken more than their share of the time");
}

void errors_write_results(struct answer *answer, const struct tool *tool, uint64_t wait_ns)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: Toolbox '%s' is busy: its results have taken more than their share "
		"of the time to check",
		tool->toolbox->id);
	write_retry(answer, (double)wait_ns / NS_PER_S);
}

void errors_write_unavailable(struct answer *answer, const struct tool *tool, const char *reason)
{
	answer_error_format(answer, ANSWER_UNAVAILABLE,
		"RuntimeError: Toolbox '%s' is unavailable: %s", tool->toolbox->id, reason);
}

void errors_write_too_large(struct answer *answer, const struct tool *tool, const char *subject,
	uint64_t actual, uint64_t max, const char *unit)
{
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: %s '%s' in ToolBox '%s': %" PRIu64 " %s, %" PRIu64 " are allowed",
		subject, tool->name, tool->toolbox->id, actual, unit, max);
	answer_member_number(answer, "actual", actual);
	answer_member_number(answer, "max", max);
}

void errors_write_unchecked(
	struct answer *answer, const struct tool *tool, const char *subject, const char *text)
{
	answer_error_format(answer, ANSWER_TOO_LARGE, "RuntimeError: %s '%s' in ToolBox '%s' %s",
		subject, tool->name, tool->toolbox->id, text);
}

void errors_write_failure(struct answer *answer, const struct tool *tool, const char *text,
	size_t size, const char *refused, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer whole = {0};

	buffer_printf(&whole,
		"RuntimeError: Tool execution failed for '%s' in ToolBox '%s': ", tool->name,
		tool->toolbox->id);
	buffer_append(&whole, text, size);
	if (refused)
		buffer_printf(&whole, HOST_REFUSED_FORMAT, refused);
	answer_error(answer, ANSWER_TOOL_FAILED, whole.data, whole.size, max);
	if (refused)
		answer_member_text(answer, "refused", refused);
}

/* Put the decoded string @key of @reported into @ret_text; nothing when there is none. */
static void read_reported_text(
	const struct json_tape *reported, const char *key, struct buffer *ret_text)
{
	buffer_reset(ret_text);
	json_read_text(reported, json_find(reported, 0, key), ret_text);
}

static void write_reported_texts(
	struct answer *answer, const struct json_tape *reported, uint32_t max)
{
	static const char *const keys[] = {"signal", "stderr", "output"};
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (json_find(reported, 0, keys[i]) == JSON_NONE)
			continue;
		read_reported_text(reported, keys[i], &text);
		json_write_string(answer_member(answer, keys[i]), buffer_text(&text),
			text.size > 0 ? answer_cut_text(text.data, text.size, max) : 0);
	}
}

static void write_reported_failure(struct answer *answer, const struct tool *tool,
	const struct json_tape *reported, const char *refused, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	uint32_t exit_code = json_find_typed_at(reported, 0, "exit_code", JSON_NUMBER);

	read_reported_text(reported, "message", &message);
	errors_write_failure(answer, tool, buffer_text(&message), message.size, refused, max);
	if (exit_code != JSON_NONE)
		json_write_compact(answer_member(answer, "exit_code"), reported, exit_code);
	write_reported_texts(answer, reported, max);
}

/* Copy one violation that the host has reported. One without `path` or `message` is ignored. */
static void copy_violation(
	struct schema_report *report, const struct json_tape *reported, uint32_t at)
{
	uint32_t path =
		json_type_at(reported, at) == JSON_OBJECT ? json_find(reported, at, "path") : 0;
	uint32_t message = path ? json_find(reported, at, "message") : JSON_NONE;
	cleanup_free char *path_text = NULL;
	cleanup_free char *message_text = NULL;

	if (message == JSON_NONE || json_type_at(reported, path) != JSON_STRING ||
		json_type_at(reported, message) != JSON_STRING)
		return;
	path_text = json_string_dup(reported, path, NULL);
	message_text = json_string_dup(reported, message, NULL);
	if (path_text && message_text)
		schema_report_add(report, path_text, message_text);
}

static void read_violations(const struct json_tape *reported, struct schema_report *ret_report)
{
	uint32_t list = json_find_typed_at(reported, 0, "violations", JSON_ARRAY);

	json_each_found(at, reported, list)
		copy_violation(ret_report, reported, at);
}

static bool read_error_number(const struct json_tape *reported, const char *key, uint64_t *ret)
{
	return json_read_u64(reported, json_find(reported, 0, key), ret);
}

bool errors_read_refusal(const struct json_tape *reported, struct schema_report *ret_report)
{
	if (!json_member_is(reported, 0, "code", "invalid_arguments"))
		return false;
	read_violations(reported, ret_report);
	return true;
}

int errors_write_reported(struct answer *answer, const struct tool *tool,
	const struct json_tape *reported, const char *refused, uint32_t max)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	uint64_t actual = 0;
	uint64_t allowed = 0;

	if (errors_read_refusal(reported, &report)) {
		errors_write_invalid_arguments(answer, tool, &report, max);
		return ANSWER_INVALID_ARGUMENTS;
	}
	if (json_member_is(reported, 0, "code", "invalid_output")) {
		read_violations(reported, &report);
		errors_write_invalid_output(answer, tool, &report, max);
		return ANSWER_INVALID_OUTPUT;
	}
	if (json_member_is(reported, 0, "code", "unavailable")) {
		read_reported_text(reported, "message", &reason);
		reason.size = reason.size > 0 ? answer_cut_text(reason.data, reason.size, max) : 0;
		errors_write_unavailable(
			answer, tool, buffer_terminate(&reason) ? reason.data : "");
		return ANSWER_UNAVAILABLE;
	}
	if (json_member_is(reported, 0, "code", "too_large") &&
		read_error_number(reported, "actual", &actual) &&
		read_error_number(reported, "max", &allowed)) {
		errors_write_too_large(
			answer, tool, "Too large output of", actual, allowed, "bytes");
		return ANSWER_TOO_LARGE;
	}
	if (json_member_is(reported, 0, "code", "too_large") &&
		read_error_number(reported, "values", &allowed)) {
		buffer_printf(&reason, "has more than %" PRIu64 " values", allowed);
		errors_write_unchecked(answer, tool, "The output of",
			buffer_terminate(&reason) ? reason.data : "has too many values");
		answer_member_number(answer, "actual", allowed + 1);
		answer_member_number(answer, "max", allowed);
		return ANSWER_TOO_LARGE;
	}
	write_reported_failure(answer, tool, reported, refused, max);
	return ANSWER_TOOL_FAILED;
}

void errors_write_invalid_output(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text,
		"RuntimeError: Tool output validation failed for '%s' in ToolBox '%s': ",
		tool->name, tool->toolbox->id);
	schema_report_write_text(report, "Result", &text);
	answer_error(answer, ANSWER_INVALID_OUTPUT, text.data, text.size, max);
	schema_report_write_json(report, answer_member(answer, "violations"));
}

void errors_write_timeout(
	struct answer *answer, const struct tool *tool, uint64_t timeout_ms, const char *fault)
{
	answer_error_format(answer, ANSWER_TIMEOUT,
		"TimeoutError: Tool '%s' in ToolBox '%s' exceeded its deadline of %llu ms%s%s%s",
		tool->name, tool->toolbox->id, (unsigned long long)timeout_ms, fault ? " (" : "",
		fault ? fault : "", fault ? ")" : "");
	answer_member_number(answer, "timeout_ms", timeout_ms);
}

void errors_write_cancelled(struct answer *answer, const struct buffer *call_id, const char *id)
{
	if (call_id->size > 0)
		answer_error_format(answer, ANSWER_CANCELLED,
			"RuntimeError: Call '%.*s' was cancelled", (int)call_id->size - 2,
			call_id->data + 1);
	else if (id)
		answer_error_format(
			answer, ANSWER_CANCELLED, "RuntimeError: Call '%s' was cancelled", id);
	else
		answer_error_format(
			answer, ANSWER_CANCELLED, "RuntimeError: The call was cancelled");
}

/* Return the place after the kind of an error, such as "ValueError: ", at the front of @text. */
static const char *skip_kind(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && ((*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z')))
		at++;
	return end - at > 2 && at[0] == ':' && at[1] == ' ' ? at + 2 : text;
}

void errors_write_reason(const struct answer *answer, const struct tool *tool, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer place = {0};
	size_t size = 0;
	const char *error = answer_error_json(answer, &size);
	const char *found = NULL;
	const char *end;

	if (!error)
		return;
	end = error + size - 1;
	if (tool)
		buffer_printf(&place, "in ToolBox '%s': ", tool->toolbox->id);
	if (place.size > 0)
		found = memmem(error, size, place.data, place.size);
	error = found ? found + place.size : skip_kind(error + 1, end);
	buffer_append_char(out, '"');
	buffer_append(out, error, (size_t)(end - error));
	buffer_append_char(out, '"');
}

void errors_write_crash(struct answer *answer, const struct tool *tool, const struct host_exit *end)
{
	char how[64];
	char refused[128] = "";

	if (end->reason == HOST_SIGNALED)
		snprintf(how, sizeof(how), "died (%s)", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		snprintf(how, sizeof(how), "died (exit %d)", end->exit_code);
	else
		snprintf(how, sizeof(how), "sent a malformed frame");
	if (end->refused)
		snprintf(refused, sizeof(refused), HOST_REFUSED_FORMAT, end->refused);
	answer_error_format(answer, ANSWER_HOST_CRASHED,
		"RuntimeError: Toolbox host '%s' %s while running '%s'%s", tool->toolbox->id, how,
		tool->name, refused);
	if (end->reason == HOST_SIGNALED)
		answer_member_text(answer, "signal", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		answer_member_number(answer, "exit_code", (uint64_t)end->exit_code);
	if (end->refused)
		answer_member_text(answer, "refused", end->refused);
}
