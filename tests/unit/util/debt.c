/* SPDX-License-Identifier: Apache-2.0 */
#include "util/debt.h"

#include <criterion/criterion.h>

#define MS UINT64_C(1000000)

/* Ask for work of @spent_ns as often as it is granted, for @total_ns. Return the time spent. */
static uint64_t work(uint64_t spent_ns, unsigned int factor, uint64_t total_ns)
{
	struct debt debt = {0};
	uint64_t spent = 0;

	for (uint64_t now = MS; now < total_ns; now += MS) {
		if (debt_wait_ns(&debt, now, DEBT_CREDIT_NS) > 0)
			continue;
		now += spent_ns;
		spent += spent_ns;
		debt_charge(&debt, now, spent_ns, factor);
	}
	return spent;
}

Test(debt, leaves_others_their_share)
{
	uint64_t total = 60000 * MS;

	cr_expect_leq(work(2 * MS, 4, total), total / 4 + 100 * MS);
	cr_expect_leq(work(10 * MS, 4, total), total / 4 + 100 * MS);
	cr_expect_leq(work(10 * MS, 8, total), total / 8 + 100 * MS);
	cr_expect_geq(work(10 * MS, 4, total), total / 5, "but it gets its own");
}

Test(debt, is_dearer_for_long_work)
{
	cr_expect_eq(debt_price(10 * MS), 10 * MS);
	cr_expect_eq(debt_price(20 * MS), 90 * MS);
	cr_expect_leq(work(50 * MS, 8, 60000 * MS), 60000 * MS / 40);
}

Test(debt, is_not_for_short_work)
{
	struct debt debt = {0};

	for (int i = 0; i < 100000; i++)
		debt_charge(&debt, MS, DEBT_FREE_NS, 8);
	cr_expect_eq(debt_wait_ns(&debt, MS, DEBT_CREDIT_NS), 0);
	cr_expect_not(debt_is_due(DEBT_FREE_NS));
	cr_expect(debt_is_due(DEBT_FREE_NS + 1));
}

Test(debt, has_some_credit)
{
	struct debt debt = {0};

	debt_charge(&debt, MS, 10 * MS, 8);
	cr_expect_eq(debt_wait_ns(&debt, MS, DEBT_CREDIT_NS), 0);
	debt_charge(&debt, MS, 10 * MS, 8);
	cr_expect_eq(debt_wait_ns(&debt, MS, DEBT_CREDIT_NS), 60 * MS);
	cr_expect_eq(debt_wait_ns(&debt, 61 * MS, DEBT_CREDIT_NS), 0);
}
