/* SPDX-License-Identifier: Apache-2.0 */
#include "json/scan.h"

#include <stdbool.h>

#include "json/span.h"

size_t json_scan_space(const char *text, size_t size, size_t at)
{
	if (at >= size)
		return size;
	return (size_t)(json_span_space(text + at, text + size) - text);
}

/* The byte behind the string whose first byte (behind the quote) is @at, or NULL. */
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

/* The byte behind the bracket that closes the one at @at, or NULL. */
static const char *container_end(const char *at, const char *end)
{
	size_t open = 0;

	while ((at = json_span_bracket(at, end)) < end) {
		if (*at == '"') {
			at = string_end(at + 1, end);
			if (!at)
				return NULL;
			continue;
		}
		if ((*at | 0x20) == '{')
			open++;
		else if (open == 0 || --open == 0)
			return at + 1;
		at++;
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
