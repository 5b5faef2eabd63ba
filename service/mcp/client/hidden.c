/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/hidden.h"

#include <stdbool.h>
#include <string.h>

#include "json/writer.h"
#include "mcp/client/keyword.h"
#include "mcp/member.h"
#include "util/cleanup.h"
#include "util/utf8.h"

#define ZWNJ 0x200Cu
#define ZWJ  0x200Du

struct range {
	uint32_t first;
	uint32_t last;
};

static const struct range hidden[] = {
	{0x00, 0x08},
	{0x0B, 0x1F},
	{0x7F, 0x9F},
	{0x200B, 0x200F},
	{0x202A, 0x202E},
	{0x2060, 0x2064},
	{0x2066, 0x206F},
	{0xFEFF, 0xFEFF},
	{0xE0000, 0xE007F},
};

/* Characters that joiners do not join: those of ASCII that are no letters, spaces, punctuation, and such
 * without a form. All others count as letters or emoji, with the marks and selectors that belong to them. */
static const struct range separate[] = {
	{0x00, 0x40},
	{0x5B, 0x60},
	{0x7B, 0xA8},
	{0xAB, 0xAD},
	{0xAF, 0xB4},
	{0xB6, 0xB9},
	{0xBB, 0xBF},
	{0xD7, 0xD7},
	{0xF7, 0xF7},
	{0x2000, 0x203B},
	{0x203D, 0x2048},
	{0x204A, 0x2121},
	{0x3000, 0x3004},
	{0x3008, 0x3020},
	{0xE000, 0xF8FF},
	{0xFE10, 0xFE6F},
	{0xFEFF, 0xFF20},
	{0xFFF0, 0xFFFF},
	{0xE0000, 0x10FFFF},
};

static bool is_in(uint32_t code, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

static bool is_hidden(uint32_t code)
{
	return is_in(code, hidden, sizeof(hidden) / sizeof(*hidden));
}

static bool is_joined(uint32_t code)
{
	return !is_in(code, separate, sizeof(separate) / sizeof(*separate));
}

/* Return the code point of @length bytes of UTF-8. */
static uint32_t decode_point(const char *text, size_t length)
{
	static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	uint32_t code = (unsigned char)text[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3F);
	return code;
}

size_t mcp_strip_hidden(struct buffer *out, const char *text, size_t size)
{
	uint32_t previous = 0;
	size_t count = 0;
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		uint32_t code;
		uint32_t next = 0;
		size_t next_length;

		length = utf8_sequence_length(text + at, size - at);
		if (length == 0)
			return count;
		code = decode_point(text + at, length);
		if ((code == ZWNJ || code == ZWJ) && at + length < size) {
			next_length = utf8_sequence_length(text + at + length, size - at - length);
			next = decode_point(text + at + length, next_length);
		}
		if (is_hidden(code) && !(is_joined(previous) && is_joined(next))) {
			count++;
			continue;
		}
		buffer_append(out, text + at, length);
		previous = code;
	}
	return count;
}

/* ── schemas ─────────────────────────────────────────────────────────────────────────────────── */

static size_t strip_string(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer stripped = {0};
	size_t count;

	json_string_decode(tape, index, &text);
	count = mcp_strip_hidden(&stripped, text.data, text.size);
	buffer_fail_with(out, &text);
	buffer_fail_with(out, &stripped);
	if (count == 0)
		json_write_compact(out, tape, index);
	else
		json_write_string(out, stripped.data ? stripped.data : "", stripped.size);
	return count;
}

static size_t strip_value(
	struct buffer *out, const struct json_tape *tape, uint32_t index, bool is_map);

/* Append the value of the member @key of a schema. */
static size_t strip_member(struct buffer *out, const struct json_tape *tape, uint32_t key)
{
	uint32_t value = key + 1;
	enum mcp_keyword keyword = mcp_keyword_at(tape, key);

	if (json_type_at(tape, value) == JSON_STRING &&
		(mcp_is_text(tape, key, "description") || mcp_is_text(tape, key, "title")))
		return strip_string(out, tape, value);
	if (keyword != MCP_KEYWORD_DATA)
		return strip_value(out, tape, value, keyword == MCP_KEYWORD_MAP);
	json_write_compact(out, tape, value);
	return 0;
}

/* Return whether the member @key of a schema is a keyword without a value: a null that is no data. */
static bool is_absent(const struct json_tape *tape, uint32_t key)
{
	return json_type_at(tape, key + 1) == JSON_NULL &&
	       mcp_keyword_at(tape, key) != MCP_KEYWORD_DATA;
}

/* Append the object at @index. @is_map: its members are schemas by names. @omitted: the key of a member that
 * is left out, or JSON_NONE. */
static size_t strip_object(struct buffer *out, const struct json_tape *tape, uint32_t index,
	bool is_map, uint32_t omitted)
{
	const char *separator = "";
	size_t count = 0;

	buffer_append_char(out, '{');
	for (uint32_t key = json_first(tape, index); key < json_end(tape, index);
		key = json_next_key(tape, key)) {
		if (key == omitted || (!is_map && is_absent(tape, key)))
			continue;
		buffer_append_string(out, separator);
		separator = ",";
		json_write_compact(out, tape, key);
		buffer_append_char(out, ':');
		count += is_map ? strip_value(out, tape, key + 1, false)
				: strip_member(out, tape, key);
	}
	buffer_append_char(out, '}');
	return count;
}

static size_t strip_value(
	struct buffer *out, const struct json_tape *tape, uint32_t index, bool is_map)
{
	size_t count = 0;

	if (json_type_at(tape, index) == JSON_OBJECT)
		return strip_object(out, tape, index, is_map, JSON_NONE);
	if (json_type_at(tape, index) != JSON_ARRAY) {
		json_write_compact(out, tape, index);
		return 0;
	}
	buffer_append_char(out, '[');
	for (uint32_t at = json_first(tape, index); at < json_end(tape, index);
		at = json_next(tape, at)) {
		if (at > json_first(tape, index))
			buffer_append_char(out, ',');
		count += strip_value(out, tape, at, false);
	}
	buffer_append_char(out, ']');
	return count;
}

size_t mcp_strip_schema(
	struct buffer *out, const struct json_tape *tape, uint32_t index, uint32_t omitted)
{
	return strip_object(out, tape, index, false, omitted);
}
