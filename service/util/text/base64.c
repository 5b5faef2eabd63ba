/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/base64.h"

#include <stdint.h>

/* Three bytes are a group of four characters of six bits each. Only the last group is padded. */

#define GROUP_BYTES 3
#define GROUP_CHARS 4

/* The character of each value of six bits, and after them the padding. */
static const char characters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
#define PADDING 64

/* The six bits of each character from '+' to 'z'; -1 outside the alphabet. */
static const signed char values[] = {62, -1, -1, -1, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1,
	-1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, -1, -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
	36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51};

static int value_of(char c)
{
	return c < '+' || c > 'z' ? -1 : values[c - '+'];
}

/* Return how many of the last characters are padding: 0, 1 or 2. */
static size_t count_padding(const char *text, size_t size)
{
	if (size == 0 || text[size - 1] != '=')
		return 0;
	return text[size - 2] == '=' ? 2 : 1;
}

void base64_encode(const void *bytes, size_t size, struct buffer *out)
{
	const unsigned char *at = bytes;
	char *place = buffer_reserve(out, (size + GROUP_BYTES - 1) / GROUP_BYTES * GROUP_CHARS);

	if (!place)
		return;
	for (size_t i = 0; i < size; i += GROUP_BYTES, place += GROUP_CHARS) {
		uint32_t bits = (uint32_t)at[i] << 16;

		bits |= i + 1 < size ? (uint32_t)at[i + 1] << 8 : 0;
		bits |= i + 2 < size ? at[i + 2] : 0;
		place[0] = characters[bits >> 18];
		place[1] = characters[bits >> 12 & 63];
		place[2] = characters[i + 1 < size ? bits >> 6 & 63 : PADDING];
		place[3] = characters[i + 2 < size ? bits & 63 : PADDING];
	}
	out->size = (size_t)(place - out->data);
}

bool base64_is_valid(const char *text, size_t size)
{
	size_t padding;
	int last = 0;

	if (size % GROUP_CHARS != 0)
		return false;
	padding = count_padding(text, size);
	for (size_t i = 0; i < size - padding; i++)
		if ((last = value_of(text[i])) < 0)
			return false;
	/* The bits of the last character in the padding are zero. */
	return (last & ((1 << 2 * padding) - 1)) == 0;
}

size_t base64_decoded_size(const char *text, size_t size)
{
	return size / GROUP_CHARS * GROUP_BYTES - count_padding(text, size);
}

void base64_decode(const char *text, size_t size, void *ret_bytes)
{
	unsigned char *place = ret_bytes;
	uint32_t bits = 0;

	/* Each character but the first of a group completes a byte. */
	for (size_t i = 0; i < size - count_padding(text, size); i++) {
		size_t at = i % GROUP_CHARS;

		bits = bits << 6 | (uint32_t)value_of(text[i]);
		if (at > 0)
			*place++ = (unsigned char)(bits >> (6 - 2 * at));
	}
}
