/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call_result.h"

#include "json/member.h"
#include "json/writer.h"

/* Append the string member @key of @object, if there is one. */
static void append_member(
	const struct json_tape *tape, uint32_t object, const char *key, struct buffer *text)
{
	json_read_text(tape, json_find(tape, object, key), text);
}

/* ── errors ──────────────────────────────────────────────────────────────────────────────────── */

bool mcp_is_request_error(const struct json_tape *tape)
{
	static const char *const codes[] = {"unknown_tool", "missing_name", "bad_request", NULL};

	return json_word_at(tape, json_find(tape, 0, "code"), codes) >= 0;
}

/* Append the error, and each violation on a line of its own. */
static void write_error_text(const struct json_tape *tape, struct buffer *text)
{
	uint32_t violations = json_find_typed_at(tape, 0, "violations", JSON_ARRAY);

	append_member(tape, 0, "error", text);
	json_each_found(i, tape, violations) {
		size_t start;

		if (json_type_at(tape, i) != JSON_OBJECT)
			continue;
		buffer_append_char(text, '\n');
		start = text->size;
		append_member(tape, i, "path", text);
		buffer_append_string(text, text->size > start ? ": " : "");
		append_member(tape, i, "message", text);
	}
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the result at @result is the one that the size guard puts in the place of a long
 * one. */
static bool is_truncated(const struct json_tape *tape, uint32_t result)
{
	uint32_t reason;

	if (json_type_at(tape, result) != JSON_OBJECT || json_count(tape, result) != 6 ||
		json_find_typed_at(tape, result, "truncated", JSON_TRUE) == JSON_NONE ||
		json_find_typed_at(tape, result, "actual_chars", JSON_NUMBER) == JSON_NONE ||
		json_find_typed_at(tape, result, "hint", JSON_STRING) == JSON_NONE ||
		json_find_typed_at(tape, result, "head", JSON_STRING) == JSON_NONE)
		return false;
	reason = json_find_typed_at(tape, result, "reason", JSON_STRING);
	return json_is_text(tape, reason, "too_long");
}

/* Append a text block with @text, after a comma unless @is_first. */
static void write_text_block(struct buffer *out, const struct buffer *text, bool is_first)
{
	buffer_append_string(out, is_first ? "" : ",");
	buffer_append_string(out, "{\"type\":\"text\",\"text\":");
	json_write_buffer(out, text);
	buffer_append_char(out, '}');
}

/* Append the content that is one block of @text. */
static void write_text_content(struct buffer *out, const struct buffer *text)
{
	buffer_append_string(out, "\"content\":[");
	write_text_block(out, text, true);
	buffer_append_char(out, ']');
}

static void write_failed_result(struct buffer *out, struct buffer *text)
{
	write_text_content(out, text);
	buffer_append_string(out, ",\"isError\":true");
}

static void write_structured(struct buffer *out, const struct json_tape *tape, uint32_t value)
{
	json_write_member_value(out, "structuredContent", tape, value);
}

/* Return `structured` of the rich content at @result, or JSON_NONE. The legacy era has objects
 * alone there. */
static uint32_t find_structured(
	const struct mcp_message *message, const struct json_tape *tape, uint32_t result)
{
	return message->era == MCP_LEGACY
		       ? json_find_typed_at(tape, result, "structured", JSON_OBJECT)
		       : json_find(tape, result, "structured");
}

/* Append the words for the cut of the rich content at @result, which may be the tool's own. */
static void append_hint(const struct json_tape *tape, uint32_t result, struct buffer *text)
{
	size_t start = text->size;

	append_member(tape, result, "hint", text);
	if (text->size == start)
		buffer_append_string(text, "The tool has cut this result.");
}

/* Append the value at @value as the text that a model reads. */
static void write_value_text(struct buffer *text, const struct json_tape *tape, uint32_t value)
{
	size_t size;
	const char *json = json_value_text(tape, value, &size);

	json_write_readable(text, json, size);
}

/* Append the blocks at @content of the rich content at @result. A client that reads texts alone
 * gets the structured value as one when there is no block, and in the last one that the result was
 * cut. */
static void write_blocks(struct buffer *out, const struct json_tape *tape, uint32_t result,
	uint32_t content, struct buffer *text)
{
	uint32_t structured = json_find(tape, result, "structured");
	uint32_t n_blocks = json_count(tape, content);

	buffer_append_string(out, "\"content\":");
	json_write_compact(out, tape, content);
	out->size -= buffer_status(out) == 0; /* the bracket */
	if (n_blocks == 0 && structured != JSON_NONE) {
		if (is_truncated(tape, structured))
			append_member(tape, structured, "head", text);
		else
			write_value_text(text, tape, structured);
		write_text_block(out, text, n_blocks++ == 0);
		buffer_reset(text);
	}
	if (json_find_typed_at(tape, result, "truncated", JSON_TRUE) != JSON_NONE) {
		append_hint(tape, result, text);
		write_text_block(out, text, n_blocks == 0);
	}
	buffer_append_char(out, ']');
}

/* Append the members of the response to @message, a call with the rich content at @result. A value
 * that was cut does not satisfy the schema of the tool, so the client must not read it. */
static void write_content(struct buffer *out, const struct mcp_message *message,
	const struct json_tape *tape, uint32_t result, uint32_t content, struct buffer *text)
{
	uint32_t structured = find_structured(message, tape, result);
	bool is_cut = structured != JSON_NONE && is_truncated(tape, structured);

	write_blocks(out, tape, result, content, text);
	if (structured != JSON_NONE && !is_cut)
		write_structured(out, tape, structured);
	buffer_append_string(out, is_cut ? ",\"isError\":true" : ",\"isError\":false");
}

/* Append the members of the response to @message, a call that has the result at @result. */
static void write_result(struct buffer *out, const struct mcp_message *message,
	const struct json_tape *tape, uint32_t result, bool has_content, struct buffer *text)
{
	bool is_object = json_type_at(tape, result) == JSON_OBJECT;
	uint32_t content = has_content && is_object
				   ? json_find_typed_at(tape, result, "content", JSON_ARRAY)
				   : JSON_NONE;

	if (is_truncated(tape, result)) {
		append_member(tape, result, "hint", text);
		buffer_append_char(text, '\n');
		append_member(tape, result, "head", text);
		write_failed_result(out, text);
		return;
	}
	if (content != JSON_NONE) {
		write_content(out, message, tape, result, content, text);
		return;
	}
	write_value_text(text, tape, result);
	write_text_content(out, text);
	if (is_object)
		write_structured(out, tape, result);
	buffer_append_string(out, ",\"isError\":false");
}

/* Return the member of `_meta` with the flag of the call; "" without one. */
static const char *speech_meta(const struct json_tape *data)
{
	uint32_t speaks = json_find(data, 0, "run_llm");

	if (speaks == JSON_NONE)
		return "";
	return json_is_true(data, speaks) ? "\"toolboxd/run_llm\":true"
					  : "\"toolboxd/run_llm\":false";
}

void mcp_write_call_members(struct buffer *out, const struct mcp_message *message,
	const struct json_tape *data, bool has_content)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t result = json_find(data, 0, "result");
	const char *meta = speech_meta(data);

	if (result == JSON_NONE) {
		write_error_text(data, &text);
		write_failed_result(out, &text);
	} else {
		write_result(out, message, data, result, has_content, &text);
	}
	if (*meta)
		buffer_printf(out, ",\"_meta\":{%s}", meta);
}

int mcp_write_call_result(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data, bool has_content,
	bool is_inner, struct buffer *text, struct mcp_error *ret_error)
{
	uint32_t result = json_find(data, 0, "result");

	if (result == JSON_NONE) {
		write_error_text(data, text);
		if (!is_inner && mcp_is_request_error(data)) {
			mcp_refuse(ret_error, MCP_INVALID_PARAMS, 200, "");
			ret_error->message = buffer_view(text);
			return MCP_E_REFUSED;
		}
	}
	mcp_result_begin(out, message);
	if (result == JSON_NONE)
		write_failed_result(out, text);
	else
		write_result(out, message, data, result, has_content, text);
	mcp_result_end_meta(out, message, server, speech_meta(data));
	return 0;
}
