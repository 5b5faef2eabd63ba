/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "json/decimal.h"
#include "schema/equal.h"
#include "schema/validate.h"

/*
 * uniqueItems in less than quadratic time: every element gets a hash that equal values share, the
 * elements are sorted by it, and only those with one hash are compared. Few elements are compared
 * each with each, which is faster.
 */

#define UNIQUE_PAIRWISE_MAX 12

/* Of larger exponents no two spellings of one value agree on a sum. */
#define EXPONENT_HASHED_MAX (INT64_C(1) << 40)

struct unique_entry {
	uint64_t hash;
	uint32_t index;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ (hash >> 29);
}

static uint64_t hash_bytes(const char *bytes, size_t size)
{
	uint64_t hash = size;

	for (size_t i = 0; i < size; i++)
		hash = mix(hash, (unsigned char)bytes[i]);
	return hash;
}

/* Equal numbers may be written in many ways, but they have the same digits and the same power of
 * ten, as long as that is a power that anybody can add to. */
static uint64_t hash_number(const struct json_tape *tape, uint32_t index)
{
	struct decimal decimal;
	uint64_t hash = JSON_NUMBER;
	const char *at;
	int64_t exponent;

	decimal_parse(&decimal, json_bytes(tape, index), json_at(tape, index)->length);
	at = decimal.digits;
	for (size_t i = 0; i < decimal.n_digits; i++)
		hash = mix(hash, decimal_next_digit(&at));
	exponent = decimal_exponent(&decimal);
	if (decimal.n_digits > 0 && exponent > -EXPONENT_HASHED_MAX &&
		exponent < EXPONENT_HASHED_MAX)
		hash = mix(hash, (uint64_t)(decimal.point + exponent));
	return hash;
}

static uint64_t hash_value(struct schema_context *context, uint32_t index);

static uint64_t hash_container(struct schema_context *context, uint32_t index)
{
	const struct json_tape *tape = context->tape;
	uint64_t hash = json_count(tape, index);
	uint32_t i = json_first(tape, index);

	if (context->depth == RECURSION_MAX) {
		validate_stop(context, STOP_DEPTH);
		return 0;
	}
	context->depth++;
	if (json_type_at(tape, index) == JSON_ARRAY) {
		for (; i < json_end(tape, index); i = json_next(tape, i))
			hash = mix(hash, hash_value(context, i));
	} else {
		for (; i < json_end(tape, index); i = json_next_key(tape, i))
			hash += mix(hash_value(context, i), hash_value(context, i + 1));
	}
	context->depth--;
	return mix(hash, JSON_ARRAY);
}

static uint64_t hash_value(struct schema_context *context, uint32_t index)
{
	enum json_type type = json_type_at(context->tape, index);
	const char *text;
	size_t size;

	switch (type) {
	case JSON_NUMBER:
		return hash_number(context->tape, index);
	case JSON_STRING:
		text = validate_text(context, index, &size);
		return text ? hash_bytes(text, size) : 0;
	case JSON_ARRAY:
	case JSON_OBJECT:
		return hash_container(context, index);
	default:
		return mix(0, type);
	}
}

static bool differ_pairwise(struct schema_context *context, uint32_t index)
{
	const struct json_tape *tape = context->tape;

	for (uint32_t i = json_first(tape, index); i < json_end(tape, index);
		i = json_next(tape, i)) {
		for (uint32_t k = json_next(tape, i); k < json_end(tape, index);
			k = json_next(tape, k)) {
			if (equal_values(context, tape, i, tape, k))
				return false;
		}
	}
	return context->stop == STOP_NONE;
}

static int compare_entries(const void *a, const void *b)
{
	uint64_t a_hash = ((const struct unique_entry *)a)->hash;
	uint64_t b_hash = ((const struct unique_entry *)b)->hash;

	return (a_hash > b_hash) - (a_hash < b_hash);
}

/* The entries of the array at @index, sorted, at context->unique. */
static bool hash_elements(struct schema_context *context, uint32_t index, uint32_t count)
{
	const struct json_tape *tape = context->tape;
	uint32_t n = 0;

	if (!validate_spend(context, json_end(tape, index) - index))
		return false;
	if (context->unique_capacity < count) {
		struct unique_entry *unique = reallocarray(context->unique, count, sizeof(*unique));

		if (!unique)
			return validate_stop(context, STOP_MEMORY);
		context->unique = unique;
		context->unique_capacity = count;
	}
	for (uint32_t i = json_first(tape, index); i < json_end(tape, index);
		i = json_next(tape, i))
		context->unique[n++] = (struct unique_entry){hash_value(context, i), i};
	qsort(context->unique, count, sizeof(*context->unique), compare_entries);
	return context->stop == STOP_NONE;
}

bool unique_elements(struct schema_context *context, uint32_t index)
{
	const struct json_tape *tape = context->tape;
	uint32_t count = json_count(tape, index);

	if (count <= UNIQUE_PAIRWISE_MAX)
		return differ_pairwise(context, index);
	if (!hash_elements(context, index, count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct unique_entry *a = &context->unique[i];

		for (uint32_t k = i + 1; k < count && context->unique[k].hash == a->hash; k++) {
			if (equal_values(context, tape, a->index, tape, context->unique[k].index))
				return false;
		}
	}
	return context->stop == STOP_NONE;
}
