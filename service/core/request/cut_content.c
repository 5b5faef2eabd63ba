/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/cut_content.h"

#include <string.h>

#include "core/request/answer.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/text/utf8.h"

/* Return the token of the text of the block at @block, or of its resource; JSON_NONE: it has
 * none. */
static uint32_t find_block_text(const struct json_tape *tape, uint32_t block)
{
	if (json_member_is(tape, block, "type", "text"))
		return json_find_typed_at(tape, block, "text", JSON_STRING);
	if (!json_member_is(tape, block, "type", "resource"))
		return JSON_NONE;
	return json_find_typed(tape, json_find_typed_at(tape, block, "resource", JSON_OBJECT),
		"text", JSON_STRING);
}

/* Append the string at @token, cut to *@left code points, and take these off *@left. */
static void write_cut_string(
	const struct json_tape *tape, uint32_t token, size_t *left, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t points = json_string_points(tape, token);

	if (points > *left)
		points = *left;
	json_string_decode(tape, token, &text);
	buffer_fail_with(out, &text);
	json_write_string(out, buffer_text(&text), utf8_prefix(text.data, text.size, points));
	*left -= points;
}

/* Append the object at @object with the string at @text, its own or of its resource, cut. */
static void write_cut_object(const struct json_tape *tape, uint32_t object, uint32_t text,
	size_t *left, struct buffer *out)
{
	buffer_append_char(out, '{');
	json_each_key(key, tape, object) {
		if (key > json_first(tape, object))
			buffer_append_char(out, ',');
		json_write_compact(out, tape, key);
		buffer_append_char(out, ':');
		if (key + 1 == text)
			write_cut_string(tape, text, left, out);
		else if (key < text && text < json_next_key(tape, key))
			write_cut_object(tape, key + 1, text, left, out);
		else
			json_write_compact(out, tape, key + 1);
	}
	buffer_append_char(out, '}');
}

static void write_blocks(
	const struct json_tape *tape, uint32_t content, size_t left, struct buffer *out)
{
	buffer_append_char(out, '[');
	json_each(block, tape, content) {
		uint32_t text = find_block_text(tape, block);

		if (text != JSON_NONE && left == 0 && json_string_points(tape, text) > 0)
			continue;
		json_write_comma(out);
		if (text == JSON_NONE)
			json_write_compact(out, tape, block);
		else
			write_cut_object(tape, block, text, &left, out);
	}
	buffer_append_char(out, ']');
}

/* Return the number of code points of all texts of @content. */
static size_t count_chars(const struct json_tape *tape, uint32_t content)
{
	size_t count = 0;

	json_each(block, tape, content) {
		uint32_t text = find_block_text(tape, block);

		count += text == JSON_NONE ? 0 : json_string_points(tape, text);
	}
	return count;
}

/* Return the number of code points of the JSON text @json, as answer_write_result() counts them. */
static size_t count_readable(const struct buffer *json)
{
	cleanup(buffer_deinit) struct buffer readable = {0};

	json_write_readable(&readable, json->data, json->size);
	return utf8_count(buffer_text(&readable), readable.size);
}

void cut_content_write(struct buffer *out, const struct json_tape *tape, const char *result,
	size_t size, uint32_t max)
{
	uint32_t content = json_find_typed_at(tape, 0, "content", JSON_ARRAY);
	cleanup(buffer_deinit) struct buffer value = {0};
	cleanup(buffer_deinit) struct buffer cut = {0};
	uint32_t structured;
	bool is_cut;
	size_t chars;

	/* No text has more code points than bytes: the usual result is not even counted. */
	if (size <= max || content == JSON_NONE) {
		buffer_append(out, result, size);
		return;
	}
	structured = json_find(tape, 0, "structured");
	if (structured != JSON_NONE)
		json_write_compact(&value, tape, structured);
	is_cut = answer_write_result(&cut, buffer_text(&value), value.size, max);
	buffer_fail_with(out, &value);
	chars = count_chars(tape, content);
	if (chars <= max && !is_cut) {
		buffer_append(out, result, size);
		return;
	}
	buffer_append_string(out, "{\"content\":");
	write_blocks(tape, content, chars > max ? max : chars, out);
	chars = chars > max ? chars : count_readable(&value);
	buffer_printf(out,
		",\"truncated\":true,\"actual_chars\":%zu,\"max_chars\":%u,\"hint\":"
		"\"The result has %zu characters, %u are allowed: ask for less, or raise "
		"result_max_chars.\"",
		chars, max, chars, max);
	if (structured != JSON_NONE) {
		buffer_append_string(out, ",\"structured\":");
		buffer_append_buffer(out, &cut);
	}
	buffer_append_char(out, '}');
}
