/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/siphash.h"

#define MAP_CAPACITY_FIRST 16

struct map_entry {
	const char *bytes; /* NULL: free */
	size_t size;
	uint64_t hash;
	uint32_t value;
};

static uint64_t hash_bytes(const char *bytes, size_t size)
{
	struct siphash_key secret = siphash_process_key();
	struct siphash hash;

	siphash_init(&hash, &secret);
	siphash_bytes(&hash, bytes, size);
	return siphash_finish(&hash);
}

/* The entry of these bytes, or the free entry at their place. */
static struct map_entry *find_entry(
	const struct map *map, const char *bytes, size_t size, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (map->capacity - 1);

	for (;; at = (at + 1) & (map->capacity - 1)) {
		struct map_entry *entry = &map->entries[at];

		if (!entry->bytes)
			return entry;
		if (entry->hash == hash && entry->size == size &&
			memcmp(entry->bytes, bytes, size) == 0)
			return entry;
	}
}

static int grow(struct map *map)
{
	struct map bigger = {.capacity = map->capacity ? map->capacity * 2 : MAP_CAPACITY_FIRST};

	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->capacity; i++) {
		const struct map_entry *old = &map->entries[i];

		if (old->bytes)
			*find_entry(&bigger, old->bytes, old->size, old->hash) = *old;
	}
	bigger.count = map->count;
	free(map->entries);
	*map = bigger;
	return 0;
}

int map_add(struct map *map, const char *bytes, size_t size, uint32_t value)
{
	uint64_t hash = hash_bytes(bytes, size);
	struct map_entry *entry;
	int r;

	if (map->count * 2 >= map->capacity) {
		r = grow(map);
		if (r < 0)
			return r;
	}
	entry = find_entry(map, bytes, size, hash);
	if (entry->bytes)
		return -EEXIST;
	*entry = (struct map_entry){bytes, size, hash, value};
	map->count++;
	return 0;
}

uint32_t map_find(const struct map *map, const char *bytes, size_t size)
{
	const struct map_entry *entry;

	if (map->count == 0)
		return MAP_NONE;
	entry = find_entry(map, bytes, size, hash_bytes(bytes, size));
	return entry->bytes ? entry->value : MAP_NONE;
}

void map_deinit(struct map *map)
{
	free(map->entries);
	*map = (struct map){0};
}
