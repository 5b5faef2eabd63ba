/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* Calls that the host has before their turn. While the host is stopped they make no progress;
 * when it continues, all of its answers may come at once. The tools of misbehave have the risk
 * `read`. */

#define LONG_MS 20000
#define AHEAD   (HOST_CALLS_MAX - 1)

static pid_t host;

TestSuite(runner_ahead, .init = calls_set_up, .fini = calls_tear_down, .timeout = 300);

/* A runner whose host is there, and stopped. */
static void start_stopped(void)
{
	calls_start();
	calls_run("behave", "{\"value\":99}");
	host = calls_host_process();
	kill(host, SIGSTOP);
}

static struct call *submit(const char *tool, const char *arguments)
{
	return calls_submit(tool, arguments, LONG_MS, NULL);
}

static struct call *submit_value(int value)
{
	char arguments[32];

	snprintf(arguments, sizeof(arguments), "{\"value\":%d}", value);
	return submit("behave", arguments);
}

static void expect_value(const struct call *call, int value)
{
	char result[32];

	snprintf(result, sizeof(result), "{\"result\":%d}", value);
	cr_expect_eq(call->outcome, CALL_RESULT, "%d: %s", call->outcome, call->text);
	cr_expect_str_eq(call->text, result);
}

Test(runner_ahead, gives_the_host_what_waits_and_lets_it_wait)
{
	struct call *sent[AHEAD + 3];

	start_stopped();
	for (int i = 0; i < AHEAD + 3; i++) {
		sent[i] = submit_value(i);
		cr_expect_eq(sent[i]->runner_call.is_ahead, i > 0 && i <= AHEAD, "%d", i);
	}
	cr_expect_eq(runner_n_waiting(calls.runner), AHEAD + 2);
	kill(host, SIGCONT);
	calls_wait(1 + AHEAD + 3);
	for (int i = 0; i < AHEAD + 3; i++) {
		expect_value(sent[i], i);
		cr_expect_eq(sent[i]->position, (unsigned int)i + 2);
	}
	cr_expect_eq(calls_host_process(), host);
}

Test(runner_ahead, counts_what_went_ahead_as_waiting)
{
	int status = 0;

	calls.options.queue_max = 2;
	start_stopped();
	submit_value(1);
	submit_value(2);
	submit_value(3);
	calls_submit("behave", "{\"value\":4}", LONG_MS, &status);
	cr_expect_eq(status, RUNNER_E_BUSY);
	kill(host, SIGCONT);
	calls_wait(4);
}

Test(runner_ahead, lets_only_those_of_tools_go_that_read)
{
	calls_tool("no_text")->risk = TOOL_WRITE;
	start_stopped();
	submit_value(1);
	cr_expect(submit_value(2)->runner_call.is_ahead);
	cr_expect_not(submit("no_text", "{}")->runner_call.is_ahead);
	cr_expect_not(submit_value(3)->runner_call.is_ahead, "no call overtakes another");
	kill(host, SIGCONT);
	calls_wait(5);
}

Test(runner_ahead, keeps_back_what_cools_down_and_what_is_large)
{
	static char large[8192];

	calls_tool("no_text")->cooldown_s = 0.001;
	start_stopped();
	submit_value(1);
	cr_expect_not(submit("no_text", "{}")->runner_call.is_ahead);
	kill(host, SIGCONT);
	calls_wait(3);
	kill(host, SIGSTOP);
	submit_value(2);
	snprintf(large, sizeof(large), "{\"value\":3%*s}", (int)sizeof(large) - 16, "");
	cr_expect_not(submit("behave", large)->runner_call.is_ahead);
	kill(host, SIGCONT);
	calls_wait(5);
}

