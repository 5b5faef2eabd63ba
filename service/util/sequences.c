/* SPDX-License-Identifier: Apache-2.0 */
#include "util/sequences.h"

#include <string.h>

#define ESCAPE '\x1b'
#define BELL   '\a'

/* Return the end of the run of bytes from @first to @last at @at. */
static const char *skip(const char *at, const char *end, char first, char last)
{
	while (at < end && *at >= first && *at <= last)
		at++;
	return at;
}

/* Return the end of the final byte at @at, from @first to '~'; @at without such a byte. */
static const char *skip_final(const char *at, const char *end, char first)
{
	return at < end && *at >= first && *at <= '~' ? at + 1 : at;
}

/* Return the end of the string whose content begins at @at, or @at without an end in this line. The
 * next escape sequence ends the search, so all searches together read a text once. */
static const char *skip_string(const char *at, const char *end)
{
	for (const char *c = at; c < end && *c != '\n'; c++) {
		if (*c == BELL)
			return c + 1;
		if (*c == ESCAPE)
			return end - c > 1 && c[1] == '\\' ? c + 2 : at;
	}
	return at;
}

/* Return the end of the sequence with the ESC at @at. */
static const char *skip_sequence(const char *at, const char *end)
{
	at++;
	if (at == end)
		return at;
	if (*at == '[') {
		at = skip(at + 1, end, '0', '?');
		return skip_final(skip(at, end, ' ', '/'), end, '@');
	}
	if (strchr("]PX^_", *at) && *at)
		return skip_string(at + 1, end);
	return skip_final(skip(at, end, ' ', '/'), end, '0');
}

size_t sequences_remove(char *text, size_t size)
{
	const char *end = text + size;
	const char *at = size > 0 ? memchr(text, ESCAPE, size) : NULL;
	char *out = text + (at ? (size_t)(at - text) : size);

	while (at) {
		const char *from = skip_sequence(at, end);
		size_t n;

		at = memchr(from, ESCAPE, (size_t)(end - from));
		n = (size_t)((at ? at : end) - from);
		memmove(out, from, n);
		out += n;
	}
	return (size_t)(out - text);
}
