/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/visible.h"

#include <stdbool.h>
#include <string.h>

#include "util/array.h"
#include "util/text/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

#define ZWNJ           0x200Cu
#define ZWJ            0x200Du
#define TEXT_STYLE     0xFE0Eu
#define EMOJI_STYLE    0xFE0Fu
#define HIGH_SURROGATE 0xD800u
#define LOW_SURROGATE  0xDC00u
#define FIRST_ASTRAL   0x10000u
#define SURROGATE_BITS 10

struct range {
	uint32_t first;
	uint32_t last;
};

/* Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt), with the controls, the
 * separators of lines and paragraphs, and the marks of annotations. */
static const struct range hidden[] = {
	{0x00, 0x1F},
	{0x7F, 0x9F},
	{0xAD, 0xAD},
	{0x034F, 0x034F},
	{0x061C, 0x061C},
	{0x115F, 0x1160},
	{0x17B4, 0x17B5},
	{0x180B, 0x180F},
	{0x200B, 0x200F},
	{0x2028, 0x202E},
	{0x2060, 0x206F},
	{0x3164, 0x3164},
	{0xFE00, 0xFE0F},
	{0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB},
	{0x1BCA0, 0x1BCA3},
	{0x1D173, 0x1D17A},
	{0xE0000, 0xE0FFF},
};

/* Characters not joined by joiners: of scripts without joiners, spaces, punctuation, and formless
 * ones. All others count as letters or emoji, with their marks. */
static const struct range separate[] = {
	{0x00, 0x058F},
	{0x1E00, 0x203B},
	{0x203D, 0x2048},
	{0x204A, 0x2121},
	{0x3000, 0x3004},
	{0x3008, 0x3020},
	{0xE000, 0xF8FF},
	{0xFE10, 0xFE6F},
	{0xFF00, 0xFFFF},
	{0xF0000, 0x10FFFF},
};

/* Characters with two styles, as text and as emoji (emoji-variation-sequences.txt), and their
 * neighbours. */
static const struct range styled[] = {
	{'#', '#'},
	{'*', '*'},
	{'0', '9'},
	{0xA9, 0xA9},
	{0xAE, 0xAE},
	{0x203C, 0x203C},
	{0x2049, 0x2049},
	{0x2122, 0x2122},
	{0x2139, 0x2139},
	{0x2194, 0x2BFF},
	{0x3030, 0x3030},
	{0x303D, 0x303D},
	{0x3297, 0x3299},
	{0x1F000, 0x1FAFF},
};

static bool is_in(uint32_t code, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

static bool is_hidden(uint32_t code)
{
	return is_in(code, hidden, ARRAY_SIZE(hidden));
}

static bool is_joined(uint32_t code)
{
	return !is_hidden(code) && !is_in(code, separate, ARRAY_SIZE(separate));
}

/* Return the code point at the start of @text, and its size; 0 without one. */
static uint32_t decode_point(const char *text, size_t size, size_t *ret_length)
{
	static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	size_t length = size > 0 ? utf8_sequence_length(text, size) : 0;
	uint32_t code;

	*ret_length = length;
	if (length == 0)
		return 0;
	code = (unsigned char)text[0] & masks[length];
	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3F);
	return code;
}

size_t visible_take(const char *text, size_t size, uint32_t *ret_hidden)
{
	size_t length;
	size_t next_length;
	size_t last_length;
	uint32_t code = decode_point(text, size, &length);
	uint32_t next;

	*ret_hidden = VISIBLE;
	if (length == 0)
		return 0;
	if (is_hidden(code)) {
		*ret_hidden = code;
		return length;
	}
	/* Most text is ASCII. */
	if (length < size && (unsigned char)text[length] < 0x80)
		return length;
	next = decode_point(text + length, size - length, &next_length);
	if ((next == TEXT_STYLE || next == EMOJI_STYLE) &&
		is_in(code, styled, ARRAY_SIZE(styled))) {
		length += next_length;
		next = decode_point(text + length, size - length, &next_length);
	}
	if ((next == ZWNJ || next == ZWJ) && is_joined(code) &&
		is_joined(decode_point(
			text + length + next_length, size - length - next_length, &last_length)))
		length += next_length;
	return length;
}

/* Write the JSON escape of the UTF-16 code unit @unit. */
static size_t write_escape(uint32_t unit, char *ret_bytes)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(ret_bytes, "\\u", 2);
	for (unsigned int i = 0; i < 4; i++)
		ret_bytes[2 + i] = digits[unit >> (12 - 4 * i) & 0xF];
	return 6;
}

size_t visible_next(const char *text, size_t size, char ret_bytes[VISIBLE_BYTES], size_t *ret_size)
{
	uint32_t code;
	size_t length = visible_take(text, size, &code);

	if (length == 0) {
		*ret_size = sizeof(REPLACEMENT) - 1;
		memcpy(ret_bytes, REPLACEMENT, *ret_size);
		return 1;
	}
	if (code == VISIBLE) {
		*ret_size = length;
		memcpy(ret_bytes, text, length);
	} else if (code < FIRST_ASTRAL) {
		*ret_size = write_escape(code, ret_bytes);
	} else {
		code -= FIRST_ASTRAL;
		*ret_size = write_escape(HIGH_SURROGATE | code >> SURROGATE_BITS, ret_bytes);
		*ret_size += write_escape(LOW_SURROGATE | (code & ((1u << SURROGATE_BITS) - 1)),
			ret_bytes + *ret_size);
	}
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
