/* SPDX-License-Identifier: Apache-2.0 */
#include "util/share.h"

#include <criterion/criterion.h>
#include <stdint.h>

Test(share, is_half_of_what_others_leave)
{
	static const struct {
		size_t max, others, share;
	} cases[] = {
		{64, 0, 32},
		{64, 32, 16},
		{64, 60, 2},
		{64, 61, 1},
		{64, 62, 1},
		{64, 63, 1},
		{7, 0, 3},
		{2, 0, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(share_of(cases[i].max, cases[i].others), cases[i].share, "%zu of %zu",
			cases[i].others, cases[i].max);
}

Test(share, is_never_nothing)
{
	cr_expect_eq(share_of(0, 0), 1);
	cr_expect_eq(share_of(1, 0), 1);
	cr_expect_eq(share_of(64, 64), 1);
	cr_expect_eq(share_of(64, 65), 1, "others may have had more when a limit was changed");
	cr_expect_eq(share_of(64, SIZE_MAX), 1);
}

/* Let holders come one after the other, and take as much as they may. */
Test(share, leaves_a_place_for_each_newcomer_as_long_as_it_can)
{
	size_t taken = 0;
	unsigned int n_holders = 0;

	for (; taken < 256; n_holders++)
		taken += share_of(256, taken);
	cr_expect_eq(taken, 256);
	cr_expect_eq(n_holders, 9, "128, 64, …, 1 and 1");
}
