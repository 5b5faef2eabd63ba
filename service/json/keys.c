/* SPDX-License-Identifier: Apache-2.0 */
#include "json/keys.h"

#include <stdbool.h>
#include <string.h>

#include "json/runs.h"
#include "util/siphash.h"

/*
 * A hash table of key indices with open addressing, at most half full:
 *
 *   tape     OBJECT STRING … STRING … │ slot slot slot slot …     (spare tokens, as uint32_t)
 *                   ▲ └────────────────────┘ index of a key, 0 when free
 *
 * If each key is compared with each instead, an object of 40 keys takes 1.8 times as long to read,
 * one of 400 keys 18 times and one of 4,000 keys 150 times.
 */

uint64_t json_string_hash(
	const struct json_tape *tape, uint32_t index, const struct siphash_key *secret)
{
	const struct json_token *token = json_at(tape, index);
	struct siphash hash;
	struct json_runs runs;

	siphash_init(&hash, secret);
	if (!(token->flags & JSON_ESCAPED)) {
		siphash_bytes(&hash, tape->text + token->offset, token->length);
		return siphash_finish(&hash);
	}
	json_runs_init(&runs, tape->text, token);
	while (json_runs_next(&runs))
		siphash_bytes(&hash, runs.run, runs.size);
	return siphash_finish(&hash);
}

/* Enter @key into the table; false when an equal one is there. */
static bool enter_key(
	const struct json_tape *tape, uint32_t key, uint64_t hash, uint32_t *slots, uint64_t mask)
{
	uint64_t at = hash & mask;

	for (; slots[at]; at = (at + 1) & mask)
		if (json_tokens_equal(
			    tape->text, json_at(tape, slots[at]), tape->text, json_at(tape, key)))
			return false;
	slots[at] = key;
	return true;
}

static size_t slots_for(uint32_t n_keys)
{
	size_t n_slots = 1;

	while (n_slots < 2 * (size_t)n_keys)
		n_slots *= 2;
	return n_slots;
}

int json_keys_check(struct json_tape *tape, uint32_t used, uint32_t object, uint32_t *ret_duplicate)
{
	struct siphash_key secret = siphash_process_key();
	size_t n_slots = slots_for(json_count(tape, object));
	size_t size = n_slots * sizeof(uint32_t);
	uint32_t *slots;
	int r;

	r = json_tape_reserve(tape, used, size / sizeof(struct json_token) + 1);
	if (r < 0)
		return r;
	slots = (uint32_t *)(void *)(tape->tokens + used);
	memset(slots, 0, size);
	for (uint32_t key = json_first(tape, object); key < used; key = json_next_key(tape, key)) {
		uint64_t hash = json_string_hash(tape, key, &secret);

		if (!enter_key(tape, key, hash, slots, n_slots - 1)) {
			*ret_duplicate = key;
			return 0;
		}
	}
	*ret_duplicate = JSON_NONE;
	return 0;
}
