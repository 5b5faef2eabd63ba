/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/crashes.h"

#include <criterion/criterion.h>

Test(crashes, are_too_many_when_the_limit_is_reached_in_the_window)
{
	struct crashes crashes = {0};

	cr_expect_not(crashes_note(&crashes, 1000, 3, 100));
	cr_expect_not(crashes_note(&crashes, 1050, 3, 100));
	cr_expect(crashes_note(&crashes, 1100, 3, 100));
}

Test(crashes, are_not_too_many_when_they_are_far_apart)
{
	struct crashes crashes = {0};

	for (uint64_t i = 0; i < 1000; i++)
		cr_expect_not(crashes_note(&crashes, i * 51, 3, 100));
	cr_expect(crashes_note(&crashes, 999 * 51, 3, 100));
}

Test(crashes, are_never_too_many_without_a_limit)
{
	struct crashes crashes = {0};

	for (int i = 0; i < 1000; i++)
		cr_expect_not(crashes_note(&crashes, 5, 0, 100));
}

Test(crashes, one_may_be_too_many)
{
	struct crashes crashes = {0};

	cr_expect(crashes_note(&crashes, 5, 1, 0));
}

Test(crashes, more_than_are_remembered_count_as_those)
{
	struct crashes crashes = {0};

	for (int i = 1; i < CRASHES_MAX; i++)
		cr_expect_not(crashes_note(&crashes, 5, 1000000, 100));
	cr_expect(crashes_note(&crashes, 5, 1000000, 100));
}

Test(crashes, delay_the_next_start_more_and_more)
{
	static const uint64_t delays_ms[] = {
		0, 50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};
	struct crashes crashes = {0};

	for (size_t i = 0; i < sizeof(delays_ms) / sizeof(*delays_ms); i++)
		cr_expect_eq(crashes_next_delay_ms(&crashes), delays_ms[i], "%zu", i);
}

Test(crashes, are_forgotten_after_a_success_as_far_as_waiting_goes)
{
	struct crashes crashes = {0};

	crashes_note(&crashes, 5, 2, 100);
	crashes_next_delay_ms(&crashes);
	crashes_next_delay_ms(&crashes);
	crashes_note_success(&crashes);
	cr_expect_eq(crashes_next_delay_ms(&crashes), 0);
	cr_expect(crashes_note(&crashes, 6, 2, 100), "but they are counted");
}

Test(crashes, are_forgiven_whole)
{
	struct crashes crashes = {0};

	crashes_note(&crashes, 5, 2, 100);
	crashes_next_delay_ms(&crashes);
	crashes_forgive(&crashes);
	cr_expect_eq(crashes_next_delay_ms(&crashes), 0);
	cr_expect_not(crashes_note(&crashes, 6, 2, 100));
}
