/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/key.h"

#include <errno.h>

/* Mixes the first and the last eight bytes: names of one schema share prefixes more often than
 * both. Schemas bring the keys of a set, so a bad spread only slows the schema that asked for it.
 */
static uint32_t hash(const struct key *key)
{
	uint64_t mixed = (key->head ^ (key->tail * UINT64_C(0x9E3779B97F4A7C15))) + key->length;

	mixed *= UINT64_C(0xD6E8FEB86659FD93);
	return (uint32_t)(mixed >> 32);
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
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = hash(&set->keys[i]) & set->slot_mask;

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
	slot = hash(key) & set->slot_mask;
	while (set->slots[slot] != 0) {
		if (key_equals(&set->keys[set->slots[slot] - 1], key))
			return set->slots[slot] - 1;
		slot = (slot + 1) & set->slot_mask;
	}
	return KEY_NONE;
}
