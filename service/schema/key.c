/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/key.h"

#include <errno.h>

/* The bytes of a key beyond its two words are hashed, too: authors of schemas and senders of
 * instances could choose keys with no other difference. */
static uint32_t hash(const struct key *key, const struct siphash_key *secret)
{
	const uint64_t words[] = {key->head, key->tail, key->length};
	struct siphash hash;

	siphash_init(&hash, secret);
	siphash_bytes(&hash, (const char *)words, sizeof(words));
	if (key->length > 16)
		siphash_bytes(&hash, key->bytes + 8, key->length - 16);
	return (uint32_t)siphash_finish(&hash);
}

int key_set_index(struct key_set *set, struct arena *arena)
{
	uint32_t size = 16;
	uint32_t *slots;

	if (set->count <= KEY_LINEAR_MAX)
		return 0;
	while (size < set->count * 2)
		size *= 2;
	slots = arena_alloc(arena, size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	set->slot_mask = size - 1;
	set->secret = siphash_process_key();
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = hash(&set->keys[i], &set->secret) & set->slot_mask;

		while (slots[slot] != 0)
			slot = (slot + 1) & set->slot_mask;
		slots[slot] = i + 1;
	}
	set->slots = slots;
	return 0;
}

uint32_t key_set_search(const struct key_set *set, const struct key *key)
{
	uint32_t slot;

	if (!set->slots) {
		for (uint32_t i = 0; i < set->count; i++) {
			if (key_equals(&set->keys[i], key))
				return i;
		}
		return KEY_NONE;
	}
	slot = hash(key, &set->secret) & set->slot_mask;
	while (set->slots[slot] != 0) {
		if (key_equals(&set->keys[set->slots[slot] - 1], key))
			return set->slots[slot] - 1;
		slot = (slot + 1) & set->slot_mask;
	}
	return KEY_NONE;
}
