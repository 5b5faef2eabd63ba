/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/answerers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct answerers answerers;

static int attach_for(uint64_t client, const char *source, uint64_t until_ms)
{
	return answerers_attach(&answerers, client, source, strlen(source), 0, until_ms);
}

static int attach(const char *source, uint64_t now_ms, uint64_t until_ms)
{
	return answerers_attach(&answerers, 1, source, strlen(source), now_ms, until_ms);
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

Test(answerers, are_detached_by_their_own_client)
{
	cr_assert_eq(attach_for(1, "a", 10), 0);
	cr_assert_eq(attach_for(2, "a", 10), 0);
	cr_assert_eq(attach_for(2, "a", 0), 0);
	cr_expect_eq(answerers_count(&answerers, 5), 1);
	answerers_leave(&answerers, 2);
	cr_expect_eq(answerers_count(&answerers, 5), 1);
	answerers_leave(&answerers, 1);
	cr_expect_eq(answerers_count(&answerers, 5), 0);
	answerers_deinit(&answerers);
}

Test(answerers, of_a_client_leave_half_of_the_places_to_others)
{
	char source[16];

	for (int i = 0; i < 2 * ANSWERERS_MAX; i++) {
		snprintf(source, sizeof(source), "%d", i);
		cr_assert_eq(attach_for(1, source, i == 7 ? 5 : 10), 0);
	}
	cr_expect_eq(answerers_count(&answerers, 4), ANSWERERS_MAX / 2);
	cr_expect_eq(answerers_count(&answerers, 5), ANSWERERS_MAX / 2,
		"the one that ends first has left");
	for (uint64_t client = 2; client < 8; client++)
		for (int i = 0; i < ANSWERERS_MAX; i++) {
			snprintf(source, sizeof(source), "%d", i);
			cr_expect_eq(attach_for(client, source, 10), 0);
		}
	cr_expect_eq(answerers.n, ANSWERERS_MAX);
	cr_expect_eq(attach_for(9, "more", 10), ANSWERERS_E_FULL);
	cr_expect_eq(attach_for(1, "more", 10), 0);
	answerers_deinit(&answerers);
}
