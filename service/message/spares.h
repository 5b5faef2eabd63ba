/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdlib.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at))
#endif

#include "util/buffer.h"

/*
 * The memory of short messages. A turn of the loop has dozens of them, and malloc() has seven
 * pieces of one size at hand. So their memory is kept when they are freed, for those that begin
 * next:
 *
 *   spares_take ─▶ a spare piece, or none: malloc ─▶ message ─▶ spares_keep, or free
 *
 * Each thread has its own pieces. For AddressSanitizer a kept piece counts as freed.
 */
#define SPARES_BYTES 512
#define SPARES_MAX   64

struct spares {
	char *pieces[SPARES_MAX];
	unsigned int count;
};

extern _Thread_local struct spares spares_of_thread;

/* Give @message, without memory so far, a spare piece if @size bytes fit into it and there is
 * one. */
static inline void spares_take(struct buffer *message, size_t size)
{
	struct spares *spares = &spares_of_thread;

	if (message->data || size > SPARES_BYTES || spares->count == 0)
		return;
	message->data = spares->pieces[--spares->count];
	ASAN_UNPOISON_MEMORY_REGION(message->data, SPARES_BYTES);
	message->capacity = SPARES_BYTES;
}

/* Free @piece, SPARES_BYTES from malloc(), or keep it. */
static inline void spares_keep(char *piece)
{
	struct spares *spares = &spares_of_thread;

	if (spares->count == SPARES_MAX) {
		free(piece);
		return;
	}
	ASAN_POISON_MEMORY_REGION(piece, SPARES_BYTES);
	spares->pieces[spares->count++] = piece;
}
