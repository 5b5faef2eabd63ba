/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "json/runs.h"
#include "json/scan.h"
#include "json/span.h"
#include "json/writer.h"

/*
 * Write a value with other white space, or with fewer escapes. All other bytes are copied
 * unchanged, so one pass over the text is enough, and no depth is too deep.
 */

/* The bytes at @at up to the next white space, quote, bracket, comma or colon; at least one. */
static size_t word_length(const char *text, size_t size, size_t at)
{
	size_t start = at;

	while (at < size && !json_is_space((unsigned char)text[at]) &&
		!strchr("\"[]{},:", text[at]))
		at++;
	return at > start ? at - start : 1;
}

/* The bytes of the string, word, bracket, comma or colon at @at. */
static size_t piece_length(const char *text, size_t size, size_t at)
{
	if (text[at] == '"')
		return json_scan_string(text, size, at) - at;
	return word_length(text, size, at);
}

/* Return whether a string may have the decoded escape of @runs as it is, and a reader sees it: no
 * quote, backslash, control character, or replacement of half a surrogate pair. */
static bool is_readable(const struct json_runs *runs)
{
	unsigned char first = (unsigned char)runs->run[0];

	if (runs->size == 1)
		return first >= 0x20 && first != 0x7F && first != '"' && first != '\\';
	return !(first == 0xC2 && (unsigned char)runs->run[1] < 0xA0) &&
	       !(runs->size == 3 && memcmp(runs->run, "\xEF\xBF\xBD", 3) == 0);
}

/* Append the string of @size bytes at @text, with its quotes. Decode each escape taken by
 * is_readable(). */
static void append_readable(struct buffer *out, const char *text, size_t size)
{
	struct json_runs runs = {.at = text, .end = text + size};

	if (!memchr(text, '\\', size)) {
		buffer_append(out, text, size);
		return;
	}
	for (const char *start = text; json_runs_next(&runs); start = runs.at) {
		bool is_decoded = runs.run == runs.decoded && is_readable(&runs);

		if (is_decoded)
			buffer_append(out, runs.run, runs.size);
		else
			buffer_append(out, start, (size_t)(runs.at - start));
	}
}

void json_write_readable(struct buffer *out, const char *json, size_t size)
{
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		length = piece_length(json, size, at);
		if (json[at] == '"')
			append_readable(out, json + at, length);
		else if (json_is_space((unsigned char)json[at]))
			length = json_scan_space(json, size, at) - at;
		else
			buffer_append(out, json + at, length);
	}
}

void json_write_compact(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	size_t size;
	const char *text = json_value_text(tape, index, &size);
	size_t start = 0;
	size_t at = 0;

	while (at < size) {
		if (text[at] == '"') {
			at = json_scan_string(text, size, at);
		} else if (json_is_space((unsigned char)text[at])) {
			buffer_append(out, text + start, at - start);
			at = json_scan_space(text, size, at);
			start = at;
		} else {
			at++;
		}
	}
	buffer_append(out, text + start, size - start);
}

static void break_line(struct buffer *out, size_t depth, unsigned int indent)
{
	buffer_append_char(out, '\n');
	for (size_t i = 0; i < depth * indent; i++)
		buffer_append_char(out, ' ');
}

void json_write_indented(
	struct buffer *out, const struct json_tape *tape, uint32_t index, unsigned int indent)
{
	size_t size;
	const char *text = json_value_text(tape, index, &size);
	size_t depth = 0;
	char last = '\0';
	size_t at = 0;

	while (at < size && buffer_status(out) == 0) {
		size_t length = piece_length(text, size, at);
		bool closes = text[at] == ']' || text[at] == '}';

		depth -= closes;
		if (closes ? last != '[' && last != '{' : last == '[' || last == '{' || last == ',')
			break_line(out, depth, indent);
		if (text[at] == '"')
			append_readable(out, text + at, length);
		else
			buffer_append(out, text + at, length);
		if (text[at] == ':')
			buffer_append_char(out, ' ');
		depth += text[at] == '[' || text[at] == '{';
		last = text[at];
		at = json_scan_space(text, size, at + length);
	}
}
