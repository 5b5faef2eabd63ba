/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "calls.h"

/* Tools that need a rest between two runs. */

#define LONG_MS 20000

TestSuite(runner_cooldown, .init = calls_set_up, .fini = calls_tear_down, .timeout = 300);

Test(runner_cooldown, cools_a_tool_down_from_the_end_of_its_run)
{
	const struct tool *tool = calls_tool("behave");

	calls_tool("behave")->cooldown_s = 30;
	calls_start();
	cr_expect_eq(runner_cooldown_s(calls.runner, tool), 0);
	calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	cr_expect_eq(runner_cooldown_s(calls.runner, tool), 0, "not before it has run");
	calls_wait(1);
	cr_expect_gt(runner_cooldown_s(calls.runner, tool), 20);
	cr_expect_leq(runner_cooldown_s(calls.runner, tool), 30);
	cr_expect_eq(runner_cooldown_s(calls.runner, calls_tool("hang")), 0, "its own");
}

Test(runner_cooldown, cools_a_tool_down_that_has_crashed)
{
	calls_tool("segfault")->cooldown_s = 30;
	calls_start();
	calls_run("segfault", "{}");
	cr_expect_gt(runner_cooldown_s(calls.runner, calls_tool("segfault")), 20);
}

/* The calls were taken before a run ended from which their tool cools down. */
Test(runner_cooldown, does_not_run_what_waited_while_its_tool_cools_down)
{
	struct call *second;
	struct call *other;

	calls_tool("behave")->cooldown_s = 30;
	calls_start();
	calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	second = calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	other = calls_submit("no_text", "{}", LONG_MS, NULL);
	calls_wait(3);
	cr_expect_eq(calls.calls[0].outcome, CALL_RESULT);
	cr_expect_eq(second->outcome, CALL_COOLING);
	cr_expect_eq(other->outcome, CALL_FAILED, "another tool runs");
}

Test(runner_cooldown, is_not_cooled_down_by_what_has_not_run)
{
	struct call *call;

	calls_tool("behave")->cooldown_s = 30;
	calls_start();
	calls_submit("hang", "{}", 100, NULL);
	calls_wait_for_state(RUNNER_READY);
	call = calls_submit("behave", "{\"value\":1}", 1, NULL);
	calls_wait(1);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	cr_expect_eq(runner_cooldown_s(calls.runner, calls_tool("behave")), 0);
	calls_wait(2);
}
