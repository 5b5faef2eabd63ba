/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/events.h"

#include <string.h>

#include "core/call/masked_arguments.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/clock.h"
#include "util/text/utf8.h"

/* Append the members that name @call. */
static void write_call_members(struct answer *event, const struct call *call)
{
	char id[CALL_ID_BYTES];

	call_id_format(call->process, call->runner_call.id, id);
	answer_member_text(event, "id", id);
	if (call->tool)
		answer_member_text(event, "name", call->tool->name);
	else
		buffer_append_buffer(answer_member(event, "name"), &call->name);
	answer_member_text(event, "toolbox_id", call->tool ? call->tool->toolbox->id : NULL);
	call_write_id(call, answer_member(event, "call_id"));
}

/* Append the JSON text @text if it is a string, else null. */
static void write_string(struct answer *event, const char *key, const struct buffer *text)
{
	if (text->size > 0 && *text->data == '"')
		buffer_append_buffer(answer_member(event, key), text);
	else
		answer_member_text(event, key, NULL);
}

static void write_caller_members(struct answer *event, const struct call *call)
{
	write_string(event, "source", &call->source);
	write_string(event, "session_id", &call->session);
}

/* Append the members of the caller of @call, and send @event. */
static void send_call_event(
	const struct events *events, struct answer *event, const struct call *call)
{
	write_caller_members(event, call);
	answer_announce(event, events->audience);
}

/* Append @arguments of @call, without the values that are writeOnly. Arguments are left out if they
 * cannot be masked, or would make the event larger than a frame. */
static void write_arguments(const struct events *events, const struct call *call,
	const struct text_view *arguments, struct answer *event)
{
	const struct config *config = events->config;
	cleanup(masked_arguments_deinit) struct masked_arguments shown = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	if (masked_arguments_mask(
		    &shown, call->tool, events->context, arguments->text, arguments->size) != 0)
		return;
	json_write_compact(&text, &shown.tape, 0);
	if (buffer_status(&text) != 0)
		return;
	answer_keep(event);
	answer_write_arguments(
		answer_member(event, "args"), text.data, text.size, config->result_max_chars);
	if (!answer_fits(event, config->limits.frame_bytes))
		answer_rewind(event);
}

void events_call_started(
	const struct events *events, const struct call *call, const struct text_view *arguments)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.started");
	write_call_members(&event, call);
	write_caller_members(&event, call);
	if (arguments && events->config->events_arguments)
		write_arguments(events, call, arguments, &event);
	answer_announce(&event, events->audience);
}

/* Begin a report about @call, with the context of its response @answer if the caller @wants_own. */
static void begin_report(
	struct answer *event, const struct call *call, const struct answer *answer, bool wants_own)
{
	if (!wants_own || !answer_begin_aside(event, answer, "ovos.tools.call.progress"))
		answer_begin_broadcast(event, "ovos.tools.call.progress");
	write_call_members(event, call);
}

void events_call_waits(const struct audience *audience, const struct call *call,
	const struct answer *answer, const char *text)
{
	struct answer event;

	begin_report(&event, call, answer, true);
	answer_member_text(&event, "progress", NULL);
	answer_member_text(&event, "text", text);
	answer_member_text(&event, "state", "waiting");
	write_caller_members(&event, call);
	answer_announce(&event, audience);
}

void events_call_progress(
	const struct events *events, const struct call *call, const struct json_tape *progress)
{
	uint32_t number = json_find_typed_at(progress, 0, "progress", JSON_NUMBER);
	uint32_t text = json_find_typed_at(progress, 0, "text", JSON_STRING);
	cleanup(buffer_deinit) struct buffer decoded = {0};
	struct answer event;

	begin_report(&event, call, &call->answer, call->wants_progress);
	if (number != JSON_NONE)
		json_write_compact(answer_member(&event, "progress"), progress, number);
	else
		answer_member_text(&event, "progress", NULL);
	if (text != JSON_NONE)
		json_string_decode(progress, text, &decoded);
	if (decoded.size > 0)
		json_write_string(answer_member(&event, "text"), decoded.data,
			utf8_prefix(decoded.data, decoded.size, EVENTS_TEXT_POINTS));
	else
		answer_member_text(&event, "text", NULL);
	send_call_event(events, &event, call);
}

void events_call_completed(const struct events *events, const struct call *call, double duration_ms,
	const char *error, size_t error_size, const char *result, size_t result_size)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.completed");
	write_call_members(&event, call);
	answer_member_boolean(&event, "ok", !error);
	json_write_f64(answer_member(&event, "duration_ms"), duration_ms);
	if (error)
		buffer_append(answer_member(&event, "error"), error, error_size);
	if (result)
		buffer_append(answer_member(&event, "result"), result, result_size);
	send_call_event(events, &event, call);
}

void events_call_refused(const struct events *events, const struct call *call,
	const struct text_view *arguments, const struct answer *answer)
{
	static const char none[] = "\"\"";
	size_t size = strlen(none);
	const char *error = answer_error_json(answer, &size);

	events_call_started(events, call, arguments);
	events_call_completed(events, call, 0, error ? error : none, size, NULL, 0);
}

void events_watch(struct events *events, const struct request *request, struct answer *answer)
{
	uint64_t until_ms = clock_now_ms() + request->seconds * MS_PER_S;

	/* A longer watch is not cut short. */
	if (until_ms > events->watched_until_ms)
		events->watched_until_ms = until_ms;
	answer_member_number(answer, "seconds", request->seconds);
}
