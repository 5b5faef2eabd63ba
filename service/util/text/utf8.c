/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/utf8.h"

#include <stdint.h>
#include <string.h>

static bool is_continuation(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/* RFC 3629 §4, the table of UTF8-2, UTF8-3 and UTF8-4. */
size_t utf8_sequence_length(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80;
	unsigned char high = 0xBF;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xC2 && s[0] <= 0xDF) {
		length = 2;
	} else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
		length = 3;
		if (s[0] == 0xE0)
			low = 0xA0;
		if (s[0] == 0xED)
			high = 0x9F;
	} else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
		length = 4;
		if (s[0] == 0xF0)
			low = 0x90;
		if (s[0] == 0xF4)
			high = 0x8F;
	} else {
		return 0;
	}
	if (size < length || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!is_continuation(s[i]))
			return 0;
	return length;
}

#define BLOCK_BYTES 32
#define HIGH_BITS   UINT64_C(0x8080808080808080)

static bool is_ascii_block(const char *text)
{
	uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];

	memcpy(words, text, sizeof(words));
	return !((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS);
}

bool utf8_is_valid(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t length;

		while (size - at >= BLOCK_BYTES && is_ascii_block(text + at))
			at += BLOCK_BYTES;
		while (at < size && (unsigned char)text[at] < 0x80)
			at++;
		if (at == size)
			break;
		length = utf8_sequence_length(text + at, size - at);
		if (length == 0)
			return false;
		at += length;
	}
	return true;
}

size_t utf8_count(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += !is_continuation((unsigned char)text[i]);
	return count;
}

size_t utf8_prefix(const char *text, size_t size, size_t points)
{
	size_t at = 0;

	for (; at < size; at++) {
		if (is_continuation((unsigned char)text[at]))
			continue;
		if (points == 0)
			break;
		points--;
	}
	return at;
}

size_t utf8_encode(unsigned int code, char *ret)
{
	if (code < 0x80) {
		ret[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		ret[0] = (char)(0xC0 | code >> 6);
		ret[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000) {
		ret[0] = (char)(0xE0 | code >> 12);
		ret[1] = (char)(0x80 | (code >> 6 & 0x3F));
		ret[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	ret[0] = (char)(0xF0 | code >> 18);
	ret[1] = (char)(0x80 | (code >> 12 & 0x3F));
	ret[2] = (char)(0x80 | (code >> 6 & 0x3F));
	ret[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}

size_t utf8_cut(const char *text, size_t size, size_t size_max)
{
	size_t cut = size_max;

	if (size <= size_max)
		return size;
	/* A character has at most three bytes after its first. */
	while (cut > 0 && cut + 3 > size_max && is_continuation((unsigned char)text[cut]))
		cut--;
	return is_continuation((unsigned char)text[cut]) ? size_max : cut;
}

void utf8_repair(const char *text, size_t size, struct buffer *out)
{
	for (size_t at = 0; at < size;) {
		size_t length = utf8_sequence_length(text + at, size - at);

		if (length > 0)
			buffer_append(out, text + at, length);
		else
			buffer_append_string(out, "\xEF\xBF\xBD");
		at += length > 0 ? length : 1;
	}
}
