/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "calls.h"
#include "util/clock.h"

/* Hosts that are no longer needed: they end in order, and no call waits for them. */

#define LONG_MS 20000

TestSuite(runner_reaper, .init = calls_set_up, .fini = calls_tear_down, .timeout = 300);

static void expect_result(const struct call *call, const char *text)
{
	cr_expect_eq(call->outcome, CALL_RESULT, "%d: %s", call->outcome, call->text);
	cr_expect_str_eq(call->text, text);
}

static void wait_until_they_have_left(void)
{
	for (int i = 0; !runner_has_reaped_all(calls.runner); i++) {
		cr_assert_lt(i, LONG_MS, "a host is still there");
		loop_run(calls.loop, 1);
	}
}

Test(runner_reaper, takes_what_goes_wrong_at_the_end_for_no_crash)
{
	calls.options.idle_s = 0;
	calls.options.crash_limit = 1;
	calls_start();
	expect_result(calls_run("spoil_the_end", "{\"hangs\":false}"), "{\"result\":0}");
	calls_wait_for_state(RUNNER_IDLE);
	wait_until_they_have_left();
	cr_expect_eq(runner_state(calls.runner), RUNNER_IDLE);
	cr_expect_null(runner_reason(calls.runner));
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
}

Test(runner_reaper, does_not_let_a_call_wait_for_a_host_that_leaves)
{
	uint64_t start_ms;

	calls.options.idle_s = 0;
	calls_start();
	calls_run("spoil_the_end", "{\"hangs\":true}");
	start_ms = clock_now_ms();
	calls_wait_for_state(RUNNER_IDLE);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
	cr_expect(!runner_has_reaped_all(calls.runner) ||
		  clock_now_ms() - start_ms >= HOST_DISMISS_MS);
	wait_until_they_have_left();
}

Test(runner_reaper, dismisses_only_hosts_that_have_nothing_to_do)
{
	calls_start();
	calls_submit("hang", "{}", 200, NULL);
	calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	calls_wait_for_state(RUNNER_READY);
	runner_dismiss_idle(calls.runner);
	cr_expect(runner_has_reaped_all(calls.runner));
	calls_wait(2);
	expect_result(&calls.calls[1], "{\"result\":2}");
	runner_dismiss_idle(calls.runner);
	cr_expect_eq(runner_state(calls.runner), RUNNER_IDLE);
	cr_expect_not(runner_has_reaped_all(calls.runner));
}

Test(runner_reaper, that_is_retired_is_drained_when_its_hosts_have_left)
{
	uint64_t start_ms;

	calls_start();
	calls_run("spoil_the_end", "{\"hangs\":true}");
	start_ms = clock_now_ms();
	runner_retire(calls.runner);
	cr_assert_eq(loop_run(calls.loop, LONG_MS), 0);
	cr_expect_eq(calls.n_drains, 1);
	cr_expect_geq(clock_now_ms() - start_ms, HOST_DISMISS_MS);
}
