/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "json/decimal.h"
#include "json/keys.h"
#include "schema/equal.h"
#include "schema/context.h"
#include "util/siphash.h"

/*
 * uniqueItems in linear time: every element gets a hash, shared by equal values and predictable for
 * no sender (util/siphash), and is entered into a table; only elements of one hash are compared.
 * Few elements are compared each with each, which is faster.
 *
 *   element ─▶ hash ─▶ slot ─┬─ free ─────────────▶ entered there
 *                            ├─ another hash ─────▶ the next slot
 *                            └─ the same hash ────▶ compared: equal, or the next slot
 */

#define UNIQUE_PAIRWISE_MAX 12

/* An entry of the table, which has a power of two entries and is at most half full. */
struct unique_entry {
	uint32_t tag;     /* the half of the hash not used to place the entry */
	uint32_t element; /* its token; 0 (no element is the root) where the entry is free */
};

/* Entries: of the smallest table, and of the largest table kept for the next check. */
#define UNIQUE_FIRST 64
#define UNIQUE_KEPT  16384

static void add_word(struct siphash *hash, uint64_t word)
{
	char bytes[sizeof(word)];

	memcpy(bytes, &word, sizeof(word));
	siphash_bytes(hash, bytes, sizeof(bytes));
}

/* Return the remainder of the power of ten of @decimal's digits, an exponent of any length, by a
 * secret number. */
static uint64_t reduce_power(const struct decimal *decimal, const struct siphash_key *secret)
{
	/* Sixty bits: ten times a remainder fits. */
	uint64_t modulus = (secret->words[0] >> 5) | UINT64_C(1) << 59;
	uint64_t point = (uint64_t)(decimal->point < 0 ? -decimal->point : decimal->point);
	uint64_t power = 0;

	for (size_t i = 0; i < decimal->exponent_size; i++)
		power = (power * 10 + (uint64_t)(decimal->exponent[i] - '0')) % modulus;
	if (decimal->is_exponent_negative != (decimal->point < 0))
		point = modulus - point;
	power = (power + point) % modulus;
	return decimal->is_exponent_negative ? (modulus - power) % modulus : power;
}

/* Equal numbers may be written in many ways, but they have the same sign, the same digits and the
 * same power of ten. */
static void hash_number(struct siphash *hash, const struct json_tape *tape, uint32_t index,
	const struct siphash_key *secret)
{
	struct decimal decimal;
	const char *point;
	size_t before;

	decimal_parse(&decimal, json_bytes(tape, index), json_at(tape, index)->length);
	if (decimal.n_digits == 0)
		return;
	point = memchr(decimal.digits, '.', decimal.n_digits);
	before = point ? (size_t)(point - decimal.digits) : decimal.n_digits;
	siphash_bytes(hash, decimal.digits, before);
	if (point)
		siphash_bytes(hash, point + 1, decimal.n_digits - before);
	add_word(hash, reduce_power(&decimal, secret) << 1 | decimal.is_negative);
}

static uint64_t hash_value(
	struct schema_context *context, uint32_t index, const struct siphash_key *secret);

static void add_container(struct schema_context *context, struct siphash *hash, uint32_t index,
	const struct siphash_key *secret)
{
	const struct json_tape *tape = context->tape;
	uint32_t i = json_first(tape, index);
	uint64_t sum = 0;

	if (context->depth == RECURSION_MAX) {
		context_stop(context, STOP_DEPTH);
		return;
	}
	context->depth++;
	if (json_type_at(tape, index) == JSON_ARRAY) {
		for (; i < json_end(tape, index); i = json_next(tape, i))
			add_word(hash, hash_value(context, i, secret));
	} else {
		/* In any order: what the members come to is added up. */
		for (; i < json_end(tape, index); i = json_next_key(tape, i)) {
			struct siphash member;

			siphash_init(&member, secret);
			add_word(&member, hash_value(context, i, secret));
			add_word(&member, hash_value(context, i + 1, secret));
			sum += siphash_finish(&member);
		}
		add_word(hash, sum);
	}
	context->depth--;
}

