/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "util/assert.h"
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
 *
 * Every frame is charged more than once on its way, so the sums are kept by inline functions.
 */

/* Shares of the cap, as divisors: 32 MiB, 4 MiB and 64 KiB of the default. */
#define ACCOUNT_HELD_SHARE 2
#define ACCOUNT_MARK_SHARE 16
#define ACCOUNT_LOW_SHARE  1024

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
static inline struct account *account_new(struct account_book *book)
{
	struct account *account = calloc(1, sizeof(*account));

	if (account)
		*account = (struct account){.book = book, .references = 1};
	return account;
}

/* Take a reference. @account may be NULL. */
static inline struct account *account_ref(struct account *account)
{
	if (account)
		account->references++;
	return account;
}

/* Drop a reference; the last one frees @account, which may be NULL. */
static inline void account_unref(struct account *account)
{
	if (account && --account->references == 0)
		free(account);
}

CLEANUP_DEFINE(account, struct account *, account_unref)

/* Return the bytes of @book that are used. */
static inline size_t account_book_used(const struct account_book *book)
{
	return book->queued + book->held + (book->gathered ? *book->gathered : 0);
}

/* Return whether more than half of the cap is used. */
static inline bool account_book_is_short(const struct account_book *book)
{
	return account_book_used(book) > book->bytes_max / 2;
}

/* Return the bytes that may be queued before a peer is not read. */
static inline size_t account_book_mark(const struct account_book *book)
{
	return book->bytes_max /
	       (account_book_is_short(book) ? ACCOUNT_LOW_SHARE : ACCOUNT_MARK_SHARE);
}

/* Return the share of @account in the bytes of requests that wait. */
static inline size_t account_held_max(const struct account *account)
{
	size_t share = account->book->bytes_max / ACCOUNT_HELD_SHARE;
	size_t others = account->book->held - account->held;

	return others < share ? (share - others) / 2 : 0;
}

/* Charge @account, which may be NULL, with @bytes of a request that waits. Return false, and charge
 * nothing, when they exceed its share. */
static inline bool account_hold(struct account *account, size_t bytes)
{
	size_t most;

	if (!account)
		return true;
	most = account_held_max(account);
	if (account->held > most || bytes > most - account->held)
		return false;
	account->held += bytes;
	account->book->held += bytes;
	return true;
}

/* Take back @bytes of account_hold(). */
static inline void account_release(struct account *account, size_t bytes)
{
	if (!account)
		return;
	check(bytes <= account->held && bytes <= account->book->held);
	account->held -= bytes;
	account->book->held -= bytes;
}

/* Charge @account, which may be NULL, with @bytes of a queued frame. */
static inline void account_queue(struct account *account, size_t bytes)
{
	if (!account)
		return;
	account->queued += bytes;
	account->book->queued += bytes;
}

/* Take back @bytes of account_queue(). */
static inline void account_unqueue(struct account *account, size_t bytes)
{
	if (!account)
		return;
	check(bytes <= account->queued && bytes <= account->book->queued);
	account->queued -= bytes;
	account->book->queued -= bytes;
}

/* Return whether so much of @account is queued that its peer must not be read. */
static inline bool account_is_full(const struct account *account)
{
	return account->queued > account_book_mark(account->book);
}

/* Return whether a peer that was not read may be read again. */
static inline bool account_is_eased(const struct account *account)
{
	return account->queued <= account_book_mark(account->book) / 2;
}
