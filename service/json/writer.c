/* SPDX-License-Identifier: Apache-2.0 */
#include "json/writer.h"

#include <string.h>

#include "json/span.h"
#include "util/text/utf8.h"

static void write_escape(struct buffer *out, unsigned char c)
{
	switch (c) {
	case '"':
		buffer_append_string(out, "\\\"");
		break;
	case '\\':
		buffer_append_string(out, "\\\\");
		break;
	case '\b':
		buffer_append_string(out, "\\b");
		break;
	case '\f':
		buffer_append_string(out, "\\f");
		break;
	case '\n':
		buffer_append_string(out, "\\n");
		break;
	case '\r':
		buffer_append_string(out, "\\r");
		break;
	case '\t':
		buffer_append_string(out, "\\t");
		break;
	default:
		buffer_printf(out, "\\u%04x", c);
	}
}

/* The inside of a string: runs without characters to escape are copied whole. */
static void write_characters(struct buffer *out, const char *text, size_t size)
{
	const char *end = text + size;
	const char *start = text;
	const char *at = text;

	while ((at = json_span_plain(at, end)) < end) {
		if ((unsigned char)*at > 0x7F) {
			at++;
			continue;
		}
		buffer_append(out, start, (size_t)(at - start));
		write_escape(out, (unsigned char)*at);
		start = ++at;
	}
	buffer_append(out, start, (size_t)(end - start));
}

void json_write_string(struct buffer *out, const char *text, size_t size)
{
	char *place;

	if (!json_is_plain(text, text + size)) {
		buffer_append_char(out, '"');
		write_characters(out, text, size);
		buffer_append_char(out, '"');
		return;
	}
	place = buffer_reserve(out, size + 2);
	if (!place)
		return;
	place[0] = '"';
	if (size > 0)
		memcpy(place + 1, text, size);
	place[size + 1] = '"';
	out->size += size + 2;
}

void json_write_text(struct buffer *out, const char *text)
{
	if (!text) {
		buffer_append_string(out, "null");
		return;
	}
	json_write_string(out, text, strlen(text));
}

void json_write_bytes_lossy(struct buffer *out, const char *bytes, size_t size)
{
	size_t start = 0;
	size_t at = 0;

	buffer_append_char(out, '"');
	while (at < size) {
		size_t length = utf8_sequence_length(bytes + at, size - at);

		if (length > 0) {
			at += length;
			continue;
		}
		write_characters(out, bytes + start, at - start);
		buffer_append_string(out, "\xEF\xBF\xBD");
		start = ++at;
	}
	write_characters(out, bytes + start, size - start);
	buffer_append_char(out, '"');
}

void json_write_buffer(struct buffer *out, const struct buffer *text)
{
	buffer_fail_with(out, text);
	json_write_string(out, buffer_text(text), text->size);
}

void json_write_i64(struct buffer *out, int64_t value)
{
	if (value >= 0) {
		json_write_u64(out, (uint64_t)value);
		return;
	}
	buffer_append_char(out, '-');
	json_write_u64(out, -(uint64_t)value);
}

void json_write_u64(struct buffer *out, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	buffer_append(out, digits + at, sizeof(digits) - at);
}

void json_write_key(struct buffer *out, const char *key)
{
	size_t size = strlen(key);
	char *place = buffer_reserve(out, size + 3);

	if (!place)
		return;
	place[0] = '"';
	memcpy(place + 1, key, size);
	memcpy(place + 1 + size, "\":", 2);
	out->size += size + 3;
}

void json_pointer_append(struct buffer *pointer, const char *token, size_t size)
{
	buffer_append_char(pointer, '/');
	for (size_t i = 0; i < size; i++) {
		if (token[i] == '~')
			buffer_append_string(pointer, "~0");
		else if (token[i] == '/')
			buffer_append_string(pointer, "~1");
		else
			buffer_append_char(pointer, token[i]);
	}
}

void json_pointer_append_index(struct buffer *pointer, uint32_t index)
{
	buffer_append_char(pointer, '/');
	json_write_u64(pointer, index);
}

void json_write_comma(struct buffer *out)
{
	char last = out->size > 0 ? out->data[out->size - 1] : '{';

	if (last != '{' && last != '[')
		buffer_append_char(out, ',');
}

void json_write_texts(struct buffer *out, char *const *texts, size_t n)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		json_write_comma(out);
		json_write_text(out, texts[i]);
	}
	buffer_append_char(out, ']');
}

void json_write_member(struct buffer *out, const char *key)
{
	json_write_comma(out);
	json_write_key(out, key);
}

void json_write_member_text(struct buffer *out, const char *key, const char *text)
{
	json_write_member(out, key);
	if (text)
		json_write_bytes_lossy(out, text, strlen(text));
	else
		json_write_text(out, NULL);
}

void json_write_member_u64(struct buffer *out, const char *key, uint64_t value)
{
	json_write_member(out, key);
	json_write_u64(out, value);
}

void json_write_member_json(struct buffer *out, const char *key, const char *json, size_t size)
{
	json_write_member(out, key);
	buffer_append(out, json, size);
}

void json_write_member_value(
	struct buffer *out, const char *key, const struct json_tape *tape, uint32_t index)
{
	json_write_member(out, key);
	json_write_compact(out, tape, index);
}

void json_write_member_copy(struct buffer *out, const struct json_tape *tape, uint32_t key)
{
	json_write_comma(out);
	json_write_compact(out, tape, key);
	buffer_append_char(out, ':');
	json_write_compact(out, tape, key + 1);
}

/* Return the value of the member of the object at @object that has the key at @key of @other, or
 * JSON_NONE. */
static uint32_t find_same(
	const struct json_tape *tape, uint32_t object, const struct json_tape *other, uint32_t key)
{
	json_each_key(own, tape, object)
		if (json_strings_equal(tape, own, other, key))
			return own + 1;
	return JSON_NONE;
}

void json_write_merged(struct buffer *out, const struct json_tape *under, uint32_t at,
	const struct json_tape *over, uint32_t by)
{
	if (json_type_at(under, at) != JSON_OBJECT || json_type_at(over, by) != JSON_OBJECT) {
		json_write_compact(out, over, by);
		return;
	}
	buffer_append_char(out, '{');
	json_each_key(key, under, at) {
		uint32_t value = find_same(over, by, under, key);

		if (value == JSON_NONE) {
			json_write_member_copy(out, under, key);
			continue;
		}
		json_write_comma(out);
		json_write_compact(out, under, key);
		buffer_append_char(out, ':');
		json_write_merged(out, under, key + 1, over, value);
	}
	json_each_key(key, over, by)
		if (find_same(under, at, over, key) == JSON_NONE)
			json_write_member_copy(out, over, key);
	buffer_append_char(out, '}');
}
