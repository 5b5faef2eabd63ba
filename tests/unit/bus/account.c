/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/account.h"

#include <criterion/criterion.h>
#include <stdint.h>

#define MIB ((size_t)1 << 20)

Test(account, may_hold_half_of_what_others_leave)
{
	struct account_book book = {.bytes_max = 64 * MIB};
	struct account *accounts[8];

	for (size_t i = 0; i < 8; i++) {
		accounts[i] = account_new(&book);
		cr_assert(accounts[i]);
		cr_expect(account_hold(accounts[i], (16 * MIB) >> i), "%zu", i);
		cr_expect_not(account_hold(accounts[i], 1), "%zu", i);
	}
	cr_expect_lt(book.held, 32 * MIB);
	for (size_t i = 0; i < 8; i++) {
		account_release(accounts[i], (16 * MIB) >> i);
		account_unref(accounts[i]);
	}
	cr_expect_eq(book.held, 0);
}

Test(account, is_full_at_a_mark_that_falls_when_the_book_fills)
{
	struct account_book book = {.bytes_max = 64 * MIB};
	struct account *small = account_new(&book);
	struct account *large = account_new(&book);

	account_queue(small, 4 * MIB);
	cr_expect_not(account_is_full(small));
	cr_expect_not(account_is_eased(small));
	account_queue(small, 1);
	cr_expect(account_is_full(small));
	account_unqueue(small, 2 * MIB + 1);
	cr_expect(account_is_eased(small));
	account_queue(large, 40 * MIB);
	cr_expect(account_is_full(small), "half of the book is used");
	account_unqueue(small, 2 * MIB - 1000);
	cr_expect_not(account_is_full(small), "who has little queued is read in any case");
	account_unqueue(small, 1000);
	account_unqueue(large, 40 * MIB);
	cr_expect_eq(account_book_used(&book), 0);
	account_unref(small);
	account_unref(large);
}

Test(account, can_be_none)
{
	cr_expect(account_hold(NULL, SIZE_MAX));
	account_release(NULL, SIZE_MAX);
	account_queue(NULL, 1);
	account_unqueue(NULL, 1);
	cr_expect_null(account_ref(NULL));
	account_unref(NULL);
}
