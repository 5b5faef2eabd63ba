/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "json/scan.h"
#include "json/span.h"
#include "json/writer.h"

/*
 * Write a value with other white space. All bytes except white space are copied unchanged, so one
 * pass over the text is enough, and no depth is too deep.
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
		buffer_append(out, text + at, length);
		if (text[at] == ':')
			buffer_append_char(out, ' ');
		depth += text[at] == '[' || text[at] == '{';
		last = text[at];
		at = json_scan_space(text, size, at + length);
	}
}
