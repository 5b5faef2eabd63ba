/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/account.h"

#include <stdlib.h>

#include "util/assert.h"

/* Shares of the cap, as divisors: 32 MiB, 4 MiB and 64 KiB of the default. */
#define HELD_SHARE     2
#define MARK_SHARE     16
#define LOW_MARK_SHARE 1024

struct account *account_new(struct account_book *book)
{
	struct account *account = calloc(1, sizeof(*account));

	if (account)
		*account = (struct account){.book = book, .references = 1};
	return account;
}

struct account *account_ref(struct account *account)
{
	if (account)
		account->references++;
	return account;
}

void account_unref(struct account *account)
{
	if (account && --account->references == 0)
		free(account);
}

size_t account_held_max(const struct account *account)
{
	size_t share = account->book->bytes_max / HELD_SHARE;
	size_t others = account->book->held - account->held;

	return others < share ? (share - others) / 2 : 0;
}

bool account_hold(struct account *account, size_t bytes)
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

void account_release(struct account *account, size_t bytes)
{
	if (!account)
		return;
	check(bytes <= account->held && bytes <= account->book->held);
	account->held -= bytes;
	account->book->held -= bytes;
}

void account_queue(struct account *account, size_t bytes)
{
	if (!account)
		return;
	account->queued += bytes;
	account->book->queued += bytes;
}

void account_unqueue(struct account *account, size_t bytes)
{
	if (!account)
		return;
	check(bytes <= account->queued && bytes <= account->book->queued);
	account->queued -= bytes;
	account->book->queued -= bytes;
}

size_t account_book_mark(const struct account_book *book)
{
	bool is_short = account_book_used(book) > book->bytes_max / 2;

	return book->bytes_max / (is_short ? LOW_MARK_SHARE : MARK_SHARE);
}

bool account_is_full(const struct account *account)
{
	return account->queued > account_book_mark(account->book);
}

bool account_is_eased(const struct account *account)
{
	return account->queued <= account_book_mark(account->book) / 2;
}
