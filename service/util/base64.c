/* SPDX-License-Identifier: Apache-2.0 */
#include "util/base64.h"

#include <stdint.h>
#include <string.h>

/*
 * Three bytes are four characters of six bits. Whole groups are taken without looking at what is in
 * them: a character that is none leaves its mark in bits that no value has, which are asked for
 * once, at the end. Only the last group may be padded.
 */

#define GROUP_BYTES 3
#define GROUP_CHARS 4

static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of each character, and 1 more; 0: none. */
static const unsigned char values[256] = {
	['A'] = 1,
	['B'] = 2,
	['C'] = 3,
	['D'] = 4,
	['E'] = 5,
	['F'] = 6,
	['G'] = 7,
	['H'] = 8,
	['I'] = 9,
	['J'] = 10,
	['K'] = 11,
	['L'] = 12,
	['M'] = 13,
	['N'] = 14,
	['O'] = 15,
	['P'] = 16,
	['Q'] = 17,
	['R'] = 18,
	['S'] = 19,
	['T'] = 20,
	['U'] = 21,
	['V'] = 22,
	['W'] = 23,
	['X'] = 24,
	['Y'] = 25,
	['Z'] = 26,
	['a'] = 27,
	['b'] = 28,
	['c'] = 29,
	['d'] = 30,
	['e'] = 31,
	['f'] = 32,
	['g'] = 33,
	['h'] = 34,
	['i'] = 35,
	['j'] = 36,
	['k'] = 37,
	['l'] = 38,
	['m'] = 39,
	['n'] = 40,
	['o'] = 41,
	['p'] = 42,
	['q'] = 43,
	['r'] = 44,
	['s'] = 45,
	['t'] = 46,
	['u'] = 47,
	['v'] = 48,
	['w'] = 49,
	['x'] = 50,
	['y'] = 51,
	['z'] = 52,
	['0'] = 53,
	['1'] = 54,
	['2'] = 55,
	['3'] = 56,
	['4'] = 57,
	['5'] = 58,
	['6'] = 59,
	['7'] = 60,
	['8'] = 61,
	['9'] = 62,
	['+'] = 63,
	['/'] = 64,
};

/* The bits that are set in what is read from a character that is none. */
#define WRONG 0xFFFFFF00u

static uint32_t value_of(char character)
{
	return values[(unsigned char)character] - 1u;
}

/* The 24 bits of the four characters at @at; *@seen collects what came. */
static uint32_t read_group(const char *at, uint32_t *seen)
{
	uint32_t a = value_of(at[0]);
	uint32_t b = value_of(at[1]);
	uint32_t c = value_of(at[2]);
	uint32_t d = value_of(at[3]);

	*seen |= a | b | c | d;
	return a << 18 | b << 12 | c << 6 | d;
}

/* How many of the last characters are padding: 0, 1 or 2. */
static size_t padding_of(const char *text, size_t size)
{
	if (size == 0 || text[size - 1] != '=')
		return 0;
	return text[size - 2] == '=' ? 2 : 1;
}

/* The last group, whose @padding counts as zero bits. */
static uint32_t read_last_group(const char *at, size_t padding, uint32_t *seen)
{
	char group[GROUP_CHARS];

	memcpy(group, at, GROUP_CHARS);
	memset(group + GROUP_CHARS - padding, 'A', padding);
	return read_group(group, seen);
}

static void write_group(uint32_t bits, char *place)
{
	place[0] = characters[bits >> 18];
	place[1] = characters[bits >> 12 & 63];
	place[2] = characters[bits >> 6 & 63];
	place[3] = characters[bits & 63];
}

void base64_encode(const void *bytes, size_t size, struct buffer *out)
{
	const unsigned char *at = bytes;
	size_t rest = size % GROUP_BYTES;
	size_t groups = size / GROUP_BYTES;
	char *place = buffer_reserve(out, (groups + (rest > 0)) * GROUP_CHARS);

	if (!place)
		return;
	for (size_t i = 0; i < groups; i++, at += GROUP_BYTES, place += GROUP_CHARS)
		write_group((uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2], place);
	out->size += groups * GROUP_CHARS;
	if (rest == 0)
		return;
	write_group((uint32_t)at[0] << 16 | (rest > 1 ? (uint32_t)at[1] << 8 : 0), place);
	place[3] = '=';
	if (rest == 1)
		place[2] = '=';
	out->size += GROUP_CHARS;
}

bool base64_is_valid(const char *text, size_t size)
{
	size_t padding;
	uint32_t seen = 0;
	uint32_t last;

	if (size % GROUP_CHARS != 0)
		return false;
	if (size == 0)
		return true;
	padding = padding_of(text, size);
	for (const char *at = text; at < text + size - GROUP_CHARS; at += GROUP_CHARS)
		read_group(at, &seen);
	last = read_last_group(text + size - GROUP_CHARS, padding, &seen);
	return !(seen & WRONG) && (last & ((1u << 8 * padding) - 1)) == 0;
}

size_t base64_decoded_size(const char *text, size_t size)
{
	return size / GROUP_CHARS * GROUP_BYTES - padding_of(text, size);
}

void base64_decode(const char *text, size_t size, void *ret_bytes)
{
	unsigned char *place = ret_bytes;
	size_t padding = padding_of(text, size);
	uint32_t seen = 0;
	uint32_t bits;

	if (size == 0)
		return;
	for (; size > GROUP_CHARS; size -= GROUP_CHARS, text += GROUP_CHARS) {
		bits = read_group(text, &seen);
		*place++ = (unsigned char)(bits >> 16);
		*place++ = (unsigned char)(bits >> 8);
		*place++ = (unsigned char)bits;
	}
	bits = read_last_group(text, padding, &seen);
	*place++ = (unsigned char)(bits >> 16);
	if (padding < 2)
		*place++ = (unsigned char)(bits >> 8);
	if (padding < 1)
		*place = (unsigned char)bits;
}
