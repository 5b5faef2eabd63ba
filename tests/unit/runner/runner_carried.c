/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* Hosts that carry several calls. The native host of these tests runs its calls one after the
 * other, and knows no CANCEL. While it is stopped its calls make no progress. */

#define LONG_MS 20000

#define FRAME(kind, id, payload, size)                                                             \
	"{\"size\":" size ",\"kind\":" kind ",\"id\":" id ",\"payload\":\"" payload "\","          \
	"\"afterwards\":0}"

static void set_up(void)
{
	calls_set_up();
	calls.package->concurrent = 3;
	/* Calls of a native tool that reads would be sent ahead. */
	for (size_t i = 0; i < calls.package->n_tools; i++)
		calls.package->tools[i]->risk = TOOL_EXECUTE;
}

TestSuite(runner_carried, .init = set_up, .fini = calls_tear_down, .timeout = 300);

static struct call *submit_value(int value)
{
	char arguments[32];

	snprintf(arguments, sizeof(arguments), "{\"value\":%d}", value);
	return calls_submit("behave", arguments, LONG_MS, NULL);
}

static void expect_value(const struct call *call, int value)
{
	char result[32];

	snprintf(result, sizeof(result), "{\"result\":%d}", value);
	cr_expect_eq(call->n_ends, 1);
	cr_expect_eq(call->outcome, CALL_RESULT, "%d: %s", call->outcome, call->text);
	cr_expect_str_eq(call->text, result);
}

/* Start the runner, and stop its host. */
static pid_t start_stopped(void)
{
	pid_t host;

	calls_start();
	calls_run("behave", "{\"value\":99}");
	host = calls_host_process();
	kill(host, SIGSTOP);
	return host;
}

Test(runner_carried, has_so_many_calls_with_its_host_and_lets_others_wait)
{
	struct call *sent[5];
	pid_t host = start_stopped();

	for (int i = 0; i < 5; i++)
		sent[i] = submit_value(i);
	cr_expect_eq(runner_n_waiting(calls.runner), 2);
	kill(host, SIGCONT);
	calls_wait(6);
	for (int i = 0; i < 5; i++)
		expect_value(sent[i], i);
	cr_expect_eq(runner_n_hosts(calls.runner), 1);
	cr_expect_eq(runner_n_waiting(calls.runner), 0);
}

/* The answer to the last call comes first. */
Test(runner_carried, takes_answers_in_any_order)
{
	struct call *faker;
	struct call *other;

	start_stopped();
	faker = calls_submit("send_frame", FRAME("5", "3", "{}", "2"), LONG_MS, NULL);
	other = submit_value(1);
	kill(calls_host_process(), SIGCONT);
	calls_wait(3);
	cr_expect_eq(other->n_ends, 1);
	cr_expect_str_eq(other->text, "{}");
	cr_expect_lt(other->position, faker->position);
	cr_expect_eq(faker->outcome, CALL_RESULT);
}

Test(runner_carried, gives_progress_to_its_call)
{
	struct call *other;

	start_stopped();
	calls_submit("send_frame", FRAME("8", "3", "{}", "2"), LONG_MS, NULL);
	other = submit_value(1);
	kill(calls_host_process(), SIGCONT);
	calls_wait(3);
	cr_expect_eq(calls.n_progress, 1);
	expect_value(other, 1);
}

/* The host that ends for the CANCEL takes the other call with it. */
Test(runner_carried, ends_one_call_alone_at_once)
{
	struct call *cancelled;
	struct call *other;
	pid_t host = start_stopped();

	cancelled = submit_value(1);
	other = submit_value(2);
	runner_cancel(calls.runner, &cancelled->runner_call);
	cr_expect_eq(cancelled->n_ends, 1);
	cr_expect_eq(cancelled->outcome, CALL_CANCELLED);
	cr_expect_eq(other->n_ends, 0, "its host goes on");
	kill(host, SIGCONT);
	calls_wait(3);
	cr_expect_eq(other->n_ends, 1);
}

Test(runner_carried, gives_a_call_to_the_host_with_the_fewest)
{
	struct call *sent[4];

	calls.options.workers = 2;
	start_stopped();
	sent[0] = submit_value(0);
	sent[1] = submit_value(1);
	sent[2] = submit_value(2);
	sent[3] = submit_value(3);
	/* The stopped host has three calls, so the fourth starts another host. */
	calls_wait(2);
	expect_value(sent[3], 3);
	cr_expect_eq(runner_n_hosts(calls.runner), 2);
	sent[3] = submit_value(4);
	calls_wait(3);
	expect_value(sent[3], 4);
	cr_expect_eq(sent[0]->n_ends + sent[1]->n_ends + sent[2]->n_ends, 0);
}

Test(runner_carried, keeps_a_host_that_is_in_use)
{
	calls.options.idle_s = 0;
	calls_start();
	calls_run("send_frame", FRAME("17", "0", "{\\\"is_in_use\\\":true}", "18"));
	loop_run(calls.loop, 50);
	cr_expect_eq(runner_n_hosts(calls.runner), 1);
	calls_run("send_frame", FRAME("17", "0", "{\\\"is_in_use\\\":false}", "19"));
	calls_wait_for_state(RUNNER_IDLE);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
}

Test(runner_carried, is_retired_before_it_has_a_host)
{
	calls_start();
	runner_retire(calls.runner);
	cr_assert_eq(loop_run(calls.loop, LONG_MS), 0);
	cr_expect_eq(calls.n_drains, 1);
}
