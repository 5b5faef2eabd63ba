/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/weight.h"

#include <criterion/criterion.h>

/* The judgement of a host by its processor time and its answers; runner_weight.c has what
 * follows. */

#define MS UINT64_C(1000000)

static void count_answers(struct weight *weight, unsigned int n)
{
	while (n-- > 0)
		weight_note_answer(weight);
}

Test(weight, of_a_host_that_runs_one_call_is_what_the_call_has_used)
{
	struct weight weight;

	weight_begin(&weight, 700 * MS, false);
	cr_expect_not(weight_look(&weight, 749 * MS));
	cr_expect(weight_look(&weight, 750 * MS));
}

Test(weight, of_a_host_that_answers_all_the_time_is_light)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	for (unsigned int i = 1; i <= 100; i++) {
		count_answers(&weight, 100);
		cr_expect_not(weight_look(&weight, i * 90 * MS));
	}
}

Test(weight, is_the_time_for_an_answer)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	count_answers(&weight, 18);
	cr_expect(weight_look(&weight, 95 * MS), "5 ms for each");
	count_answers(&weight, 19);
	cr_expect_not(weight_look(&weight, 190 * MS), "less");
}

Test(weight, counts_anew_after_each_judgement)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	count_answers(&weight, 1000);
	cr_expect_not(weight_look(&weight, 60 * MS));
	cr_expect_not(weight_look(&weight, 109 * MS));
	cr_expect(weight_look(&weight, 110 * MS));
}

Test(weight, is_found_though_a_host_has_little_of_the_processors)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	for (unsigned int i = 1; i < 50; i++)
		cr_expect_not(weight_look(&weight, i * MS));
	cr_expect(weight_look(&weight, 50 * MS));
}

Test(weight, of_loading_may_be_more)
{
	struct weight weight;

	weight_begin(&weight, 0, true);
	cr_expect_not(weight_look(&weight, 499 * MS));
	cr_expect(weight_look(&weight, 500 * MS));
}

Test(weight, is_at_rest_when_a_look_finds_little)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	weight_look(&weight, 30 * MS);
	cr_expect(weight_is_at_work(&weight));
	weight_look(&weight, 35 * MS);
	cr_expect_not(weight_is_at_work(&weight));
}

/* A thread begun by the call may have used nothing yet. */
Test(weight, is_not_at_rest_until_a_look_finds_no_answer)
{
	struct weight weight;

	weight_begin(&weight, 0, false);
	count_answers(&weight, 1);
	cr_expect_not(weight_look(&weight, 0));
	cr_expect(weight_is_at_work(&weight));
	cr_expect_not(weight_look(&weight, 0));
	cr_expect_not(weight_is_at_work(&weight));
}
