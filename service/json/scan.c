/* SPDX-License-Identifier: Apache-2.0 */
#include "json/scan.h"

#include <stdbool.h>
#include <stdint.h>

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
 * The brackets are counted in their order. Four blocks are taken at once, where they have no
 * backslash; a block with a backslash is gone through byte by byte, but for a string that goes on.
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
#define BLOCK_BYTES  16
#define BLOCKS_BYTES 64

static JSON_ALWAYS_INLINE __m128i load_block(const char *at)
{
	return _mm_loadu_si128((const __m128i *)(const void *)at);
}

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

/* A bit for each byte of some blocks. */
struct marks {
	uint64_t quotes;
	uint64_t closes;
	uint64_t brackets;
};

/* Add the marks of the block @from bytes after @at. */
static JSON_ALWAYS_INLINE void mark_block(struct marks *marks, const char *at, unsigned int from)
{
	__m128i block = load_block(at + from);
	__m128i folded = fold_brackets(block);
	__m128i closing = json_block_equals(folded, '}');
	__m128i opening = json_block_equals(folded, '{');

	marks->quotes |= (uint64_t)json_block_mask(json_block_equals(block, '"')) << from;
	marks->closes |= (uint64_t)json_block_mask(closing) << from;
	marks->brackets |= (uint64_t)json_block_mask(_mm_or_si128(closing, opening)) << from;
}

/* For each bit, whether the number of bits up to it, itself included, is odd; of one block, or of
 * four. */
static JSON_ALWAYS_INLINE uint64_t parity_up_to_each(uint64_t mask, bool is_one)
{
	mask ^= mask << 1;
	mask ^= mask << 2;
	mask ^= mask << 4;
	mask ^= mask << 8;
	if (is_one)
		return mask;
	mask ^= mask << 16;
	return mask ^ mask << 32;
}

static JSON_ALWAYS_INLINE __m128i find_backslashes(const char *at)
{
	return json_block_equals(load_block(at), '\\');
}

static JSON_ALWAYS_INLINE bool has_backslash(const char *at, bool is_one)
{
	__m128i found = find_backslashes(at);

	if (!is_one) {
		found = _mm_or_si128(found, find_backslashes(at + BLOCK_BYTES));
		found = _mm_or_si128(found, find_backslashes(at + 2l * BLOCK_BYTES));
		found = _mm_or_si128(found, find_backslashes(at + 3l * BLOCK_BYTES));
	}
	return json_block_mask(found) != 0;
}

/* Step over the block at @at, or over four of them (@is_one is a constant), or up to the end of the
 * container in them. Return the number of bytes stepped over; 0: go on in smaller steps. */
static JSON_ALWAYS_INLINE size_t step_blocks(struct walk *walk, const char *at, bool is_one)
{
	unsigned int bytes = is_one ? BLOCK_BYTES : BLOCKS_BYTES;
	struct marks marks = {0};
	uint64_t outside;

	if (walk->is_escaped || has_backslash(at, is_one))
		return 0;
	mark_block(&marks, at, 0);
	if (!is_one) {
		mark_block(&marks, at, BLOCK_BYTES);
		mark_block(&marks, at, 2 * BLOCK_BYTES);
		mark_block(&marks, at, 3 * BLOCK_BYTES);
	}
	outside = parity_up_to_each(marks.quotes, is_one) ^ (walk->is_in_string ? 0 : UINT64_MAX);
	for (uint64_t left = marks.brackets & outside; left; left &= left - 1) {
		if (!(marks.closes & left & -left))
			walk->open++;
		else if (--walk->open == 0)
			return (size_t)__builtin_ctzll(left) + 1;
	}
	walk->is_in_string = !(outside >> (bytes - 1) & 1);
	return bytes;
}

/* Return how many bytes of the block at @at a value may follow. */
static unsigned int count_marks(const char *at)
{
	__m128i block = load_block(at);
	__m128i marks = _mm_or_si128(
		json_block_equals(block, ','), json_block_equals(fold_brackets(block), '{'));

	return count_bits(json_block_mask(marks));
}
#else
#define BLOCK_BYTES  8
#define BLOCKS_BYTES 8

static size_t step_blocks(struct walk *walk, const char *at, bool is_one)
{
	(void)walk;
	(void)at;
	(void)is_one;
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
		size_t stepped = 0;

		if (left >= BLOCKS_BYTES)
			stepped = step_blocks(&walk, at, false);
		if (stepped == 0 && left >= BLOCK_BYTES)
			stepped = step_blocks(&walk, at, true);
		if (stepped > 0) {
			at += stepped;
			if (walk.open == 0)
				return at;
			continue;
		}
		if (walk.is_in_string && !walk.is_escaped) {
			at = string_end(at, end);
			if (!at)
				return NULL;
			walk.is_in_string = false;
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
