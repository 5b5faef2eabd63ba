/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/sentence.h"

#include <ctype.h>
#include <string.h>

/* One sentence of a sample: from left to right, groups without their other alternatives. */

/* Return the bracket that closes the group at whose inside @at is, or @end. */
static const char *find_close(const char *at, const char *end)
{
	int depth = 0;

	for (; at < end; at++) {
		if (*at == '(' || *at == '[')
			depth++;
		else if ((*at == ')' || *at == ']') && depth-- == 0)
			break;
	}
	return at;
}

/* Return whether @slots has the name of @size bytes at @name. */
static bool has_slot(const struct buffer *slots, const char *name, size_t size)
{
	size_t word_size;

	for (size_t at = 0; at < slots->size; at += word_size + 1) {
		const char *word = slots->data + at;
		const char *space = memchr(word, ' ', slots->size - at);

		word_size = space ? (size_t)(space - word) : slots->size - at;
		if (word_size == size && memcmp(word, name, size) == 0)
			return true;
	}
	return false;
}

/* Append the slot of @size bytes at @text, TYPE:NAME or NAME, to both. */
static bool append_slot(const char *text, size_t size, struct buffer *out, struct buffer *slots)
{
	const char *colon = memchr(text, ':', size);
	const char *name = colon ? colon + 1 : text;
	size_t name_size = size - (size_t)(name - text);

	for (size_t i = 0; i < name_size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	if (name_size == 0 || isdigit((unsigned char)*name))
		return false;
	buffer_append_char(out, '{');
	buffer_append(out, name, name_size);
	buffer_append_char(out, '}');
	if (has_slot(slots, name, name_size))
		return true;
	buffer_append_string(slots, slots->size > 0 ? " " : "");
	buffer_append(slots, name, name_size);
	return true;
}

/* Append one character; of several spaces the first. */
static void append_letter(char letter, struct buffer *out)
{
	bool is_space = isspace((unsigned char)letter);

	if (!is_space)
		buffer_append_char(out, letter);
	else if (out->size > 0 && out->data[out->size - 1] != ' ')
		buffer_append_char(out, ' ');
}

bool new_read_sample(const char *text, size_t size, struct buffer *out, struct buffer *slots)
{
	const char *end = text + size;

	for (const char *at = text; at < end; at++) {
		const char *close;

		switch (*at) {
		case '(':
		case ')':
			break;
		case '[':
		case '|':
			at = find_close(at + 1, end);
			if (at == end)
				return false;
			break;
		case '{':
			close = memchr(at, '}', (size_t)(end - at));
			if (!close || !append_slot(at + 1, (size_t)(close - at - 1), out, slots))
				return false;
			at = close;
			break;
		case '}':
			return false;
		default:
			append_letter(*at, out);
		}
	}
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
	return out->size > 0;
}
