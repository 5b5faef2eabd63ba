/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/match.h"

#include <errno.h>
#include <string.h>

#include "json/document.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/text/utf8.h"

bool turn_match_take(const struct json_tape *response, struct buffer *given, struct buffer *get)
{
	uint32_t name = response ? json_find_typed_at(response, 0, "name", JSON_STRING) : JSON_NONE;
	uint32_t toolbox =
		response ? json_find_typed_at(response, 0, "toolbox_id", JSON_STRING) : JSON_NONE;
	uint32_t args = response ? json_find_typed_at(response, 0, "args", JSON_OBJECT) : JSON_NONE;

	if (name == JSON_NONE || toolbox == JSON_NONE || args == JSON_NONE ||
		json_find_typed_at(response, 0, "complete", JSON_TRUE) == JSON_NONE)
		return false;
	json_write_compact(given, response, args);
	buffer_append_string(get, "{\"name\":");
	json_write_compact(get, response, name);
	json_write_member_value(get, "toolbox_id", response, toolbox);
	return true;
}

int turn_match_read(const struct json_tape *response, const struct buffer *args,
	struct tools *tools, struct turn_calls *calls)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer list = {0};
	int r;

	/* As a list of one tool. */
	buffer_append_string(&list, "{\"tools\":[");
	json_write_compact(&list, response, 0);
	buffer_append_string(&list, "]}");
	r = buffer_status(&list);
	if (r == 0 &&
		json_tape_read(&tape, list.data, list.size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		r = -ENOMEM;
	if (r == 0)
		r = tools_read(tools, &tape);
	if (r == 0 && tools->n_items == 0)
		r = -ENOMEM;
	return r == 0 ? turn_calls_take_one(calls, &tools->items[0], args) : r;
}

/* Return the reason in the error of a call: without the name of the tool. */
static struct text_view find_error_reason(const struct buffer *error)
{
	static const char mark[] = "in ToolBox '";
	const char *end = error->data + error->size;
	const char *at =
		error->size > 0 ? memmem(error->data, error->size, mark, strlen(mark)) : NULL;
	const char *colon = at ? memmem(at, (size_t)(end - at), "': ", 3) : NULL;

	if (colon)
		return (struct text_view){colon + 3, (size_t)(end - colon) - 3};
	return buffer_view(error);
}

void turn_match_say(const struct turn_call *call, const struct buffer *lang, enum spoken_face face,
	struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape args = {0};
	cleanup(json_tape_cleanup) struct json_tape result = {0};
	cleanup(buffer_deinit) struct buffer tag = {0};
	struct spoken_values values = {.arguments = &args};

	if (!call->spoken || json_tape_read(&args, call->args.data, call->args.size,
				     JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return;
	if (call->result.size > 0 &&
		json_tape_read(&result, call->result.data, call->result.size,
			JSON_DOCUMENT_DEPTH_MAX, NULL) == 0 &&
		json_type_at(&result, 0) == JSON_OBJECT)
		values.result = &result;
	if (face == SPOKEN_FAILED)
		values.error = find_error_reason(&call->error);
	spoken_write(call->spoken, face,
		lang->size > 0 ? (struct text_view){lang->data, lang->size}
			       : TEXT_VIEW(SPOKEN_LANGUAGE),
		&values, out, &tag);
}

/* Append the result @json as words: the value of an object with one member, else its JSON. */
static void write_plain_result(const struct buffer *json, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t value = 0;

	if (json_tape_read(&tape, json->data, json->size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return;
	if (json_type_at(&tape, 0) == JSON_OBJECT && json_count(&tape, 0) == 1)
		value = json_first(&tape, 0) + 1;
	if (json_type_at(&tape, value) == JSON_STRING)
		json_string_decode(&tape, value, out);
	else
		json_write_compact(out, &tape, value);
}

bool turn_match_answer(const struct turn_call *call, const struct buffer *lang, size_t chars_max,
	struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer plain = {0};

	turn_match_say(call, lang, call->is_ok ? SPOKEN_DONE : SPOKEN_FAILED, out);
	if (out->size > 0)
		return true;
	if (call->is_ok)
		write_plain_result(&call->result, &plain);
	else
		buffer_append_buffer(&plain, &call->error);
	if (plain.size > 0)
		buffer_append(out, plain.data, utf8_prefix(plain.data, plain.size, chars_max));
	return false;
}
