/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/runs.h"
#include "util/text/utf8.h"

#define TOKENS_FIRST_CAPACITY 64

int json_tape_reserve(struct json_tape *tape, uint32_t used, size_t more)
{
	size_t capacity = tape->capacity ? tape->capacity : TOKENS_FIRST_CAPACITY;
	struct json_token *tokens;

	if (tape->capacity - used >= more)
		return 0;
	while (capacity - used < more)
		capacity *= 2;
	if (used + more <= tape->tokens_max && capacity > tape->tokens_max)
		capacity = tape->tokens_max;
	if (capacity > UINT32_MAX - 1)
		return -ENOMEM;
	tokens = realloc(tape->tokens, capacity * sizeof(*tokens));
	if (!tokens)
		return -ENOMEM;
	tape->tokens = tokens;
	tape->capacity = (uint32_t)capacity;
	return 0;
}

void json_tape_deinit(struct json_tape *tape)
{
	free(tape->tokens);
	*tape = (struct json_tape){0};
}

void json_tape_recycle(struct json_tape *tape, uint32_t kept_tokens)
{
	if (tape->capacity > kept_tokens)
		json_tape_deinit(tape);
	tape->count = 0;
}

int json_tape_set_empty(struct json_tape *tape)
{
	static const char text[] = "{}";
	int r = json_tape_reserve(tape, 0, 1);

	if (r < 0)
		return r;
	tape->text = text;
	tape->size = strlen(text);
	tape->tokens[0] =
		(struct json_token){.length = (uint32_t)tape->size, .next = 1, .type = JSON_OBJECT};
	tape->count = 1;
	tape->absent = UINT64_MAX;
	return 0;
}

bool json_is_deeper(const struct json_tape *tape, uint32_t index, uint32_t depth_max)
{
	enum json_type type = json_type_at(tape, index);

	if (type != JSON_ARRAY && type != JSON_OBJECT)
		return false;
	if (depth_max == 0)
		return true;
	json_each(child, tape, index)
		if (json_is_deeper(tape, child, depth_max - 1))
			return true;
	return false;
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",
		[JSON_FALSE] = "boolean",
		[JSON_TRUE] = "boolean",
		[JSON_NUMBER] = "number",
		[JSON_STRING] = "string",
		[JSON_ARRAY] = "array",
		[JSON_OBJECT] = "object",
	};

	return names[type];
}

const char *json_value_text(const struct json_tape *tape, uint32_t index, size_t *ret_size)
{
	const struct json_token *token = json_at(tape, index);
	size_t quote = token->type == JSON_STRING;

	*ret_size = token->length + 2 * quote;
	return tape->text + token->offset - quote;
}

uint32_t json_count(const struct json_tape *tape, uint32_t index)
{
	const struct json_token *container = json_at(tape, index);
	uint32_t values = 0;

	if (container->count < JSON_COUNT_MAX)
		return container->count;
	for (uint32_t i = json_first(tape, index); i < container->next; i = json_next(tape, i))
		values++;
	return container->type == JSON_OBJECT ? values / 2 : values;
}

/* As json_string_equals(), for a string with escapes. */
static bool escaped_equals(
	const struct json_tape *tape, const struct json_token *token, const char *text, size_t size)
{
	struct json_runs runs;

	/* An escape is longer than its character. */
	if (token->length <= size)
		return false;
	json_runs_init(&runs, tape->text, token);
	while (json_runs_next(&runs)) {
		if (runs.size > size || memcmp(runs.run, text, runs.size) != 0)
			return false;
		text += runs.size;
		size -= runs.size;
	}
	return size == 0;
}

/* Most keys differ in length already, or in their first byte: no function is called for them. */
static inline bool token_equals(
	const struct json_tape *tape, const struct json_token *token, const char *text, size_t size)
{
	if (token->flags & JSON_ESCAPED)
		return escaped_equals(tape, token, text, size);
	return token->length == size &&
	       (size == 0 || (tape->text[token->offset] == *text &&
				     memcmp(tape->text + token->offset, text, size) == 0));
}

bool json_string_equals(const struct json_tape *tape, uint32_t index, const char *text, size_t size)
{
	return token_equals(tape, json_at(tape, index), text, size);
}

uint32_t json_find_sized(
	const struct json_tape *tape, uint32_t object, const char *key, size_t size)
{
	uint32_t end = json_end(tape, object);

	if (json_type_at(tape, object) != JSON_OBJECT)
		return JSON_NONE;
	for (uint32_t i = json_first(tape, object); i < end; i = json_next_key(tape, i))
		if (token_equals(tape, json_at(tape, i), key, size))
			return i + 1;
	return JSON_NONE;
}

bool json_strings_equal(
	const struct json_tape *a_tape, uint32_t a, const struct json_tape *b_tape, uint32_t b)
{
	return json_tokens_equal(
		a_tape->text, json_at(a_tape, a), b_tape->text, json_at(b_tape, b));
}

void json_string_decode(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	const struct json_token *token = json_at(tape, index);
	struct json_runs runs;

	if (!(token->flags & JSON_ESCAPED)) {
		buffer_append(out, tape->text + token->offset, token->length);
		return;
	}
	json_runs_init(&runs, tape->text, token);
	while (json_runs_next(&runs))
		buffer_append(out, runs.run, runs.size);
}

char *json_string_dup(const struct json_tape *tape, uint32_t index, size_t *ret_size)
{
	const struct json_token *token = json_at(tape, index);
	cleanup(buffer_deinit) struct buffer decoded = {0};
	char *text;

	if (token->flags & JSON_ESCAPED) {
		json_string_decode(tape, index, &decoded);
		return buffer_take(&decoded, ret_size);
	}
	/* Most strings are short and plain: room to grow would be cut off again. */
	text = malloc(token->length + 1u);
	if (!text)
		return NULL;
	memcpy(text, tape->text + token->offset, token->length);
	text[token->length] = '\0';
	if (ret_size)
		*ret_size = token->length;
	return text;
}

size_t json_string_points(const struct json_tape *tape, uint32_t index)
{
	const struct json_token *token = json_at(tape, index);
	struct json_runs runs;
	size_t points = 0;

	if (!(token->flags & (JSON_ESCAPED | JSON_NON_ASCII)))
		return token->length;
	json_runs_init(&runs, tape->text, token);
	while (json_runs_next(&runs))
		points += utf8_count(runs.run, runs.size);
	return points;
}
