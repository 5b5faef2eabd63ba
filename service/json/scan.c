/* SPDX-License-Identifier: Apache-2.0 */
#include "json/scan.h"

#include <stdbool.h>

#include "json/span.h"

size_t json_scan_long_space(const char *text, size_t size, size_t at)
{
	if (at >= size)
		return size;
	return (size_t)(json_span_space(text + at, text + size) - text);
}

/* Return the byte after the string with the first byte (after the quote) @at, or NULL. */
static const char *string_end(const char *at, const char *end)
{
	for (;;) {
		at = json_span_quote(at, end);
		if (at == end)
			return NULL;
		if (*at == '"')
			return at + 1;
		if (end - at < 2)
			return NULL;
		at += 2;
	}
}

size_t json_scan_string(const char *text, size_t size, size_t at)
{
	const char *stop;

	if (at >= size || text[at] != '"')
		return 0;
	stop = string_end(text + at + 1, text + size);
	return stop ? (size_t)(stop - text) : 0;
}

bool json_scan_is_plain(const char *quoted, size_t size)
{
	return json_is_plain(quoted + 1, quoted + size - 1);
}

/*
 * The way through a container. Its strings are short and many, so it is not crossed from quote to
 * quote, but a block at a time, however many strings begin and end in it:
 *
 *   block      , " a { " : [ 1 ] , " b
 *   quotes     . 1 . . 1 . . . . . 1 .
 *   in string  . 1 1 1 . . . . . . 1 1     a bit is the parity of the quotes up to it
 *   opens      . . . . . . 1 . . . . .     brackets outside of strings
 *   closes     . . . . . . . . 1 . . .
 *
 * The brackets are counted in their order. A block with a backslash is gone through byte by byte.
 */
struct walk {
	size_t open; /* brackets */
	bool is_in_string;
	bool is_escaped; /* the next byte */
};

/* Step over the byte @c. Whether it closes the container. */
static bool step(struct walk *walk, char c)
{
	if (walk->is_escaped) {
		walk->is_escaped = false;
	} else if (walk->is_in_string) {
		walk->is_escaped = c == '\\';
		walk->is_in_string = c != '"';
	} else if (c == '"') {
		walk->is_in_string = true;
	} else if ((c | 0x20) == '{') {
		walk->open++;
	} else if ((c | 0x20) == '}') {
		walk->open--;
	}
	return walk->open == 0;
}

#ifdef JSON_SPAN_SSE2
#define BLOCK_BYTES 16

static __m128i fold_brackets(__m128i block)
{
	return _mm_or_si128(block, _mm_set1_epi8(0x20));
}

static unsigned int count_bits(unsigned int mask)
{
	unsigned int count = 0;

	for (; mask; mask &= mask - 1)
		count++;
	return count;
}

/* For each bit, whether the number of bits up to it, itself included, is odd. */
static unsigned int parity_up_to_each(unsigned int mask)
{
	mask ^= mask << 1;
	mask ^= mask << 2;
	mask ^= mask << 4;
	mask ^= mask << 8;
	return mask & 0xFFFF;
}

/* Step over the block at @at, or up to the end of the container in it. Return the number of bytes
 * stepped over; 0: go through the block byte by byte. */
static size_t step_block(struct walk *walk, const char *at)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i folded = fold_brackets(block);
	unsigned int quotes = json_block_mask(json_block_equals(block, '"'));
	unsigned int outside = 0xFFFF ^ parity_up_to_each(quotes);
	unsigned int closes = json_block_mask(json_block_equals(folded, '}'));
	unsigned int brackets = closes | json_block_mask(json_block_equals(folded, '{'));

	if (walk->is_escaped || json_block_mask(json_block_equals(block, '\\')))
		return 0;
	if (walk->is_in_string)
		outside ^= 0xFFFF;
	for (brackets &= outside; brackets; brackets &= brackets - 1) {
		unsigned int first = brackets & -brackets;

		if (!(closes & first))
			walk->open++;
		else if (--walk->open == 0)
			return (size_t)__builtin_ctz(first) + 1;
	}
	walk->is_in_string = !(outside >> (BLOCK_BYTES - 1));
	return BLOCK_BYTES;
}

/* Return how many bytes of the block at @at a value may follow. */
static unsigned int count_marks(const char *at)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i marks = _mm_or_si128(
		json_block_equals(block, ','), json_block_equals(fold_brackets(block), '{'));

	return count_bits(json_block_mask(marks));
}
#else
#define BLOCK_BYTES 8

static size_t step_block(struct walk *walk, const char *at)
{
	(void)walk;
	(void)at;
	return 0;
}

static unsigned int count_marks(const char *at)
{
	unsigned int count = 0;

	for (const char *end = at + BLOCK_BYTES; at < end; at++)
		count += *at == ',' || (*at | 0x20) == '{';
	return count;
}
#endif

bool json_scan_is_dense(const char *text, size_t size, size_t values)
{
	size_t marks = 0;

	for (size_t at = 0; marks <= values && at + BLOCK_BYTES <= size; at += BLOCK_BYTES)
		marks += count_marks(text + at);
	return marks > values;
}

/* Return the byte after the closing partner of the bracket at @at, or NULL. */
static const char *container_end(const char *at, const char *end)
{
	struct walk walk = {0};

	while (at < end) {
		size_t left = (size_t)(end - at);
		const char *stop = at + (left < BLOCK_BYTES ? left : BLOCK_BYTES);
		size_t stepped = left < BLOCK_BYTES ? 0 : step_block(&walk, at);

		if (stepped > 0) {
			at += stepped;
			if (walk.open == 0)
				return at;
			continue;
		}
		while (at < stop)
			if (step(&walk, *at++))
				return at;
	}
	return NULL;
}

static bool ends_scalar(char c)
{
	return c == ',' || c == ':' || (c | 0x20) == '{' || (c | 0x20) == '}' || c == '"' ||
	       json_is_space((unsigned char)c);
}

size_t json_scan_value(const char *text, size_t size, size_t at)
{
	const char *stop;
	size_t start = at;

	if (at >= size)
		return 0;
	if (text[at] == '"')
		return json_scan_string(text, size, at);
	if ((text[at] | 0x20) == '{') {
		stop = container_end(text + at, text + size);
		return stop ? (size_t)(stop - text) : 0;
	}
	while (at < size && !ends_scalar(text[at]))
		at++;
	return at > start ? at : 0;
}
