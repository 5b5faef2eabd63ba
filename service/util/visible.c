/* SPDX-License-Identifier: Apache-2.0 */
#include "util/visible.h"

#include <stdbool.h>
#include <string.h>

#include "util/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* Return the code point of the character, below U+10000; 0x10000 for all others. */
static unsigned int code_point(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	if (length == 1)
		return s[0];
	if (length == 2)
		return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
	if (length == 3)
		return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
	return 0x10000;
}

static bool is_hidden(unsigned int code)
{
	return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
	       code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t visible_next(const char *text, size_t size, char ret_bytes[VISIBLE_BYTES], size_t *ret_size)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = utf8_sequence_length(text, size);
	unsigned int code;

	if (length == 0) {
		*ret_size = sizeof(REPLACEMENT) - 1;
		memcpy(ret_bytes, REPLACEMENT, *ret_size);
		return 1;
	}
	code = code_point(text, length);
	if (!is_hidden(code)) {
		*ret_size = length;
		memcpy(ret_bytes, text, length);
		return length;
	}
	*ret_size = VISIBLE_BYTES;
	memcpy(ret_bytes, "\\u", 2);
	for (unsigned int i = 0; i < 4; i++)
		ret_bytes[2 + i] = digits[code >> (12 - 4 * i) & 0xF];
	return length;
}

void visible_append(struct buffer *out, const char *text, size_t size)
{
	char bytes[VISIBLE_BYTES];
	size_t length;

	while (size > 0) {
		size_t taken = visible_next(text, size, bytes, &length);

		buffer_append(out, bytes, length);
		text += taken;
		size -= taken;
	}
}

void visible_append_lines(struct buffer *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));

		visible_append(out, text, (size_t)((next ? next : end) - text));
		if (next)
			buffer_append_char(out, '\n');
		text = next ? next + 1 : end;
	}
}
