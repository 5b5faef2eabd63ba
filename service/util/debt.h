/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The share of one party in the time of the loop. Work of up to DEBT_FREE_NS is free. Longer work
 * is paid with time: its party owes a multiple of the time, and gets no more time while the debt
 * exceeds the credit.
 *
 *          work          owed                      nothing owed
 *   ──────█████───────────────────────────────────────────────▶ time
 *         price × factor ◀──────────────────────────▶│ paid_ns
 *
 * With a factor of 4, a party has at most a quarter of the loop. Work beyond DEBT_LONG_NS at once
 * has a higher price: others notice it as a delay.
 */
struct debt {
	uint64_t paid_ns; /* when everything is paid, by clock_now_ns() */
};

#define DEBT_FREE_NS    (UINT64_C(1) * 1000 * 1000)
#define DEBT_LONG_NS    (UINT64_C(10) * 1000 * 1000)
#define DEBT_LONG_PRICE 8
#define DEBT_CREDIT_NS  (UINT64_C(100) * 1000 * 1000) /* for one party alone */

/* Return whether work of @spent_ns has a price. */
static inline bool debt_is_due(uint64_t spent_ns)
{
	return spent_ns > DEBT_FREE_NS;
}

/* Return the price of work of @spent_ns. */
static inline uint64_t debt_price(uint64_t spent_ns)
{
	if (!debt_is_due(spent_ns))
		return 0;
	if (spent_ns <= DEBT_LONG_NS)
		return spent_ns;
	return DEBT_LONG_NS + (spent_ns - DEBT_LONG_NS) * DEBT_LONG_PRICE;
}

/* Charge @debt with a short piece of work at its plain price: many of them are one party's. */
static inline void debt_charge_plain(
	struct debt *debt, uint64_t now_ns, uint64_t spent_ns, unsigned int factor)
{
	uint64_t from_ns = debt->paid_ns > now_ns ? debt->paid_ns : now_ns;

	debt->paid_ns = from_ns + spent_ns * factor;
}

/* Charge @debt with work of @spent_ns until @now_ns. */
static inline void debt_charge(
	struct debt *debt, uint64_t now_ns, uint64_t spent_ns, unsigned int factor)
{
	debt_charge_plain(debt, now_ns, debt_price(spent_ns), factor);
}

/* Return the time until work is done for the party again; 0: it is now. */
static inline uint64_t debt_wait_ns(const struct debt *debt, uint64_t now_ns, uint64_t credit_ns)
{
	uint64_t free_ns = now_ns + credit_ns;

	return debt->paid_ns > free_ns ? debt->paid_ns - free_ns : 0;
}
