/* SPDX-License-Identifier: Apache-2.0 */
#include "core/caller.h"

#include "json/writer.h"

static void write_or_null(
	struct buffer *out, const char *key, const struct json_tape *tape, uint32_t token)
{
	json_write_key(out, key);
	if (token != JSON_NONE && json_type_at(tape, token) == JSON_STRING)
		json_write_compact(out, tape, token);
	else
		buffer_append_string(out, "null");
}

void caller_write(const struct tool *tool, const struct json_tape *context,
	const struct request *request, struct buffer *out)
{
	uint32_t session = json_find(context, 0, "session");
	bool has_session = session != JSON_NONE && json_type_at(context, session) == JSON_OBJECT;
	uint32_t lang = has_session ? json_find(context, session, "lang") : JSON_NONE;

	buffer_reset(out);
	if (!kind_facts(tool->toolbox->kind)->asks_caller)
		return;
	buffer_append_char(out, '{');
	write_or_null(out, "call_id", request->data, request->call_id);
	buffer_append_char(out, ',');
	write_or_null(out, "session_id", context,
		has_session ? json_find(context, session, "session_id") : JSON_NONE);
	buffer_append_char(out, ',');
	write_or_null(out, "lang", context, lang ? lang : json_find(context, 0, "lang"));
	buffer_append_char(out, '}');
}
