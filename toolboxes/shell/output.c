/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES ((size_t)16 << 10)

/* The longest character of UTF-8. */
#define CHARACTER_BYTES 4

/* Make room for @more bytes after the end. */
static bool make_room(struct output *output, size_t more)
{
	size_t used = output->end - output->start;
	size_t room = output->room ? output->room : FIRST_BYTES;
	char *data;

	if (output->end + more <= output->room)
		return true;
	if (output->start > 0 && used > 0)
		memmove(output->data, output->data + output->start, used);
	output->start = 0;
	output->end = used;
	while (room < used + more)
		room *= 2;
	if (room == output->room)
		return true;
	data = realloc(output->data, room);
	if (!data)
		return false;
	output->data = data;
	output->room = room;
	return true;
}

char *output_space(struct output *output, size_t *ret_size)
{
	size_t unread = output_unread(output);

	if (unread >= OUTPUT_UNREAD_MAX || !make_room(output, FIRST_BYTES / 4))
		return NULL;
	*ret_size = output->room - output->end;
	if (*ret_size > OUTPUT_UNREAD_MAX - unread)
		*ret_size = OUTPUT_UNREAD_MAX - unread;
	return output->data + output->end;
}

void output_added(struct output *output, size_t size)
{
	output->end += size;
}

void output_note(struct output *output, const char *text)
{
	size_t size = strlen(text);

	if (!make_room(output, size))
		return;
	memcpy(output->data + output->end, text, size);
	output->end += size;
}

size_t output_unread(const struct output *output)
{
	return output->end - output->start;
}

/* Return whether the @size bytes at @bytes may be the beginning of a character. */
static bool is_beginning(const char *bytes, size_t size)
{
	unsigned char first = (unsigned char)bytes[0];
	size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;

	if (first < 0xC2 || first > 0xF4 || size >= whole)
		return false;
	for (size_t i = 1; i < size; i++)
		if ((bytes[i] & 0xC0) != 0x80)
			return false;
	return true;
}

/* Return the size of the character at @bytes; a byte that is not UTF-8 is one. */
static size_t character_size(const char *bytes, size_t size)
{
	size_t n = (unsigned char)*bytes < 0x80 ? 1 : utf8_size(bytes, size);

	return n ? n : 1;
}

size_t output_count(
	const struct output *output, bool is_whole, size_t max, size_t *ret_size, size_t *ret_left)
{
	const char *bytes = output->data + output->start;
	size_t size = output_unread(output);
	size_t n = 0;
	size_t at = 0;

	*ret_size = 0;
	while (at < size) {
		size_t left = size - at;

		if (!is_whole && left < CHARACTER_BYTES && is_beginning(bytes + at, left))
			break;
		at += character_size(bytes + at, left);
		if (++n <= max)
			*ret_size = at;
	}
	*ret_left = n > max ? n - max : 0;
	return n;
}

void output_show(const struct output *output, size_t size, struct text *text)
{
	if (size > 0)
		text_add_lossy(text, output->data + output->start, size);
}

void output_forget(struct output *output, size_t size)
{
	output->start += size;
	if (output->start < output->end)
		return;
	/* One large output keeps no memory. */
	output_free(output);
}

void output_free(struct output *output)
{
	free(output->data);
	*output = (struct output){0};
}
