/* SPDX-License-Identifier: Apache-2.0 */
#include "json/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "json/runs.h"

/*
 * A hash table of key indices with open addressing, at most half full:
 *
 *   tape     OBJECT STRING … STRING … │ slot slot slot slot …     (spare tokens, as uint32_t)
 *                   ▲ └────────────────────┘ index of a key, 0 when free
 *
 * The hash is SipHash-1-3 (Aumasson and Bernstein, 2012) under the 16 random bytes that the kernel
 * hands every process, so that nobody outside can choose keys that collide.
 */

struct siphash {
	uint64_t v0, v1, v2, v3;
	uint64_t word;     /* bytes that wait for a whole word */
	unsigned int bits; /* how many bits of it */
	uint64_t total;    /* bytes hashed */
};

static uint64_t rotate(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static void siphash_round(struct siphash *hash)
{
	hash->v0 += hash->v1;
	hash->v1 = rotate(hash->v1, 13) ^ hash->v0;
	hash->v0 = rotate(hash->v0, 32);
	hash->v2 += hash->v3;
	hash->v3 = rotate(hash->v3, 16) ^ hash->v2;
	hash->v0 += hash->v3;
	hash->v3 = rotate(hash->v3, 21) ^ hash->v0;
	hash->v2 += hash->v1;
	hash->v1 = rotate(hash->v1, 17) ^ hash->v2;
	hash->v2 = rotate(hash->v2, 32);
}

static void siphash_word(struct siphash *hash, uint64_t word)
{
	hash->v3 ^= word;
	siphash_round(hash);
	hash->v0 ^= word;
}

static void siphash_init(struct siphash *hash, const uint64_t key[2])
{
	*hash = (struct siphash){
		.v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = key[1] ^ UINT64_C(0x7465646279746573),
	};
}

static void siphash_bytes(struct siphash *hash, const char *bytes, size_t size)
{
	size_t at = 0;

	hash->total += size;
	while (hash->bits == 0 && size - at >= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		siphash_word(hash, word);
		at += sizeof(word);
	}
	for (; at < size; at++) {
		hash->word |= (uint64_t)(unsigned char)bytes[at] << hash->bits;
		hash->bits += 8;
		if (hash->bits == 64) {
			siphash_word(hash, hash->word);
			hash->word = 0;
			hash->bits = 0;
		}
	}
}

static uint64_t siphash_finish(struct siphash *hash)
{
	siphash_word(hash, hash->total << 56 | hash->word);
	hash->v2 ^= 0xFF;
	siphash_round(hash);
	siphash_round(hash);
	siphash_round(hash);
	return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

static uint64_t hash_key(const char *text, const struct json_token *key, const uint64_t seed[2])
{
	struct siphash hash;
	struct json_runs runs;

	siphash_init(&hash, seed);
	if (!(key->flags & JSON_ESCAPED)) {
		siphash_bytes(&hash, text + key->offset, key->length);
		return siphash_finish(&hash);
	}
	json_runs_init(&runs, text, key);
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
	size_t n_slots = slots_for(json_count(tape, object));
	size_t size = n_slots * sizeof(uint32_t);
	uint64_t seed[2];
	uint32_t *slots;
	int r;

	r = json_tape_reserve(tape, used, size / sizeof(struct json_token) + 1);
	if (r < 0)
		return r;
	slots = (uint32_t *)(void *)(tape->tokens + used);
	memset(slots, 0, size);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel hands it over */
	memcpy(seed, (const void *)getauxval(AT_RANDOM), sizeof(seed));
	for (uint32_t key = json_first(tape, object); key < used; key = json_next_key(tape, key)) {
		uint64_t hash = hash_key(tape->text, json_at(tape, key), seed);

		if (!enter_key(tape, key, hash, slots, n_slots - 1)) {
			*ret_duplicate = key;
			return 0;
		}
	}
	*ret_duplicate = JSON_NONE;
	return 0;
}
