/* SPDX-License-Identifier: Apache-2.0 */
#include "json/strings.h"

#include <stdbool.h>

#include "json/runs.h"
#include "json/span.h"
#include "util/text/utf8.h"

static bool is_short_escape(char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return true;
	default:
		return false;
	}
}

/* Return the byte after the escape at @at, or NULL. A surrogate is taken with its other half. */
static const char *read_escape(
	const char *at, const char *end, uint32_t *flags, struct json_fault *fault)
{
	int code;

	if (end - at >= 2 && is_short_escape(at[1]))
		return at + 2;
	code = end - at >= 6 && at[1] == 'u' ? json_hex4(at + 2) : -1;
	if (code < 0) {
		json_refuse(fault, JSON_E_SYNTAX, at, json_refusal_escape(at, end));
		return NULL;
	}
	if (code == 0)
		*flags |= JSON_SEEN_NUL;
	if (code < 0xD800 || code > 0xDFFF)
		return at + 6;
	if (code < 0xDC00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u') {
		int low = json_hex4(at + 8);

		if (low >= 0xDC00 && low <= 0xDFFF)
			return at + 12;
	}
	if (*flags & JSON_TAKE_HALVES)
		return at + 6;
	json_refuse(fault, JSON_E_SURROGATE, at,
		"expected a pair of surrogate escapes, found half a pair");
	return NULL;
}

/* Return the byte after the characters above U+007F at @at, or NULL. */
static const char *read_non_ascii(const char *at, const char *end, struct json_fault *fault)
{
	while (at < end && (unsigned char)*at > 0x7F) {
		size_t length = utf8_sequence_length(at, (size_t)(end - at));

		if (length == 0) {
			json_refuse(fault, JSON_E_UTF8, at,
				"expected UTF-8 in a string, found other bytes");
			return NULL;
		}
		at += length;
	}
	return at;
}

const char *json_string_rest(
	const char *at, const char *end, uint32_t *flags, struct json_fault *fault)
{
	while (at && (at = json_span_plain(at, end)) < end) {
		unsigned char c = (unsigned char)*at;

		if (c == '"')
			return at;
		if (c == '\\') {
			*flags |= JSON_ESCAPED;
			at = read_escape(at, end, flags, fault);
		} else if (c > 0x7F) {
			*flags |= JSON_NON_ASCII;
			at = read_non_ascii(at, end, fault);
		} else {
			json_refuse(fault, JSON_E_SYNTAX, at,
				"expected an escape in a string, found a raw control character");
			return NULL;
		}
	}
	if (at)
		json_refuse(fault, JSON_E_SYNTAX, at,
			"expected the closing quote of a string, but the text ends");
	return NULL;
}
