/* SPDX-License-Identifier: Apache-2.0 */
#include "core/events.h"

#include "json/writer.h"

static void write_call(struct answer *event, const struct events_call *call)
{
	answer_member_text(event, "name", call->tool->name);
	answer_member_text(event, "toolbox_id", call->tool->toolbox->id);
	if (call->call_id_size > 0)
		buffer_append(answer_member(event, "call_id"), call->call_id, call->call_id_size);
	else
		answer_member_text(event, "call_id", NULL);
}

void events_call_started(struct bus *bus, const struct events_call *call)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.started");
	write_call(&event, call);
	answer_send(&event, bus);
}

void events_call_completed(struct bus *bus, const struct events_call *call, double duration_ms,
	const char *error, size_t error_size, const char *result, size_t result_size)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.call.completed");
	write_call(&event, call);
	answer_member_boolean(&event, "ok", !error);
	json_write_f64(answer_member(&event, "duration_ms"), duration_ms);
	if (error)
		buffer_append(answer_member(&event, "error"), error, error_size);
	if (result)
		buffer_append(answer_member(&event, "result"), result, result_size);
	answer_send(&event, bus);
}
