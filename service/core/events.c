/* SPDX-License-Identifier: Apache-2.0 */
#include "core/events.h"

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

#define MS_PER_S UINT64_C(1000)

static void write_call_members(struct answer *event, const struct call *call)
{
	answer_member_text(event, "name", call->tool->name);
	answer_member_text(event, "toolbox_id", call->tool->toolbox->id);
	if (call->call_id.size > 0)
		buffer_append(
			answer_member(event, "call_id"), call->call_id.data, call->call_id.size);
	else
		answer_member_text(event, "call_id", NULL);
}

void events_call_started(const struct events *events, const struct call *call)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.started");
	write_call_members(&event, call);
	answer_send(&event, events->bus);
}

void events_call_progress(
	const struct events *events, const struct call *call, const struct json_tape *progress)
{
	uint32_t number = json_find(progress, 0, "progress");
	uint32_t text = json_find(progress, 0, "text");
	cleanup(buffer_deinit) struct buffer decoded = {0};
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.progress");
	write_call_members(&event, call);
	if (number != JSON_NONE && json_type_at(progress, number) == JSON_NUMBER)
		json_write_compact(answer_member(&event, "progress"), progress, number);
	else
		answer_member_text(&event, "progress", NULL);
	if (text != JSON_NONE && json_type_at(progress, text) == JSON_STRING)
		json_string_decode(progress, text, &decoded);
	if (decoded.size > 0)
		json_write_string(answer_member(&event, "text"), decoded.data,
			utf8_prefix(decoded.data, decoded.size, EVENTS_TEXT_POINTS));
	else
		answer_member_text(&event, "text", NULL);
	answer_send(&event, events->bus);
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
	answer_send(&event, events->bus);
}

void events_watch(struct events *events, const struct request *request, struct answer *answer)
{
	uint64_t until_ms = clock_now_ms() + request->seconds * MS_PER_S;

	/* A longer watch is not cut short. */
	if (until_ms > events->watched_until_ms)
		events->watched_until_ms = until_ms;
	answer_member_number(answer, "seconds", request->seconds);
}
