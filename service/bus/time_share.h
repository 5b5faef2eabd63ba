/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/debt.h"

/*
 * The shares of peers in the time of the loop (util/debt.h). Only long work counts.
 *
 *   source     an eighth    `context.source` of one party
 *   party      a quarter    a connection; over HTTP a holder with all its connections
 *   all        a half
 *
 * A holder keeps its debt when a connection ends: the table has TIME_HOLDERS_MAX holders. A further
 * holder gets the entry with the smallest debt.
 */

/* Factors of debt_charge_plain(). */
#define TIME_FACTOR_SOURCE 8
#define TIME_FACTOR_PARTY  4
#define TIME_FACTOR_ALL    2

/* The credit of a party and of all: one source alone does not use it up. */
#define TIME_CREDIT_NS (UINT64_C(1000) * 1000 * 1000)

/* Sources of a party with a debt at a time. Further sources share the debt of the party. */
#define TIME_SOURCES_MAX 8

/* Holders with a debt at a time. */
#define TIME_HOLDERS_MAX 64

/* A source, by the hash of its name. */
struct time_source {
	uint64_t key;
	struct debt debt;
};

/* The debts of one party. */
struct time_share {
	struct debt debt;
	struct time_source sources[TIME_SOURCES_MAX];
};

/* The debts of a holder, by the hash of its name; 0: a free entry. */
struct time_holder {
	uint64_t holder;
	struct time_share share;
};

struct time_shares {
	struct debt debt; /* common to all parties */
	struct time_holder holders[TIME_HOLDERS_MAX];
};

/* Return the index of the source @key of @share; else of the source with the smallest debt. */
static inline unsigned int time_share_find(const struct time_share *share, uint64_t key)
{
	unsigned int least = 0;

	for (unsigned int i = 0; i < TIME_SOURCES_MAX; i++) {
		if (share->sources[i].key == key)
			return i;
		if (share->sources[i].debt.paid_ns < share->sources[least].debt.paid_ns)
			least = i;
	}
	return least;
}

/* Charge the source @key of @share with work until @now_ns. */
static inline void time_share_charge(
	struct time_share *share, uint64_t key, uint64_t now_ns, uint64_t price_ns)
{
	struct time_source *source = &share->sources[time_share_find(share, key)];

	if (source->key != key)
		*source = (struct time_source){.key = key};
	debt_charge_plain(&source->debt, now_ns, price_ns, TIME_FACTOR_SOURCE);
	debt_charge_plain(&share->debt, now_ns, price_ns, TIME_FACTOR_PARTY);
}

/* Return the time until long work is done for the source @key of @share again; 0: it is now. */
static inline uint64_t time_share_wait_ns(
	const struct time_share *share, uint64_t key, uint64_t now_ns)
{
	const struct time_source *source = &share->sources[time_share_find(share, key)];
	uint64_t wait_ns = debt_wait_ns(&share->debt, now_ns, TIME_CREDIT_NS);
	uint64_t source_ns = 0;

	if (source->key == key)
		source_ns = debt_wait_ns(&source->debt, now_ns, DEBT_CREDIT_NS);
	return wait_ns > source_ns ? wait_ns : source_ns;
}

/* Return the debts of @holder, or NULL: it has none. */
static inline const struct time_share *time_shares_find(
	const struct time_shares *shares, uint64_t holder)
{
	for (unsigned int i = 0; i < TIME_HOLDERS_MAX; i++)
		if (shares->holders[i].holder == holder)
			return &shares->holders[i].share;
	return NULL;
}

/* Return the debts of @holder, which takes the entry with the smallest debt if it has none. */
static inline struct time_share *time_shares_take(struct time_shares *shares, uint64_t holder)
{
	struct time_holder *least = &shares->holders[0];

	for (unsigned int i = 0; i < TIME_HOLDERS_MAX; i++) {
		struct time_holder *entry = &shares->holders[i];

		if (entry->holder == holder)
			return &entry->share;
		if (entry->share.debt.paid_ns < least->share.debt.paid_ns)
			least = entry;
	}
	*least = (struct time_holder){.holder = holder};
	return &least->share;
}
