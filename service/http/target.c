/* SPDX-License-Identifier: Apache-2.0 */
#include "http/target.h"

#include <string.h>

#include "util/text/text.h"
#include "util/text/utf8.h"

struct target target_read(const char *text)
{
	size_t size = strcspn(text, "?");
	bool has_slash = size > 1 && text[size - 1] == '/';
	struct target target = {.path = {text, size - has_slash}};

	if (text[size] == '?')
		target.query = TEXT_VIEW(text + size + 1);
	return target;
}

bool target_matches(const struct target *target, const char *pattern, struct text_view *ret_segment)
{
	const char *at = target->path.text;
	const char *end = at + target->path.size;
	size_t after;
	size_t size;

	*ret_segment = (struct text_view){0};
	while (*pattern && *pattern != '{') {
		if (at == end || *at++ != *pattern++)
			return false;
	}
	if (!*pattern)
		return at == end;
	pattern += strlen("{}");
	after = strlen(pattern);
	size = (size_t)(end - at);
	if (size <= after || memcmp(end - after, pattern, after) != 0)
		return false;
	size -= after;
	if (memchr(at, '/', size))
		return false;
	*ret_segment = (struct text_view){at, size};
	return true;
}

bool target_decode(const struct text_view *text, bool is_query, struct buffer *out)
{
	size_t start = out->size;

	for (size_t i = 0; i < text->size; i++) {
		char byte = text->text[i];

		if (byte == '%') {
			int high = i + 2 < text->size ? text_hex_value(text->text[i + 1]) : -1;
			int low = high >= 0 ? text_hex_value(text->text[i + 2]) : -1;

			if (low < 0)
				return false;
			byte = (char)(high * 16 + low);
			i += 2;
		} else if (is_query && byte == '+') {
			byte = ' ';
		}
		if (byte == '\0')
			return false;
		buffer_append_char(out, byte);
	}
	return buffer_status(out) == 0 && utf8_is_valid(out->data + start, out->size - start);
}

void target_find(const struct target *target, const char *key, struct text_view *ret_value)
{
	const char *at = target->query.text;
	const char *end = at + target->query.size;
	size_t size = strlen(key);

	*ret_value = (struct text_view){0};
	while (at && at < end) {
		const char *next = memchr(at, '&', (size_t)(end - at));
		const char *stop = next ? next : end;

		if ((size_t)(stop - at) >= size && memcmp(at, key, size) == 0 &&
			((size_t)(stop - at) == size || at[size] == '=')) {
			at += size < (size_t)(stop - at) ? size + 1 : size;
			*ret_value = (struct text_view){at, (size_t)(stop - at)};
			return;
		}
		at = next ? next + 1 : end;
	}
}
