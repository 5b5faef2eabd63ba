/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loop/loop.h"
#include "request/reader.h"
#include "request/response.h"

/*
 * Half-made connections: accepted sockets whose request is still being read.
 *
 *   accept ─▶ READING ─┬─ judged good ─▶ TAKEN over, with the bytes after its request
 *                │     └─ refused ─▶ response ─▶ REFUSED: reads on until the peer closes, 1 s
 *                └── 10 s, or the place is needed: closed
 *
 * There are ENTRIES_MAX places. A connection without a free place takes the place of the longest
 * waiting one, so silent connections lock no peer out. Peers on other devices can have all places
 * but ENTRIES_NEAR.
 */
struct entries;

#define ENTRIES_MAX  64
#define ENTRIES_NEAR 16

/* The time for sending a whole request. */
#define ENTRY_WAIT_MS 10000

struct entry_handler {
	/* Return whether the complete request is granted; else fill @ret_refusal, with constant
	 * texts. @is_near: the peer is on this device. */
	bool (*judge)(void *data, const struct http_reader *request, bool is_near,
		struct http_refusal *ret_refusal);

	/* Take over the socket of a granted request. @fd is non-blocking and close-on-exec; the
	 * @size bytes at @rest came after the request. */
	void (*take)(void *data, int fd, const struct http_reader *request, const char *rest,
		size_t size);
};

/* Create the places, which the caller frees. @handler is copied, @data is passed to it. Return 0 or
 * -ENOMEM. */
int entries_new(struct loop *loop, const struct http_limits *limits,
	const struct entry_handler *handler, void *data, struct entries **ret_entries);

/* Close all half-made connections and free @entries, which may be NULL. */
void entries_free(struct entries *entries);

/* Take over the new connection @fd, which is non-blocking, and begin to read its request. */
void entries_accept(struct entries *entries, int fd);

/* Return how many connections are half-made. */
unsigned int entries_count(const struct entries *entries);
