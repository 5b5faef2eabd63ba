/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/cleanup.h"

/*
 * Memory taken in small pieces and given back all at once: a compiled schema is hundreds of little
 * structs with one owner and one lifetime. A zeroed struct is an empty arena.
 */
struct arena {
	struct arena_chunk *chunks; /* the newest first */
	size_t used;                /* size of the newest chunk, in bytes */
};

/* @size zeroed bytes, aligned for anything; NULL without memory. They live as long as the arena. */
void *arena_alloc(struct arena *arena, size_t size);

/* Return a copy of the @size bytes at @bytes with a NUL after them; NULL without memory. */
char *arena_copy(struct arena *arena, const void *bytes, size_t size);

void arena_deinit(struct arena *arena);
