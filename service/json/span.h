/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(JSON_SPAN_PORTABLE)
#define JSON_SPAN_SSE2
#include <emmintrin.h>
#endif

/*
 * How far a run of uninteresting bytes goes. Most of a JSON text is the inside of strings and the
 * space between tokens; these functions cross it a block at a time and return the first relevant
 * byte, or @end. Nothing outside [at, end) is read.
 *
 *   at ──16──▶──16──▶──16──▶─1─1─1▶ end        the last, partial block goes byte by byte
 *
 * With SSE2 a block is 16 bytes, and a bit mask has the place of its first stop. Elsewhere it is 8
 * bytes in a word, and a word with a stop is read byte by byte. By words, messages and objects take
 * 1.5 times as many instructions as with SSE2, long texts 2.2 times as many.
 */

#define JSON_ALWAYS_INLINE inline __attribute__((always_inline))

#ifdef JSON_SPAN_SSE2

typedef unsigned int (*json_block_function)(__m128i block);

/* Find the first stop: @stops returns a bit for each stop of a block, @is_stop judges a single
 * byte. Both are constants where this is inlined, so no call remains. */
static JSON_ALWAYS_INLINE const char *json_span(const char *at, const char *end,
	json_block_function stops, bool (*is_stop)(unsigned char byte))
{
	while (end - at >= 16) {
		unsigned int mask = stops(_mm_loadu_si128((const __m128i *)(const void *)at));

		if (mask)
			return at + __builtin_ctz(mask);
		at += 16;
	}
	while (at < end && !is_stop((unsigned char)*at))
		at++;
	return at;
}

static JSON_ALWAYS_INLINE __m128i json_block_equals(__m128i block, char byte)
{
	return _mm_cmpeq_epi8(block, _mm_set1_epi8(byte));
}

static JSON_ALWAYS_INLINE unsigned int json_block_mask(__m128i block)
{
	return (unsigned int)_mm_movemask_epi8(block);
}

/* As signed bytes, control characters and everything above 0x7F are less than a space. */
static JSON_ALWAYS_INLINE unsigned int json_plain_stops(__m128i block)
{
	__m128i quotes = json_block_equals(block, '"');
	__m128i escapes = json_block_equals(block, '\\');
	__m128i others = _mm_cmplt_epi8(block, _mm_set1_epi8(' '));

	return json_block_mask(_mm_or_si128(_mm_or_si128(quotes, escapes), others));
}

static JSON_ALWAYS_INLINE unsigned int json_quote_stops(__m128i block)
{
	return json_block_mask(
		_mm_or_si128(json_block_equals(block, '"'), json_block_equals(block, '\\')));
}

static JSON_ALWAYS_INLINE unsigned int json_space_stops(__m128i block)
{
	__m128i spaces =
		_mm_or_si128(json_block_equals(block, ' '), json_block_equals(block, '\n'));
	__m128i others =
		_mm_or_si128(json_block_equals(block, '\t'), json_block_equals(block, '\r'));

	return json_block_mask(_mm_or_si128(spaces, others)) ^ 0xFFFF;
}

#else

typedef uint64_t (*json_block_function)(uint64_t block);

#define JSON_BLOCK_ONES  UINT64_C(0x0101010101010101)
#define JSON_BLOCK_HIGHS UINT64_C(0x8080808080808080)

static JSON_ALWAYS_INLINE const char *json_span(const char *at, const char *end,
	json_block_function stops, bool (*is_stop)(unsigned char byte))
{
	while (end - at >= (ptrdiff_t)sizeof(uint64_t)) {
		uint64_t block;

		memcpy(&block, at, sizeof(block));
		if (stops(block))
			break;
		at += sizeof(block);
	}
	while (at < end && !is_stop((unsigned char)*at))
		at++;
	return at;
}

/* Not zero when a byte of @block is less than @least (at most 0x80); bytes above 0x7F do not
 * count. */
static JSON_ALWAYS_INLINE uint64_t json_block_below(uint64_t block, unsigned char least)
{
	return (block - JSON_BLOCK_ONES * least) & ~block & JSON_BLOCK_HIGHS;
}

static JSON_ALWAYS_INLINE uint64_t json_block_equals(uint64_t block, unsigned char byte)
{
	return json_block_below(block ^ (JSON_BLOCK_ONES * byte), 1);
}

static JSON_ALWAYS_INLINE uint64_t json_plain_stops(uint64_t block)
{
	return (block & JSON_BLOCK_HIGHS) | json_block_below(block, ' ') |
	       json_block_equals(block, '"') | json_block_equals(block, '\\');
}

static JSON_ALWAYS_INLINE uint64_t json_quote_stops(uint64_t block)
{
	return json_block_equals(block, '"') | json_block_equals(block, '\\');
}

static JSON_ALWAYS_INLINE uint64_t json_space_stops(uint64_t block)
{
	return block ^ (JSON_BLOCK_ONES * ' ');
}

#endif

static JSON_ALWAYS_INLINE bool json_is_plain_stop(unsigned char byte)
{
	return byte == '"' || byte == '\\' || byte < ' ' || byte > 0x7F;
}

static JSON_ALWAYS_INLINE bool json_is_quote_stop(unsigned char byte)
{
	return byte == '"' || byte == '\\';
}

static JSON_ALWAYS_INLINE bool json_is_space(unsigned char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static JSON_ALWAYS_INLINE bool json_is_space_stop(unsigned char byte)
{
	return !json_is_space(byte);
}

/* Inside a string: the first quote, backslash, control character or byte above 0x7F. */
static JSON_ALWAYS_INLINE const char *json_span_plain(const char *at, const char *end)
{
	return json_span(at, end, json_plain_stops, json_is_plain_stop);
}

/* Return whether no byte of [at, end) is a stop of json_span_plain(). The last, partial block is
 * read with the bytes before it, which are known. */
static JSON_ALWAYS_INLINE bool json_is_plain(const char *at, const char *end)
{
#ifdef JSON_SPAN_SSE2
	if (end - at >= 16) {
		for (; end - at > 16; at += 16)
			if (json_plain_stops(_mm_loadu_si128((const __m128i *)(const void *)at)))
				return false;
		at = end - 16;
	} else if (end - at >= 8) {
		__m128i first = _mm_loadl_epi64((const __m128i *)(const void *)at);
		__m128i last = _mm_loadl_epi64((const __m128i *)(const void *)(end - 8));

		return !json_plain_stops(_mm_unpacklo_epi64(first, last));
	}
#endif
	return json_span_plain(at, end) == end;
}

/* Find the first quote or backslash inside an unchecked string. */
static JSON_ALWAYS_INLINE const char *json_span_quote(const char *at, const char *end)
{
	return json_span(at, end, json_quote_stops, json_is_quote_stop);
}

/* Between tokens: the first byte other than white space (RFC 8259 §2). */
static JSON_ALWAYS_INLINE const char *json_span_space(const char *at, const char *end)
{
	return json_span(at, end, json_space_stops, json_is_space_stop);
}

/* The first byte other than a decimal digit. Numbers are short, and a predicted loop costs less
 * here than a computed start of the next token. */
static JSON_ALWAYS_INLINE const char *json_span_digits(const char *at, const char *end)
{
	while (at < end && (unsigned char)(*at - '0') <= 9)
		at++;
	return at;
}
