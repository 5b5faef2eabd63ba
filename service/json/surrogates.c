/* SPDX-License-Identifier: Apache-2.0 */
#include "json/surrogates.h"

#include <string.h>

#define ESCAPE_BYTES strlen("\\uXXXX")

/* Return the code unit of the escape \uXXXX at @text, or -1 without one. */
static int read_unit_escape(const char *text, size_t size)
{
	int unit = 0;

	if (size < ESCAPE_BYTES || text[0] != '\\' || text[1] != 'u')
		return -1;
	for (size_t i = 2; i < ESCAPE_BYTES; i++) {
		const char *digits = "0123456789abcdef";
		const char *digit = text[i] ? strchr(digits, text[i] | 0x20) : NULL;

		if (!digit)
			return -1;
		unit = unit << 4 | (int)(digit - digits);
	}
	return unit;
}

/* Return how many bytes the escape at @text has; *ret_is_half: it is half a pair. */
static size_t measure_escape(const char *text, size_t size, bool *ret_is_half)
{
	int unit = read_unit_escape(text, size);
	int next;

	*ret_is_half = false;
	if (unit < 0)
		return size < 2 ? size : 2;
	if ((unit & 0xF800) != 0xD800)
		return ESCAPE_BYTES;
	next = read_unit_escape(text + ESCAPE_BYTES, size - ESCAPE_BYTES);
	*ret_is_half = (unit & 0xFC00) != 0xD800 || next < 0 || (next & 0xFC00) != 0xDC00;
	return *ret_is_half ? ESCAPE_BYTES : 2 * ESCAPE_BYTES;
}

bool json_mend_surrogates(const char *text, size_t size, struct buffer *out)
{
	size_t done = 0;
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		const char *next = memchr(text + at, '\\', size - at);
		bool is_half;

		if (!next)
			break;
		at = (size_t)(next - text);
		length = measure_escape(next, size - at, &is_half);
		if (!is_half)
			continue;
		buffer_append(out, text + done, at - done);
		buffer_append_string(out, "\\ufffd");
		done = at + length;
	}
	if (done > 0)
		buffer_append(out, text + done, size - done);
	return done > 0;
}
