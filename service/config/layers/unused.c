/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/unused.h"

#include <stdlib.h>

#include "json/writer.h"

void config_unused_add(struct config_unused *unused, uint32_t token)
{
	buffer_append(&unused->tokens, &token, sizeof(token));
}

/* Return whether the object has the key at @key once more after it. */
static bool has_key_later(const struct json_tape *tape, uint32_t object, uint32_t key)
{
	for (uint32_t i = json_next_key(tape, key); i < json_end(tape, object);
		i = json_next_key(tape, i))
		if (json_strings_equal(tape, key, tape, i))
			return true;
	return false;
}

void config_unused_add_repeated(
	struct config_unused *unused, const struct json_tape *tape, uint32_t value)
{
	for (uint32_t i = value; i < json_next(tape, value); i++) {
		if (json_type_at(tape, i) != JSON_OBJECT)
			continue;
		json_each_key(key, tape, i)
			if (has_key_later(tape, i, key))
				config_unused_add(unused, key);
	}
}

static int compare_tokens(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

bool config_unused_has(const struct config_unused *unused, uint32_t token)
{
	return unused->tokens.size > 0 &&
	       bsearch(&token, unused->tokens.data, unused->tokens.size / sizeof(token),
		       sizeof(token), compare_tokens);
}

/* Append a key or a value without parts. NaN and half of a surrogate pair are not JSON. */
static void write_scalar(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_type_at(tape, token) == JSON_NULL) {
		buffer_append_string(out, "null");
	} else if (json_at(tape, token)->flags & JSON_ESCAPED) {
		json_string_decode(tape, token, &text);
		json_write_buffer(out, &text);
	} else {
		json_write_compact(out, tape, token);
	}
}

static void write_rest(const struct config_unused *unused, const struct json_tape *tape,
	uint32_t token, struct buffer *out)
{
	bool is_object = json_type_at(tape, token) == JSON_OBJECT;
	const char *before = "";

	if (!is_object && json_type_at(tape, token) != JSON_ARRAY) {
		write_scalar(tape, token, out);
		return;
	}
	buffer_append_char(out, is_object ? '{' : '[');
	for (uint32_t i = json_first(tape, token); i < json_end(tape, token);
		i = is_object ? json_next_key(tape, i) : json_next(tape, i)) {
		if (config_unused_has(unused, i) || (is_object && config_unused_has(unused, i + 1)))
			continue;
		buffer_append_string(out, before);
		before = ",";
		if (is_object) {
			write_scalar(tape, i, out);
			buffer_append_char(out, ':');
		}
		write_rest(unused, tape, is_object ? i + 1 : i, out);
	}
	buffer_append_char(out, is_object ? '}' : ']');
}

int config_unused_write_rest(struct config_unused *unused, const struct json_tape *tape,
	uint32_t value, struct buffer *out)
{
	if (unused->tokens.size > 0)
		qsort(unused->tokens.data, unused->tokens.size / sizeof(uint32_t), sizeof(uint32_t),
			compare_tokens);
	write_rest(unused, tape, value, out);
	return buffer_status(&unused->tokens) < 0 ? buffer_status(&unused->tokens)
						  : buffer_status(out);
}

void config_unused_deinit(struct config_unused *unused)
{
	buffer_deinit(&unused->tokens);
}
