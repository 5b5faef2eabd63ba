/* SPDX-License-Identifier: Apache-2.0 */
#include "json/runs.h"

#include <string.h>

#include "util/text/utf8.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

int json_hex4(const char *digits)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(digits[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* The replacement of half a surrogate pair */
#define REPLACEMENT 0xFFFD

/* Return the low surrogate escaped at @at, or -1. */
static int low_surrogate(const char *at, const char *end)
{
	int code = end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? json_hex4(at + 2) : -1;

	return code >= 0xDC00 && code <= 0xDFFF ? code : -1;
}

/* The code point of the \u escape at @at, checked by the reader; a surrogate pair is a single code
 * point. */
static unsigned int unicode_escape(const char *at, const char *end, size_t *ret_length)
{
	unsigned int code = (unsigned int)json_hex4(at + 2);
	int low;

	*ret_length = 6;
	if (code < 0xD800 || code > 0xDFFF)
		return code;
	low = code < 0xDC00 ? low_surrogate(at + 6, end) : -1;
	if (low < 0)
		return REPLACEMENT;
	*ret_length = 12;
	return 0x10000 + ((code - 0xD800) << 10) + ((unsigned int)low - 0xDC00);
}

static char short_escape(char c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return c;
	}
}

static void decode_escape(struct json_runs *runs)
{
	size_t length = 2;

	if (runs->at[1] == 'u') {
		runs->size =
			utf8_encode(unicode_escape(runs->at, runs->end, &length), runs->decoded);
	} else {
		runs->decoded[0] = short_escape(runs->at[1]);
		runs->size = 1;
	}
	runs->run = runs->decoded;
	runs->at += length;
}

bool json_runs_next(struct json_runs *runs)
{
	const char *stop;

	if (runs->at == runs->end)
		return false;
	if (*runs->at == '\\') {
		decode_escape(runs);
		return true;
	}
	stop = memchr(runs->at, '\\', (size_t)(runs->end - runs->at));
	if (!stop)
		stop = runs->end;
	runs->run = runs->at;
	runs->size = (size_t)(stop - runs->at);
	runs->at = stop;
	return true;
}

/* Two sequences of runs, cut at different places, go by the shorter of the two current ones. */
static bool runs_equal(struct json_runs *a, struct json_runs *b)
{
	for (;;) {
		bool a_more = a->size > 0 || json_runs_next(a);
		bool b_more = b->size > 0 || json_runs_next(b);
		size_t size = a->size < b->size ? a->size : b->size;

		if (!a_more || !b_more)
			return a_more == b_more;
		if (memcmp(a->run, b->run, size) != 0)
			return false;
		a->run += size;
		a->size -= size;
		b->run += size;
		b->size -= size;
	}
}

bool json_tokens_equal(const char *a_text, const struct json_token *a, const char *b_text,
	const struct json_token *b)
{
	struct json_runs a_runs;
	struct json_runs b_runs;

	if (!((a->flags | b->flags) & JSON_ESCAPED))
		return a->length == b->length &&
		       memcmp(a_text + a->offset, b_text + b->offset, a->length) == 0;
	json_runs_init(&a_runs, a_text, a);
	json_runs_init(&b_runs, b_text, b);
	return runs_equal(&a_runs, &b_runs);
}
