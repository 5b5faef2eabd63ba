/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/cleanup.h"

/*
 * Accounts of the memory that peers make us hold. There is one book with one cap (limits.peer_bytes),
 * and one account for each peer: a client of the embedded bus, or all clients of somebody else's
 * bus together.
 *
 *   frame that a peer sent,   ──▶ queued   from the first queue that has it until the last one
 *   message that it caused                 has written it
 *   request that waits: call, ──▶ held     from its acceptance until its response
 *   reload, first catalogue
 *
 * The parts of the cap are shares of it:
 *
 *   held      half of the cap for all accounts together. One account may have half of what the
 *             others leave of it, so a newcomer always finds room.
 *   queued    a peer that has more than a mark queued is not read; the mark falls when half of the
 *             cap is used. Over the cap the client that reads least is disconnected (bus/embedded).
 *   gathered  unfinished frames: three eighths of the cap (bus/intake)
 */
struct account_book {
	size_t bytes_max;
	size_t queued; /* sums over all accounts */
	size_t held;
	const size_t *gathered; /* borrowed: unfinished frames, or NULL */
};

struct account {
	struct account_book *book; /* borrowed */
	unsigned int references;
	size_t queued;
	size_t held;
};

/* Create an account with one reference. @book outlives it. Return NULL without memory. */
struct account *account_new(struct account_book *book);

/* Take a reference. @account may be NULL. */
struct account *account_ref(struct account *account);

/* Drop a reference; the last one frees @account, which may be NULL. */
void account_unref(struct account *account);

CLEANUP_DEFINE(account, struct account *, account_unref)

/* Charge @account, which may be NULL, with @bytes of a request that waits. Return false, and charge
 * nothing, when they exceed its share. */
bool account_hold(struct account *account, size_t bytes);

/* Return the share of @account in the bytes of requests that wait. */
size_t account_held_max(const struct account *account);

/* Take back @bytes of account_hold(). */
void account_release(struct account *account, size_t bytes);

/* Charge @account, which may be NULL, with @bytes of a queued frame, and take them back. */
void account_queue(struct account *account, size_t bytes);
void account_unqueue(struct account *account, size_t bytes);

/* Return whether so much of @account is queued that its peer must not be read. */
bool account_is_full(const struct account *account);

/* Return whether a peer that was not read may be read again. */
bool account_is_eased(const struct account *account);

/* Return the bytes of @book that are used. */
static inline size_t account_book_used(const struct account_book *book)
{
	return book->queued + book->held + (book->gathered ? *book->gathered : 0);
}

/* Return the bytes that may be queued before a peer is not read. */
size_t account_book_mark(const struct account_book *book);
