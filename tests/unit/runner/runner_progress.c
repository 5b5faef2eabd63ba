/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "calls.h"
#include "util/clock.h"

/* Hosts that report the progress of their calls too often. */

static void set_up(void)
{
	calls_set_up_with(TEST_TOOLBOX_DIR "/speak.json");
}

TestSuite(runner_progress, .init = set_up, .fini = calls_tear_down, .timeout = 300);

Test(runner_progress, is_reported_at_a_limited_rate)
{
	struct call *call;

	calls_start();
	call = calls_submit("report", "{\"id\":1}", 1000, NULL);
	calls_wait(1);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	cr_expect_gt(calls.n_progress, 0);
	cr_expect_lt(calls.n_progress, 2500, "%u", calls.n_progress);
}

Test(runner_progress, begins_a_deadline_anew_up_to_the_time_that_it_has_in_all)
{
	uint64_t began_ms = clock_now_ms();
	struct call *call;

	calls_start();
	calls.most_ms = 1500;
	call = calls_submit("report", "{\"id\":1}", 300, NULL);
	calls_wait(1);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	cr_expect_geq(clock_now_ms() - began_ms, 1500);
}

Test(runner_progress, never_makes_a_deadline_shorter)
{
	uint64_t began_ms = clock_now_ms();

	calls_start();
	calls.most_ms = 1;
	calls_submit("report", "{\"id\":1}", 300, NULL);
	calls_wait(1);
	cr_expect_geq(clock_now_ms() - began_ms, 300);
}
