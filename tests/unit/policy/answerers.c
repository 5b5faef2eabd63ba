/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/answerers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct answerers answerers;

static int attach(const char *source, uint64_t now_ms, uint64_t until_ms)
{
	return answerers_attach(&answerers, source, strlen(source), now_ms, until_ms);
}

Test(answerers, end_each_at_a_time_of_its_own)
{
	cr_assert_eq(attach("a", 0, 10), 0);
	cr_assert_eq(attach("b", 0, 20), 0);
	cr_expect_eq(answerers_count(&answerers, 9), 2);
	cr_expect_eq(answerers_count(&answerers, 10), 1);
	cr_expect_eq(answerers_count(&answerers, 20), 0);
	answerers_deinit(&answerers);
}

Test(answerers, are_attached_again_and_detached_by_their_source)
{
	cr_assert_eq(attach("a", 0, 10), 0);
	cr_assert_eq(attach("", 0, 10), 0);
	cr_assert_eq(attach("a", 5, 30), 0);
	cr_expect_eq(answerers_count(&answerers, 20), 1);
	cr_assert_eq(attach("b", 20, 20), 0);
	cr_expect_eq(answerers_count(&answerers, 20), 1);
	cr_assert_eq(attach("a", 20, 20), 0);
	cr_expect_eq(answerers_count(&answerers, 20), 0);
	answerers_deinit(&answerers);
}

Test(answerers, are_bounded)
{
	char source[16];

	for (int i = 0; i < ANSWERERS_MAX; i++) {
		snprintf(source, sizeof(source), "%d", i);
		cr_assert_eq(attach(source, 0, i == 7 ? 5 : 10), 0);
	}
	cr_expect_eq(attach("more", 4, 10), ANSWERERS_E_FULL);
	cr_expect_eq(attach("0", 4, 10), 0);
	cr_expect_eq(attach("more", 5, 10), 0);
	answerers_deinit(&answerers);
}
