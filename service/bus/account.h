/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bus/time_share.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/siphash.h"

/*
 * Accounts of the memory held for peers. There is a book with a cap (limits.peer_bytes), and an
 * account for each peer: a client of the embedded bus, or all clients of somebody else's bus
 * together.
 *
 *   frame from a peer,        ──▶ queued   from its first queue until the last queue
 *   message caused by it                   has written it
 *   waiting request: call,    ──▶ held     from its acceptance until its response
 *   reload, first catalogue
 *   long message              ──▶ reading  while its tokens are in memory
 *
 * The parts of the cap are shares of it:
 *
 *   held      half of the cap for all accounts together. One account may have half of what the
 *             others leave of it, so a newcomer always finds room.
 *   queued    a peer with more than a mark queued is not read; the mark falls with the rest of the
 *             cap, so the busiest senders wait first. Over the cap the client that reads least is
 *             disconnected (bus/embedded).
 *   gathered  unfinished frames: three eighths of the cap (bus/intake)
 *   reading   the tokens of a long message, up to half of the cap: others make room for them
 *
 * Every frame is charged more than once on its way, so the sums are kept by inline functions.
 *
 * An account also has a share in the time of the loop (bus/time_share.h): a share of its own, or,
 * over HTTP, a share in common with all connections of the same holder.
 */

/* Shares of the cap, as divisors: 32 MiB, 4 MiB and 64 KiB of the default; of what is left of it;
 * and again 32 MiB. */
#define ACCOUNT_HELD_SHARE    2
#define ACCOUNT_MARK_SHARE    16
#define ACCOUNT_LOW_SHARE     1024
#define ACCOUNT_LEFT_SHARE    8
#define ACCOUNT_READING_SHARE 2

struct account_book {
	size_t bytes_max;
	size_t queued; /* sums over all accounts */
	size_t held;
	size_t reading;         /* tokens of long messages */
	const size_t *gathered; /* borrowed: unfinished frames, or NULL */
	uint64_t n_accounts;    /* made so far */
	struct time_shares shares;
};

struct account {
	struct account_book *book; /* borrowed */
	unsigned int references;
	uint64_t number; /* unique in the book for ever; not 0 */
	size_t queued;
	size_t held;
	uint64_t n_refused; /* requests beyond a limit of their caller */
	uint64_t holder;    /* hash of what the peer proves: address, user or token; 0: nothing */
	bool is_closed;     /* the connection of the peer has ended */
	uint64_t debtor;    /* hash of the holder that owes the time; 0: this account */
	struct time_share share;
};