Test(runner_ahead, keeps_all_back_where_several_hosts_share_the_queue)
{
	calls.options.workers = 2;
	calls_start();
	submit("hang", "{}");
	submit("hang", "{}");
	cr_expect_not(submit_value(1)->runner_call.is_ahead);
	calls_wait_for_state(RUNNER_READY);
	cr_expect_not(submit_value(2)->runner_call.is_ahead);
	runner_end_all(calls.runner, "enough");
}

Test(runner_ahead, does_not_wait_for_what_was_cancelled)
{
	struct call *first, *cancelled, *last;

	start_stopped();
	first = submit_value(1);
	cancelled = submit_value(2);
	last = submit_value(3);
	runner_cancel(calls.runner, &cancelled->runner_call);
	cr_expect_eq(cancelled->outcome, CALL_CANCELLED);
	kill(host, SIGCONT);
	calls_wait(4);
	expect_value(first, 1);
	expect_value(last, 3);
	/* It has run what was cancelled. */
	calls_wait_for_end_of(host);
}

Test(runner_ahead, goes_on_after_the_last_one_was_cancelled)
{
	struct call *second, *cancelled, *last;

	start_stopped();
	submit_value(1);
	second = submit_value(2);
	cancelled = submit_value(3);
	runner_cancel(calls.runner, &cancelled->runner_call);
	last = submit_value(4);
	cr_expect(last->runner_call.is_ahead);
	kill(host, SIGCONT);
	calls_wait(5);
	expect_value(second, 2);
	expect_value(last, 4);
}

Test(runner_ahead, ends_a_host_that_runs_a_cancelled_call)
{
	struct call *first;

	start_stopped();
	first = submit_value(1);
	runner_cancel(calls.runner, &submit("hang", "{}")->runner_call);
	kill(host, SIGCONT);
	calls_wait(3);
	expect_value(first, 1);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	expect_value(calls_run("behave", "{\"value\":2}"), 2);
}

Test(runner_ahead, ends_at_its_deadline)
{
	struct call *first, *late;

	start_stopped();
	first = submit_value(1);
	late = calls_submit("behave", "{\"value\":2}", 20, NULL);
	calls_wait(2);
	cr_expect_eq(late->outcome, CALL_TIMED_OUT);
	cr_expect_eq(first->n_ends, 0);
	kill(host, SIGCONT);
	calls_wait(3);
	expect_value(first, 1);
}

Test(runner_ahead, outlives_the_host_that_had_it)
{
	struct call *first, *next, *last;

	start_stopped();
	first = submit_value(1);
	next = submit_value(2);
	last = submit_value(3);
	kill(host, SIGKILL);
	calls_wait(4);
	cr_expect_eq(first->outcome, CALL_CRASHED);
	expect_value(next, 2);
	expect_value(last, 3);
}

Test(runner_ahead, goes_to_the_next_host_as_well)
{
	struct call *last;

	start_stopped();
	submit_value(1);
	submit("hang", "{}");
	last = submit_value(3);
	kill(host, SIGKILL);
	calls_wait(2);
	calls_wait_for_state(RUNNER_READY);
	cr_expect(last->runner_call.is_ahead);
	runner_end_all(calls.runner, "enough");
}

Test(runner_ahead, fails_alone_when_its_host_dies)
{
	struct call *first, *crashing, *last;

	start_stopped();
	first = submit_value(1);
	crashing = submit("segfault", "{}");
	last = submit_value(3);
	kill(host, SIGCONT);
	calls_wait(4);
	expect_value(first, 1);
	cr_expect_eq(crashing->outcome, CALL_CRASHED);
	cr_expect_eq(crashing->exit.signal, SIGSEGV);
	expect_value(last, 3);
}

Test(runner_ahead, goes_with_all_the_others)
{
	struct call *next;

	start_stopped();
	submit_value(1);
	next = submit_value(2);
	runner_end_all(calls.runner, "we are stopping");
	cr_expect_eq(next->outcome, CALL_UNAVAILABLE);
	cr_expect_eq(runner_n_calls(calls.runner), 0);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
}
