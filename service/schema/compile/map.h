/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * From strings (URIs, anchors) to numbers, for the time of compiling. The strings are borrowed. A
 * zeroed struct is an empty map.
 */
struct map {
	struct map_entry *entries;
	uint32_t count;
	uint32_t capacity; /* a power of two, or 0 */
};

/* No such string. */
#define MAP_NONE UINT32_MAX

/* Remember @value for the @size bytes at @bytes, if they are not there yet. 0, -EEXIST, -ENOMEM. */
int map_add(struct map *map, const char *bytes, size_t size, uint32_t value);

/* The value of the @size bytes at @bytes, or MAP_NONE. */
uint32_t map_find(const struct map *map, const char *bytes, size_t size);

void map_deinit(struct map *map);
