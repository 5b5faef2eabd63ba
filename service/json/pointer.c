/* SPDX-License-Identifier: Apache-2.0 */
#include "json/pointer.h"

#include <stdbool.h>
#include <string.h>

#include "json/writer.h"
#include "util/text/text_view.h"

static void append_key(const struct json_tape *tape, uint32_t key, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};

	json_string_decode(tape, key, &decoded);
	buffer_fail_with(out, &decoded);
	json_pointer_append(out, buffer_text(&decoded), decoded.size);
}

void json_pointer_write(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	uint32_t at = 0;

	while (at < index && index < json_end(tape, at)) {
		bool is_object = json_type_at(tape, at) == JSON_OBJECT;
		uint32_t child = json_first(tape, at);
		uint32_t position = 0;

		if (is_object) {
			while (index >= json_next_key(tape, child))
				child = json_next_key(tape, child);
			append_key(tape, child, out);
			if (child == index)
				return;
			at = child + 1;
			continue;
		}
		for (; index >= json_next(tape, child); position++)
			child = json_next(tape, child);
		json_pointer_append_index(out, position);
		at = child;
	}
}

/* Set @ret_token to the reference token (RFC 6901 §4) from @pointer on, and return the text after
 * it. A token with an escape is decoded into @decoded; all others are read in place, so memory that
 * is short hides no value. */
static const char *take_token(
	const char *pointer, struct buffer *decoded, struct text_view *ret_token)
{
	const char *text = pointer + 1;
	size_t size = strcspn(text, "/");
	const char *end = text + size;

	*ret_token = (struct text_view){text, size};
	if (!memchr(text, '~', size))
		return end;
	buffer_reset(decoded);
	for (; text < end; text++) {
		char c = *text;

		if (c == '~' && (text[1] == '0' || text[1] == '1'))
			c = *++text == '0' ? '~' : '/';
		buffer_append_char(decoded, c);
	}
	*ret_token = buffer_view(decoded);
	return end;
}

/* RFC 6901 §4: an index is digits without a leading zero. */
static bool read_index(const struct text_view *token, uint32_t *ret_index)
{
	uint64_t index = 0;

	if (token->size == 0 || (token->size > 1 && token->text[0] == '0'))
		return false;
	for (size_t i = 0; i < token->size; i++) {
		if (token->text[i] < '0' || token->text[i] > '9' || index > UINT32_MAX / 10)
			return false;
		index = index * 10 + (uint64_t)(token->text[i] - '0');
	}
	*ret_index = (uint32_t)index;
	return index <= UINT32_MAX;
}

/* The element named by @token, from where @cursor (or NULL) has left the same array. */
static uint32_t find_element(const struct json_tape *tape, uint32_t array,
	const struct text_view *token, struct json_cursor *cursor)
{
	uint32_t child = json_first(tape, array);
	uint32_t position;
	uint32_t at = 0;

	if (!read_index(token, &position))
		return JSON_NONE;
	if (cursor && cursor->array == array && cursor->child && cursor->position <= position) {
		child = cursor->child;
		at = cursor->position;
	}
	for (; child < json_end(tape, array) && at < position; at++)
		child = json_next(tape, child);
	if (child >= json_end(tape, array))
		return JSON_NONE;
	if (cursor)
		*cursor = (struct json_cursor){array, position, child};
	return child;
}

/* Go down from the root as far as there is something; what is left of @pointer then. */
static const char *walk(const struct json_tape *tape, const char *pointer,
	struct json_cursors *cursors, uint32_t *ret_at)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	unsigned int n_arrays = 0;
	uint32_t at = 0;

	while (*pointer == '/') {
		struct text_view token;
		const char *rest = take_token(pointer, &decoded, &token);
		uint32_t child = JSON_NONE;

		if (json_type_at(tape, at) == JSON_OBJECT)
			child = json_find_sized(tape, at, token.text, token.size);
		else if (json_type_at(tape, at) == JSON_ARRAY)
			child = find_element(tape, at, &token,
				cursors && n_arrays < JSON_CURSORS ? &cursors->at[n_arrays++]
								   : NULL);
		if (child == JSON_NONE)
			break;
		pointer = rest;
		at = child;
	}
	*ret_at = at;
	return pointer;
}

uint32_t json_pointer_nearest(const struct json_tape *tape, const char *pointer)
{
	uint32_t at;

	walk(tape, pointer, NULL, &at);
	return at;
}

bool json_pointer_find(const struct json_tape *tape, const char *pointer,
	struct json_cursors *cursors, uint32_t *ret_index)
{
	uint32_t at;

	if (*walk(tape, pointer, cursors, &at) != '\0')
		return false;
	*ret_index = at;
	return true;
}
