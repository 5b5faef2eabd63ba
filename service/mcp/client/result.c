/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/result.h"

#include <string.h>

#include "json/number.h"
#include "json/writer.h"
#include "mcp/error.h"
#include "json/member.h"
#include "util/array.h"
#include "util/text/utf8.h"

/* Longest part of a text of a server that is repeated in a reason. */
#define QUOTED_CHARS 200

/* The longest data of an error that its reason repeats. */
#define DATA_BYTES 500

/* Return the token of the text of the block at @block, or JSON_NONE: it is no text block. */
static uint32_t find_block_text(const struct json_tape *tape, uint32_t block)
{
	return json_member_is(tape, block, "type", "text")
		       ? json_find_typed(tape, block, "text", JSON_STRING)
		       : JSON_NONE;
}

/* ── failures ────────────────────────────────────────────────────────────────────────────────── */

/* Append the texts of the array @content, one after the other. */
static void write_failure(const struct json_tape *tape, uint32_t content, struct buffer *out)
{
	size_t start = out->size;

	json_each(block, tape, content) {
		uint32_t text = find_block_text(tape, block);

		if (text == JSON_NONE)
			continue;
		if (out->size > start)
			buffer_append_char(out, '\n');
		json_string_decode(tape, text, out);
	}
	if (out->size == start)
		buffer_append_string(out, "The tool has failed, and does not give a reason.");
}

static enum mcp_end write_reason(const char *reason, struct buffer *out)
{
	buffer_append_string(out, reason);
	return MCP_END_FAILED;
}

/* Append that the result has the type at @type. */
static enum mcp_end write_block_type(
	const struct json_tape *tape, uint32_t type, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer name = {0};

	if (json_type_at(tape, type) != JSON_STRING)
		return write_reason("The server has sent a resultType that is not a string.", out);
	if (json_is_text(tape, type, "input_required"))
		return write_reason("The tool asks for input, which toolboxd does not give.", out);
	json_string_decode(tape, type, &name);
	buffer_fail_with(out, &name);
	buffer_append_string(out, "The server has sent a result of the unknown type ");
	json_write_string(out, buffer_text(&name), utf8_prefix(name.data, name.size, QUOTED_CHARS));
	buffer_append_char(out, '.');
	return MCP_END_FAILED;
}

/* Return whether the text of a failure comes from a server which reports an unknown tool in a
 * result: the SDKs of TypeScript and Python do. */
static bool is_unknown_tool(const struct buffer *text, size_t start)
{
	static const char *const openings[] = {"MCP error -32602: Tool ", "Unknown tool"};

	for (size_t i = 0; i < ARRAY_SIZE(openings); i++)
		if (text->size - start >= strlen(openings[i]) &&
			memcmp(text->data + start, openings[i], strlen(openings[i])) == 0)
			return true;
	return false;
}

/* Append the member `data` of an error, which may have the address to log in at, unless it is
 * long. */
static void write_data(const struct json_tape *tape, uint32_t data, struct buffer *out)
{
	if (data == JSON_NONE || json_value_view(tape, data).size > DATA_BYTES)
		return;
	buffer_append_string(out, " (");
	if (json_type_at(tape, data) == JSON_STRING)
		json_string_decode(tape, data, out);
	else
		json_write_compact(out, tape, data);
	buffer_append_char(out, ')');
}

static enum mcp_end read_error(
	const struct json_tape *tape, uint32_t error, struct buffer *out, bool *ret_is_unknown)
{
	uint32_t message = json_find_typed(tape, error, "message", JSON_STRING);
	uint32_t code = json_find_typed(tape, error, "code", JSON_NUMBER);
	size_t start = out->size;
	int64_t number = 0;

	if (code != JSON_NONE && json_number_i64(tape, code, &number) == 0)
		*ret_is_unknown = number == MCP_INVALID_PARAMS;
	if (message != JSON_NONE)
		json_string_decode(tape, message, out);
	if (out->size == start)
		buffer_append_string(out, "The server has sent an error without a message.");
	write_data(tape, json_find_present(tape, error, "data"), out);
	return MCP_END_FAILED;
}

/* ── content ─────────────────────────────────────────────────────────────────────────────────── */

static bool has_nulls(const struct json_tape *tape, uint32_t index)
{
	for (uint32_t at = index; at < json_next(tape, index); at++)
		if (json_type_at(tape, at) == JSON_NULL)
			return true;
	return false;
}

