/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Chunks start small, as most schemas are (a catalogue holds two per tool), and double, as some are
 * not. */
#define CHUNK_BYTES_FIRST 480
#define CHUNK_BYTES_MAX   (1 << 20)

struct arena_chunk {
	struct arena_chunk *next;
	size_t capacity;
	alignas(max_align_t) char bytes[];
};

static int add_chunk(struct arena *arena, size_t size)
{
	size_t capacity = arena->chunks ? arena->chunks->capacity * 2 : CHUNK_BYTES_FIRST;
	struct arena_chunk *chunk;

	if (capacity > CHUNK_BYTES_MAX)
		capacity = CHUNK_BYTES_MAX;
	if (capacity < size)
		capacity = size;
	chunk = calloc(1, sizeof(*chunk) + capacity);
	if (!chunk)
		return -1;
	chunk->capacity = capacity;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->used = 0;
	return 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t aligned = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	void *place;

	if (aligned < size)
		return NULL;
	if (!arena->chunks || arena->chunks->capacity - arena->used < aligned) {
		if (add_chunk(arena, aligned) < 0)
			return NULL;
	}
	place = arena->chunks->bytes + arena->used;
	arena->used += aligned;
	return place;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
	char *copy = arena_alloc(arena, size + 1);

	if (copy && size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

void arena_deinit(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
}
