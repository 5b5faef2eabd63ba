/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/equal.h"

#include <string.h>

#include "json/number.h"
#include "schema/source.h"
#include "schema/validate.h"

/* Two values under comparison. */
struct pair {
	struct schema_context *context;
	const struct json_tape *a_tape;
	const struct json_tape *b_tape;
};

static bool equal(const struct pair *pair, uint32_t a, uint32_t b);

static bool equal_numbers(const struct pair *pair, uint32_t a, uint32_t b)
{
	const struct json_token *a_token = json_at(pair->a_tape, a);
	const struct json_token *b_token = json_at(pair->b_tape, b);
	const char *a_text = json_bytes(pair->a_tape, a);
	const char *b_text = json_bytes(pair->b_tape, b);
	size_t a_size = a_token->length;
	size_t b_size = b_token->length;

	if (a_size == b_size && memcmp(a_text, b_text, a_size) == 0)
		return true;
	/* Without a fraction or an exponent only zero has two texts, and they differ in length. */
	if (a_size == b_size && !((a_token->flags | b_token->flags) & JSON_FRACTION))
		return false;
	return json_number_compare(a_text, a_size, b_text, b_size) == 0;
}

static bool equal_arrays(const struct pair *pair, uint32_t a, uint32_t b)
{
	uint32_t i = json_first(pair->a_tape, a);
	uint32_t k = json_first(pair->b_tape, b);

	while (i < json_end(pair->a_tape, a)) {
		if (!equal(pair, i, k))
			return false;
		i = json_next(pair->a_tape, i);
		k = json_next(pair->b_tape, k);
	}
	return true;
}

/* The key of the object @b equal to the key @a of the other tape; @guess is tried first. */
static uint32_t find_key(const struct pair *pair, uint32_t a, uint32_t b, uint32_t guess)
{
	const struct json_tape *tape = pair->b_tape;

	if (guess < json_end(tape, b) && json_strings_equal(pair->a_tape, a, tape, guess))
		return guess;
	if (!context_spend(pair->context, json_count(tape, b)))
		return JSON_NONE;
	json_each_key(key, tape, b) {
		if (json_strings_equal(pair->a_tape, a, tape, key))
			return key;
	}
	return JSON_NONE;
}

static bool equal_objects(const struct pair *pair, uint32_t a, uint32_t b)
{
	uint32_t guess = json_first(pair->b_tape, b);

	json_each_key(key, pair->a_tape, a) {
		uint32_t other = find_key(pair, key, b, guess);

		if (other == JSON_NONE || !equal(pair, key + 1, other + 1))
			return false;
		guess = json_next_key(pair->b_tape, other);
	}
	return true;
}

/* Return the cost of comparing two scalars, when they are long: at most the cost of reading the
 * shorter scalar. */
static uint64_t text_steps(const struct pair *pair, uint32_t a, uint32_t b)
{
	uint32_t a_size = json_at(pair->a_tape, a)->length;
	uint32_t b_size = json_at(pair->b_tape, b)->length;

	return json_type_at(pair->a_tape, a) > JSON_STRING
		       ? 0
		       : (a_size < b_size ? a_size : b_size) / BYTES_PER_STEP;
}

static bool equal(const struct pair *pair, uint32_t a, uint32_t b)
{
	struct schema_context *context = pair->context;
	enum json_type type = json_type_at(pair->a_tape, a);
	bool is_equal;

	if (!context_spend(context, 1) || type != json_type_at(pair->b_tape, b) ||
		!context_spend(context, text_steps(pair, a, b)))
		return false;
	if (type < JSON_NUMBER)
		return true;
	if (type == JSON_NUMBER)
		return equal_numbers(pair, a, b);
	if (type == JSON_STRING)
		return json_strings_equal(pair->a_tape, a, pair->b_tape, b);
	if (json_count(pair->a_tape, a) != json_count(pair->b_tape, b))
		return false;
	if (context->depth == RECURSION_MAX)
		return context_stop(context, STOP_DEPTH);
	context->depth++;
	is_equal = type == JSON_ARRAY ? equal_arrays(pair, a, b) : equal_objects(pair, a, b);
	context->depth--;
	return is_equal;
}

bool equal_values(struct schema_context *context, const struct json_tape *a_tape, uint32_t a,
	const struct json_tape *b_tape, uint32_t b)
{
	struct pair pair = {context, a_tape, b_tape};

	return equal(&pair, a, b);
}

/* Whether the string at @index is in @set. */
static bool has_string(struct schema_context *context, const struct key_set *set, uint32_t index)
{
	const struct json_token *token = json_at(context->tape, index);

	if (set->slots || (token->flags & JSON_ESCAPED))
		return context_find_key(context, set, index, KEY_NONE) != KEY_NONE;
	for (uint32_t i = 0; i < set->count; i++) {
		if (context_is_key(context->tape, token, &set->keys[i]))
			return true;
	}
	return false;
}

/* Whether @values has the value at @index. */
static bool has_value(struct schema_context *context, const struct node *node,
	const struct node_values *values, uint32_t index)
{
	enum json_type type = json_type_at(context->tape, index);

	if (!context_spend_bytes(context, index))
		return false;
	if (type == JSON_STRING)
		return has_string(context, &values->strings, index);
	if (type < JSON_NUMBER)
		return values->types >> type & 1;
	for (uint32_t i = 0; i < values->n_others; i++) {
		if (equal_values(
			    context, context->tape, index, &node->source->tape, values->others[i]))
			return true;
	}
	return false;
}

bool validate_has_values(struct schema_context *context, const struct node *node, uint32_t index)
{
	for (const struct node_values *values = node->values; values; values = values->next) {
		if (!has_value(context, node, values, index))
			return false;
	}
	return true;
}
