/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/hidden.h"

#include <stdbool.h>
#include <stdint.h>

#include "json/writer.h"
#include "mcp/client/keyword.h"
#include "json/member.h"
#include "util/text/visible.h"

size_t mcp_strip_hidden(struct buffer *out, const char *text, size_t size)
{
	size_t count = 0;
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		uint32_t code;

		length = visible_take(text + at, size - at, &code);
		if (length == 0)
			return count;
		if (code == VISIBLE || code == '\t' || code == '\n')
			buffer_append(out, text + at, length);
		else
			count++;
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
	if (count == 0)
		json_write_compact(out, tape, index);
	else
		json_write_buffer(out, &stripped);
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
		(json_is_text(tape, key, "description") || json_is_text(tape, key, "title") ||
			json_is_text(tape, key, "$comment")))
		return strip_string(out, tape, value);
	if (keyword != MCP_KEYWORD_DATA)
		return strip_value(out, tape, value, keyword == MCP_KEYWORD_MAP);
	json_write_compact(out, tape, value);
	return 0;
}

/* Return whether the member @key of a schema is a keyword without a value: a null that is no
 * data. */
static bool is_absent(const struct json_tape *tape, uint32_t key)
{
	return json_type_at(tape, key + 1) == JSON_NULL &&
	       mcp_keyword_at(tape, key) != MCP_KEYWORD_DATA;
}

/* Append the object at @index. @is_map: its members are schemas by names. @omitted: the key of a
 * member that is left out, or JSON_NONE. */
static size_t strip_object(struct buffer *out, const struct json_tape *tape, uint32_t index,
	bool is_map, uint32_t omitted)
{
	const char *separator = "";
	size_t count = 0;

	buffer_append_char(out, '{');
	json_each_key(key, tape, index) {
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
	json_each(at, tape, index) {
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

/* Count the hidden characters in the strings and names of the value at @index. Return 0 or
 * -ENOMEM. */
static int count_hidden(const struct json_tape *tape, uint32_t index, size_t *ret_count)
{
	size_t count = 0;

	for (uint32_t at = index; at < json_end(tape, index); at++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer stripped = {0};

		if (json_type_at(tape, at) != JSON_STRING)
			continue;
		json_string_decode(tape, at, &text);
		count += mcp_strip_hidden(&stripped, text.data, text.size);
		buffer_fail_with(&stripped, &text);
		if (buffer_status(&stripped) < 0)
			return buffer_status(&stripped);
	}
	*ret_count = count;
	return 0;
}

int mcp_find_hidden(const struct json_tape *tape, uint32_t index, bool *ret_has)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t count = 0;
	int r = count_hidden(tape, index, &count);

	if (r < 0)
		return r;
	*ret_has = count > 0 && count > mcp_strip_schema(&out, tape, index, JSON_NONE);
	return buffer_status(&out);
}