/* Append the value at @index without the members that are null, which some servers write for absent
 * ones. The members of `_meta` are data. */
static void write_present(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	const char *separator = "";
	uint32_t next;

	if (!is_object && json_type_at(tape, index) != JSON_ARRAY) {
		json_write_compact(out, tape, index);
		return;
	}
	buffer_append_char(out, is_object ? '{' : '[');
	for (uint32_t at = json_first(tape, index); at < json_end(tape, index); at = next) {
		next = is_object ? json_next_key(tape, at) : json_next(tape, at);
		if (is_object && json_type_at(tape, at + 1) == JSON_NULL)
			continue;
		buffer_append_string(out, separator);
		separator = ",";
		if (is_object) {
			json_write_compact(out, tape, at);
			buffer_append_char(out, ':');
		}
		if (is_object && json_is_text(tape, at, "_meta"))
			json_write_compact(out, tape, at + 1);
		else
			write_present(tape, is_object ? at + 1 : at, out);
	}
	buffer_append_char(out, is_object ? '}' : ']');
}

/* Append the array @content; JSON_NONE: it is absent. */
static void write_content(const struct json_tape *tape, uint32_t content, struct buffer *out)
{
	if (content == JSON_NONE)
		buffer_append_string(out, "[]");
	else if (has_nulls(tape, content))
		write_present(tape, content, out);
	else
		json_write_compact(out, tape, content);
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

enum mcp_end mcp_read_end(const struct json_tape *tape, struct buffer *out, bool *ret_is_unknown)
{
	uint32_t error = json_find_typed_at(tape, 0, "error", JSON_OBJECT);
	uint32_t result = json_find_typed_at(tape, 0, "result", JSON_OBJECT);
	uint32_t type = json_find_present(tape, result, "resultType");
	uint32_t content = json_find_present(tape, result, "content");
	uint32_t structured = json_find_present(tape, result, "structuredContent");
	bool is_error = json_find_typed(tape, result, "isError", JSON_TRUE) != JSON_NONE;
	size_t start = out->size;

	*ret_is_unknown = false;
	if (error != JSON_NONE)
		return read_error(tape, error, out, ret_is_unknown);
	if (result == JSON_NONE)
		return write_reason("The server has sent a result that is not an object.", out);
	if (type != JSON_NONE && !json_is_text(tape, type, "complete"))
		return write_block_type(tape, type, out);
	if (content == JSON_NONE && structured == JSON_NONE && !is_error)
		return write_reason("The server has sent a result without content.", out);
	if (content != JSON_NONE && json_type_at(tape, content) != JSON_ARRAY)
		return write_reason(
			"The server has sent a result whose content is not an array.", out);
	if (is_error) {
		write_failure(tape, content, out);
		*ret_is_unknown = buffer_status(out) == 0 && is_unknown_tool(out, start);
		return MCP_END_FAILED;
	}
	buffer_append_string(out, "{\"content\":");
	write_content(tape, content, out);
	if (structured != JSON_NONE)
		json_write_member_value(out, "structured", tape, structured);
	buffer_append_char(out, '}');
	return MCP_END_RESULT;
}

enum mcp_end mcp_read_plain_end(const struct json_tape *tape, struct buffer *out)
{
	uint32_t error = json_find_typed_at(tape, 0, "error", JSON_OBJECT);
	uint32_t result = json_find_typed_at(tape, 0, "result", JSON_OBJECT);
	uint32_t type = json_find_present(tape, result, "resultType");
	cleanup(buffer_deinit) struct buffer text = {0};
	bool is_unknown;

	if (error != JSON_NONE)
		return read_error(tape, error, out, &is_unknown);
	if (result == JSON_NONE)
		return write_reason("The server has sent a result that is not an object.", out);
	if (type != JSON_NONE && !json_is_text(tape, type, "complete"))
		return write_block_type(tape, type, out);
	json_write_compact(&text, tape, result);
	buffer_fail_with(out, &text);
	buffer_append_string(out, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_write_bytes_lossy(out, text.data, text.size);
	buffer_append_string(out, "}],\"structured\":");
	buffer_append_buffer(out, &text);
	buffer_append_char(out, '}');
	return MCP_END_RESULT;
}
