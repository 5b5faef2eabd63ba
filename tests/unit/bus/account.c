/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/account.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

#include "util/clock.h"

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
	cr_expect_not(account_is_full(small), "an eighth of the 22 MiB that are left");
	account_queue(large, 8 * MIB);
	cr_expect(account_is_full(small), "an eighth of 14 MiB");
	account_queue(large, 40 * MIB);
	account_unqueue(small, 2 * MIB - 1000);
	cr_expect_not(account_is_full(small), "who has little queued is read in any case");
	account_unqueue(small, 1000);
	account_unqueue(large, 88 * MIB);
	cr_expect_eq(account_book_used(&book), 0);
	account_unref(small);
	account_unref(large);
}

Test(account, leaves_room_to_those_who_come_later)
{
	struct account_book book = {.bytes_max = 64 * MIB};
	struct account *accounts[40];

	for (size_t i = 0; i < 40; i++) {
		accounts[i] = account_new(&book);
		cr_assert(accounts[i]);
		cr_expect_not(account_is_full(accounts[i]), "%zu", i);
		while (!account_is_full(accounts[i]))
			account_queue(accounts[i], 1000);
	}
	cr_expect_lt(account_book_used(&book), 64 * MIB);
	for (size_t i = 0; i < 40; i++) {
		account_unqueue(accounts[i], accounts[i]->queued);
		account_unref(accounts[i]);
	}
}

/* Charge the source @key with @n checks of 10 ms. */
static void check_long(struct account *account, uint64_t key, int n)
{
	for (int i = 0; i < n; i++)
		account_charge_time(account, key, NS_PER_MS, 10 * NS_PER_MS);
}

/* Return the entry of the source @key of @account, or the entry that it would take. */
static const struct time_source *source_of(const struct account *account, uint64_t key)
{
	return &account->share.sources[time_share_find(&account->share, key)];
}

Test(account, lets_a_source_wait_before_others_do)
{
	struct account_book book = {.bytes_max = MIB};
	struct account *account = account_new(&book);
	struct account *other = account_new(&book);

	check_long(account, 1, 2);
	cr_expect_eq(account_wait_ns(account, 1, NS_PER_MS), 60 * NS_PER_MS);
	cr_expect_eq(account_wait_ns(account, 2, NS_PER_MS), 0, "the account owes 80 ms");
	check_long(account, 2, 24);
	cr_expect_eq(account_wait_ns(account, 3, NS_PER_MS), 40 * NS_PER_MS, "now 1040 ms");
	cr_expect_eq(account_wait_ns(other, 1, NS_PER_MS), 0, "all owe 520 ms");
	check_long(account, 3, 25);
	cr_expect_eq(account_wait_ns(other, 1, NS_PER_MS), 20 * NS_PER_MS, "all owe 1020 ms");
	cr_expect_eq(account_wait_ns(other, 1, 21 * NS_PER_MS), 0);
	account_unref(account);
	account_unref(other);
}

/* A peer that uses ever new sources pays with all of its connection. */
Test(account, knows_a_few_sources)
{
	struct account_book book = {.bytes_max = MIB};
	struct account *account = account_new(&book);

	for (uint64_t key = 1; key <= TIME_SOURCES_MAX; key++)
		check_long(account, key, (int)key + 1);
	check_long(account, 100, 1);
	cr_expect_eq(source_of(account, 100)->key, 100);
	cr_expect_eq(source_of(account, 2)->key, 2);
	cr_expect_neq(source_of(account, 1)->key, 1);
	cr_expect_eq(
		account_wait_ns(account, 1, NS_PER_MS), account_wait_ns(account, 99, NS_PER_MS));
	cr_expect_gt(account_wait_ns(account, 1, NS_PER_MS), 0, "as the account");
	account_unref(account);
}

/* Return a new account of @book for a connection of @holder. */
static struct account *account_of(struct account_book *book, const char *holder)
{
	struct account *account = account_new(book);

	cr_assert(account);
	account_set_debtor(account, holder);
	return account;
}

Test(account, leaves_the_debt_of_a_holder_to_its_next_connection)
{
	struct account_book book = {.bytes_max = MIB};
	struct account *first = account_of(&book, "http:kitchen");
	struct account *next;
	struct account *other;

	cr_expect_eq(account_wait_ns(first, 1, NS_PER_MS), 0);
	check_long(first, 1, 2);
	account_unref(first);
	next = account_of(&book, "http:kitchen");
	other = account_of(&book, "http:garage");
	cr_expect_eq(account_wait_ns(next, 1, NS_PER_MS), 60 * NS_PER_MS);
	cr_expect_eq(account_wait_ns(next, 2, NS_PER_MS), 0, "the holder owes 80 ms");
	cr_expect_eq(account_wait_ns(other, 1, NS_PER_MS), 0);
	account_unref(next);
	account_unref(other);
}

/* Charge a new connection of the holder @number with @n checks. */
static void check_long_for(struct account_book *book, unsigned int number, int n)
{
	struct account *account;
	char name[32];

	snprintf(name, sizeof(name), "http:%u", number);
	account = account_of(book, name);
	check_long(account, 1, n);
	account_unref(account);
	book->shares.debt.paid_ns = 0; /* all together owe nothing here */
}

Test(account, forgets_the_holder_that_owes_least)
{
	struct account_book book = {.bytes_max = MIB};
	struct account *least = account_of(&book, "http:0");
	struct account *most = account_of(&book, "http:1");

	for (unsigned int i = 1; i < TIME_HOLDERS_MAX; i++)
		check_long_for(&book, i, 3);
	check_long_for(&book, 0, 2);
	cr_expect_gt(account_wait_ns(least, 1, NS_PER_MS), 0);
	check_long_for(&book, TIME_HOLDERS_MAX, 1);
	cr_expect_eq(account_wait_ns(least, 1, NS_PER_MS), 0);
	cr_expect_gt(account_wait_ns(most, 1, NS_PER_MS), 0);
	account_unref(least);
	account_unref(most);
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

Test(account, charges_itself_and_its_source_with_the_time)
{
	struct account_book book = {.bytes_max = 64 * MIB};
	struct account *account = account_new(&book);
	const uint64_t ms = 1000000;

	account_charge_time(account, 7, 1000 * ms, 5 * ms);
	cr_expect_eq(account->share.debt.paid_ns, 1020 * ms, "the account, four times as much");
	cr_expect_eq(
		source_of(account, 7)->debt.paid_ns, 1040 * ms, "the source, eight times as much");
	account_unref(account);
}