/* Create an account with one reference. @book outlives it. Return NULL without memory. */
static inline struct account *account_new(struct account_book *book)
{
	struct account *account = calloc(1, sizeof(*account));

	if (account)
		*account = (struct account){
			.book = book, .references = 1, .number = ++book->n_accounts};
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

/* Return the hash of the name @holder. */
static inline uint64_t account_hash_holder(const char *holder)
{
	struct siphash_key key = siphash_process_key();
	struct siphash hash;

	siphash_init(&hash, &key);
	siphash_bytes(&hash, holder, strlen(holder));
	return siphash_finish(&hash);
}

/* Note that the peer of @account proves to be @holder: `http:kitchen`, `uid:1000`, or the network
 * of its address. */
static inline void account_set_holder(struct account *account, const char *holder)
{
	account->holder = account_hash_holder(holder);
}

/* From now on let @holder owe the time that @account takes: the debt outlives the connection. */
static inline void account_set_debtor(struct account *account, const char *holder)
{
	account->debtor = account_hash_holder(holder);
}

/* Drop the reference of the peer of @account, which may be NULL: its connection has ended. */
static inline void account_close(struct account *account)
{
	if (account)
		account->is_closed = true;
	account_unref(account);
}

CLEANUP_DEFINE(account, struct account *, account_unref)

/* Return the used bytes of @book. */
static inline size_t account_book_used(const struct account_book *book)
{
	return book->queued + book->held + (book->gathered ? *book->gathered : 0);
}

/* Return the used bytes of @book, with the tokens of long messages. */
static inline size_t account_book_taken(const struct account_book *book)
{
	return account_book_used(book) + book->reading;
}

/* Return whether more than half of the cap is used. */
static inline bool account_book_is_short(const struct account_book *book)
{
	return account_book_used(book) > book->bytes_max / 2;
}

/* Return the number of queued bytes above which a peer is not read. */
static inline size_t account_book_mark(const struct account_book *book)
{
	size_t used = account_book_used(book);
	size_t mark = used < book->bytes_max ? (book->bytes_max - used) / ACCOUNT_LEFT_SHARE : 0;
	size_t least = book->bytes_max / ACCOUNT_LOW_SHARE;
	size_t most = book->bytes_max / ACCOUNT_MARK_SHARE;

	if (mark > most)
		return most;
	return mark > least ? mark : least;
}

/* Return the least number of bytes for a client to read in its time while more waits. @is_short:
 * the time is short. */
static inline size_t account_book_pace(const struct account_book *book, bool is_short)
{
	return book->bytes_max / (is_short ? ACCOUNT_LOW_SHARE : ACCOUNT_MARK_SHARE);
}

/* Return the share of @account in the bytes of waiting requests. */
static inline size_t account_held_max(const struct account *account)
{
	size_t share = account->book->bytes_max / ACCOUNT_HELD_SHARE;
	size_t others = account->book->held - account->held;

	return others < share ? (share - others) / 2 : 0;
}

/* Return how many more bytes of waiting requests @account may be charged with. */
static inline size_t account_room(const struct account *account)
{
	size_t most = account_held_max(account);

	return account->held < most ? most - account->held : 0;
}

/* Return the most bytes of a single waiting request. */
static inline size_t account_book_held_max(const struct account_book *book)
{
	return book->bytes_max / ACCOUNT_HELD_SHARE / 2;
}

/* Charge @account, which may be NULL, with @bytes of a waiting request. Return false, and charge
 * nothing, when they exceed its share. */
static inline bool account_hold(struct account *account, size_t bytes)
{
	if (!account)
		return true;
	if (bytes > account_room(account))
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

/* Return whether too much of @account is queued for its peer to be read. */
static inline bool account_is_full(const struct account *account)
{
	return account->queued > account_book_mark(account->book);
}

/* Return whether an unread peer may be read again. */
static inline bool account_is_eased(const struct account *account)
{
	return account->queued <= account_book_mark(account->book) / 2;
}

/* Note a request of @account, which may be NULL, beyond a limit of its caller. */
static inline void account_note_refused(struct account *account)
{
	if (account)
		account->n_refused++;
}

/* Charge the source @key of @account with work until @now_ns. @price_ns: the time beside the loop,
 * or the debt_price() of the time in the loop. */
static inline void account_charge_time(
	struct account *account, uint64_t key, uint64_t now_ns, uint64_t price_ns)
{
	struct time_shares *shares = &account->book->shares;
	struct time_share *share =
		account->debtor ? time_shares_take(shares, account->debtor) : &account->share;

	time_share_charge(share, key, now_ns, price_ns);
	debt_charge_plain(&shares->debt, now_ns, price_ns, TIME_FACTOR_ALL);
}

/* Return the time until long work is done for the source @key of @account again; 0: it is now. */
static inline uint64_t account_wait_ns(const struct account *account, uint64_t key, uint64_t now_ns)
{
	const struct time_shares *shares = &account->book->shares;
	const struct time_share *share =
		account->debtor ? time_shares_find(shares, account->debtor) : &account->share;
	uint64_t all_ns = debt_wait_ns(&shares->debt, now_ns, TIME_CREDIT_NS);
	uint64_t wait_ns = share ? time_share_wait_ns(share, key, now_ns) : 0;

	return wait_ns > all_ns ? wait_ns : all_ns;
}