static uint64_t hash_value(
	struct schema_context *context, uint32_t index, const struct siphash_key *secret)
{
	enum json_type type = json_type_at(context->tape, index);
	char first = (char)type;
	struct siphash hash;

	if (!context_spend(context, 1) || !context_spend_bytes(context, index))
		return 0;
	siphash_init(&hash, secret);
	siphash_bytes(&hash, &first, 1);
	if (type == JSON_NUMBER) {
		hash_number(&hash, context->tape, index, secret);
	} else if (type == JSON_STRING) {
		return json_string_hash(context->tape, index, secret);
	} else if (type == JSON_ARRAY || type == JSON_OBJECT) {
		add_container(context, &hash, index, secret);
	}
	return siphash_finish(&hash);
}

static bool find_pairwise(struct schema_context *context, uint32_t index, struct equal_pair *ret)
{
	const struct json_tape *tape = context->tape;

	json_each(i, tape, index) {
		for (uint32_t k = json_next(tape, i); k < json_end(tape, index);
			k = json_next(tape, k)) {
			if (equal_values(context, tape, i, tape, k)) {
				*ret = (struct equal_pair){i, k};
				return true;
			}
			if (context->stop != STOP_NONE)
				return false;
		}
	}
	return false;
}

/* A table, all free, for @count elements at context->unique; returns its entries, or 0. */
static uint32_t make_table(struct schema_context *context, uint32_t count)
{
	uint32_t capacity = UNIQUE_FIRST;

	while (capacity / 2 < count)
		capacity *= 2;
	if (context->unique_capacity < capacity) {
		free(context->unique);
		context->unique = calloc(capacity, sizeof(*context->unique));
		context->unique_capacity = context->unique ? capacity : 0;
		if (!context->unique)
			context_stop(context, STOP_MEMORY);
		return context->unique_capacity;
	}
	memset(context->unique, 0, capacity * sizeof(*context->unique));
	return capacity;
}

/* Enter the @element into the table of @capacity entries; false where an equal one is there. */
static bool enter_element(struct schema_context *context, uint32_t element, uint64_t hash,
	uint32_t capacity, struct equal_pair *ret)
{
	const struct json_tape *tape = context->tape;
	uint32_t tag = (uint32_t)(hash >> 32);
	uint32_t at = (uint32_t)hash & (capacity - 1);

	for (; context->unique[at].element; at = (at + 1) & (capacity - 1)) {
		const struct unique_entry *other = &context->unique[at];

		if (other->tag == tag &&
			equal_values(context, tape, other->element, tape, element)) {
			*ret = (struct equal_pair){other->element, element};
			return false;
		}
	}
	context->unique[at] = (struct unique_entry){tag, element};
	return true;
}

static bool find_hashed(
	struct schema_context *context, uint32_t index, uint32_t count, struct equal_pair *ret)
{
	struct siphash_key secret = siphash_process_key();
	const struct json_tape *tape = context->tape;
	uint32_t capacity = make_table(context, count);
	uint32_t i = json_first(tape, index);
	bool is_found = false;

	while (!is_found && context->stop == STOP_NONE && i < json_end(tape, index)) {
		uint64_t hash = hash_value(context, i, &secret);

		is_found = !enter_element(context, i, hash, capacity, ret);
		i = json_next(tape, i);
	}
	if (capacity > UNIQUE_KEPT) {
		free(context->unique);
		context->unique = NULL;
		context->unique_capacity = 0;
	}
	return is_found;
}

bool equal_elements(struct schema_context *context, uint32_t index, struct equal_pair *ret_pair)
{
	uint32_t count = json_count(context->tape, index);

	if (count <= UNIQUE_PAIRWISE_MAX)
		return find_pairwise(context, index, ret_pair);
	return find_hashed(context, index, count, ret_pair);
}
