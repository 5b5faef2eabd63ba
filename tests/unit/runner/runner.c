/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "calls.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/file/stamp.h"

/* Every arrow of the drawing in runner/runner.h. */

#define LONG_MS 20000

TestSuite(runner, .init = calls_set_up, .fini = calls_tear_down, .timeout = 300);

static void expect_result(const struct call *call, const char *text)
{
	cr_expect_eq(call->n_ends, 1);
	cr_expect_eq(call->outcome, CALL_RESULT, "%d: %s", call->outcome, call->text);
	cr_expect_str_eq(call->text, text);
}

static void expect_state(enum runner_state state)
{
	cr_expect_eq(runner_state(calls.runner), state, "it is %s",
		runner_state_name(runner_state(calls.runner)));
}

/* ── the straight way ────────────────────────────────────────────────────────────────────────── */

Test(runner, starts_a_host_for_the_first_call_and_keeps_it)
{
	calls_start();
	expect_state(RUNNER_IDLE);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	expect_result(calls_run("behave", "{\"value\":1}"), "{\"result\":1}");
	expect_state(RUNNER_READY);
	cr_expect_eq(runner_n_hosts(calls.runner), 1);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
	cr_expect_null(runner_reason(calls.runner));
	cr_expect_eq(runner_package(calls.runner), calls.package);
}

Test(runner, counts_the_calls_of_a_toolbox_and_their_errors)
{
	const struct tool *tool = calls.package->tools[0];
	const struct tool *other = calls.package->tools[1];
	const struct statistics *statistics;

	calls_start();
	cr_expect_null(runner_statistics(calls.runner, tool));
	runner_count_refused(calls.runner, tool, "busy");
	runner_count(calls.runner, tool, 10, NULL, NULL, 0);
	runner_count(calls.runner, tool, 10, "tool_failed", "no such file", 12);
	statistics = runner_statistics(calls.runner, tool);
	cr_assert_not_null(statistics);
	cr_expect_eq(statistics->calls, 3);
	cr_expect_eq(statistics->errors, 2);
	cr_expect_eq(statistics->durations_us.count, 2, "a refused call takes no time");
	cr_expect_str_eq(statistics->last_failure.code, "tool_failed");
	cr_expect_str_eq(statistics->last_failure.text, "no such file");
	cr_expect_null(runner_statistics(calls.runner, other), "another tool was never called");
}

Test(runner, cuts_the_text_of_a_failure_between_characters)
{
	const struct tool *tool = calls.package->tools[0];
	char text[STATISTICS_FAILURE_BYTES + 10];

	calls_start();
	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	runner_count(calls.runner, tool, 1, "tool_failed", text, sizeof(text));
	cr_expect_eq(strlen(runner_statistics(calls.runner, tool)->last_failure.text),
		STATISTICS_FAILURE_BYTES - 2);
}

Test(runner, adds_the_figures_of_tools_and_has_the_latest_failure)
{
	struct statistics sum = {0};
	struct statistics one = {.calls = 2, .errors = 1};
	struct statistics two = {.calls = 5, .errors = 1};

	one.last_failure = (struct statistics_failure){.code = "timeout", .at_ns = 20};
	two.last_failure = (struct statistics_failure){.code = "busy", .at_ns = 10};
	histogram_add(&one.durations_us, 10);
	histogram_add(&two.durations_us, 1000);
	statistics_add(&sum, &one);
	statistics_add(&sum, &two);
	statistics_add(&sum, NULL);
	cr_expect_eq(sum.calls, 7);
	cr_expect_eq(sum.errors, 2);
	cr_expect_eq(sum.durations_us.count, 2);
	cr_expect_geq(histogram_quantile(&sum.durations_us, 1), 1000);
	cr_expect_str_eq(sum.last_failure.code, "timeout");
}

Test(runner, knows_since_when_it_is_in_its_state)
{
	int64_t began_ns = stamp_now_ns();
	int64_t ready_ns;

	calls_start();
	cr_expect_geq(runner_state_since_ns(calls.runner), began_ns);
	calls_run("behave", "{\"value\":1}");
	ready_ns = runner_state_since_ns(calls.runner);
	cr_expect_geq(ready_ns, began_ns);
	calls_run("behave", "{\"value\":2}");
	cr_expect_eq(runner_state_since_ns(calls.runner), ready_ns, "a call changes no state");
}

Test(runner, never_ends_a_call_before_it_was_taken)
{
	struct call *call;

	calls.options.worker.host_program = "/nowhere/toolbox-host";
	calls_start();
	call = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	cr_expect_eq(call->n_ends, 0);
	calls_wait(1);
}

Test(runner, runs_what_waits_in_its_order)
{
	calls_start();
	for (int i = 0; i < 5; i++) {
		char arguments[32];

		snprintf(arguments, sizeof(arguments), "{\"value\":%d}", i);
		calls_submit("behave", arguments, LONG_MS, NULL);
	}
	cr_expect_eq(runner_n_waiting(calls.runner), 5);
	cr_expect_eq(runner_n_calls(calls.runner), 5);
	calls_wait(5);
	for (unsigned int i = 0; i < 5; i++) {
		char result[32];

		snprintf(result, sizeof(result), "{\"result\":%u}", i);
		expect_result(&calls.calls[i], result);
		cr_expect_eq(calls.calls[i].position, i + 1);
	}
	cr_expect_eq(runner_n_calls(calls.runner), 0);
}

Test(runner, reports_the_message_of_a_tool_that_fails)
{
	const struct call *call;

	calls_start();
	call = calls_run("no_text", "{}");
	cr_expect_eq(call->outcome, CALL_FAILED);
	cr_expect(call->text[0]);
	expect_state(RUNNER_READY);
}

Test(runner, starts_before_it_is_asked_where_that_is_wanted)
{
	calls.package->limits.prestart = true;
	calls_start();
	runner_prestart(calls.runner);
	expect_state(RUNNER_STARTING);
	runner_prestart(calls.runner);
	cr_expect_eq(runner_n_hosts(calls.runner), 1, "once");
	calls_wait_for_state(RUNNER_READY);
}

Test(runner, stops_its_host_when_nothing_was_to_do_for_long)
{
	calls.options.idle_s = 0;
	calls_start();
	calls_run("behave", "{\"value\":1}");
	calls_wait_for_state(RUNNER_IDLE);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
}

Test(runner, keeps_a_host_that_was_started_early)
{
	calls.options.idle_s = 0;
	calls.package->limits.prestart = true;
	calls_start();
	calls_run("behave", "{\"value\":1}");
	cr_expect_eq(loop_run(calls.loop, 20), -ETIME);
	expect_state(RUNNER_READY);
}

/* ── deadlines ───────────────────────────────────────────────────────────────────────────────── */

Test(runner, kills_what_runs_over_its_deadline)
{
	struct call *call;
	uint64_t start_ms;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	start_ms = clock_now_ms();
	call = calls_submit("hang", "{}", 30, NULL);
	calls_wait(2);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	cr_expect_geq(clock_now_ms() - start_ms, 30);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
}

Test(runner, counts_waiting_to_the_deadline)
{
	struct call *running;
	struct call *waiting;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	running = calls_submit("hang", "{}", 300, NULL);
	waiting = calls_submit("behave", "{\"value\":2}", 20, NULL);
	calls_wait(2);
	cr_expect_eq(waiting->outcome, CALL_TIMED_OUT);
	cr_expect_eq(running->n_ends, 0, "a call that waits does not disturb one that runs");
	cr_expect_eq(runner_n_hosts(calls.runner), 1);
	cr_expect_eq(runner_n_waiting(calls.runner), 0);
	calls_wait(3);
}

Test(runner, stops_the_clock_while_its_host_starts)
{
	struct call *call;

	calls_start();
	call = calls_submit("behave", "{\"value\":1}", 2000, NULL);
	cr_expect(loop_timer_is_armed(&call->runner_call.clock));
	calls_wait_for_state(RUNNER_STARTING);
	cr_expect_not(loop_timer_is_armed(&call->runner_call.clock));
	calls_wait(1);
	expect_result(call, "{\"result\":1}");
}

Test(runner, goes_on_with_the_next_call_after_a_deadline)
{
	struct call *next;

	calls_start();
	calls_submit("spin", "{}", 30, NULL);
	next = calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	calls_wait(2);
	cr_expect_eq(calls.calls[0].outcome, CALL_TIMED_OUT);
	expect_result(next, "{\"result\":2}");
}

Test(runner, does_not_take_a_kill_of_ours_for_a_crash)
{
	calls.options.crash_limit = 1;
	calls_start();
	calls_submit("hang", "{}", 20, NULL);
	calls_wait(1);
	cr_expect_eq(calls.calls[0].outcome, CALL_TIMED_OUT);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
}

/* ── crashes ─────────────────────────────────────────────────────────────────────────────────── */

Test(runner, fails_only_the_running_call_when_its_host_dies)
{
	struct call *crashing;
	struct call *next;

	calls_start();
	crashing = calls_submit("segfault", "{}", LONG_MS, NULL);
	next = calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	calls_wait(2);
	cr_expect_eq(crashing->outcome, CALL_CRASHED);
	cr_expect_eq(crashing->exit.reason, HOST_SIGNALED);
	cr_expect_eq(crashing->exit.signal, SIGSEGV);
	expect_result(next, "{\"result\":2}");
}

Test(runner, reports_an_exit_and_junk_as_well)
{
	struct call *call;

	calls.options.crash_limit = 0;
	calls_start();
	call = calls_run("exit", "{\"status\":0}");
	cr_expect_eq(call->outcome, CALL_CRASHED);
	cr_expect(call->exit.reason == HOST_EXITED && call->exit.exit_code == 0);
	call = calls_run("write_wire", "{\"text\":\"junk, and more of it than a header\"}");
	cr_expect_eq(call->outcome, CALL_CRASHED);
	cr_expect_eq(call->exit.reason, HOST_MALFORMED);
}

/* The next call did not cause the death: it gets no error, but another host. */
Test(runner, fails_no_call_when_an_idle_host_dies)
{
	siginfo_t how = {0};
	pid_t pid;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	pid = calls_host_process();
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0);
	/* The loop has not seen it yet. */
	expect_state(RUNNER_READY);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
	calls_wait_for_end_of(pid);
}

Test(runner, notices_that_an_idle_host_dies)
{
	calls_start();
	calls_run("behave", "{\"value\":1}");
	cr_assert_eq(kill(calls_host_process(), SIGKILL), 0);
	calls_wait_for_state(RUNNER_IDLE);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	cr_expect_str_eq(runner_reason(calls.runner), "its host died (SIGKILL)");
}

Test(runner, starts_again_at_once_then_later_and_later)
{
	uint64_t start_ms;

	calls.options.crash_limit = 0;
	calls_start();
	calls_run("segfault", "{}");
	calls_run("segfault", "{}");
	expect_state(RUNNER_RESTARTING);
	start_ms = clock_now_ms();
	calls_run("segfault", "{}");
	/* 50 ms before this host was started, 100 before the next one. */
	cr_expect_geq(clock_now_ms() - start_ms, 45);
	start_ms = clock_now_ms();
	expect_result(calls_run("behave", "{\"value\":1}"), "{\"result\":1}");
	cr_expect_geq(clock_now_ms() - start_ms, 95);
	/* After a success the next crash counts as the first again. */
	calls_run("segfault", "{}");
	calls_wait_for_state(RUNNER_IDLE);
}

Test(runner, counts_waiting_for_a_restart_to_the_deadline)
{
	struct call *call;

	calls.options.crash_limit = 0;
	calls_start();
	for (int i = 0; i < 3; i++)
		calls_run("segfault", "{}");
	expect_state(RUNNER_RESTARTING);
	call = calls_submit("behave", "{\"value\":1}", 10, NULL);
	calls_wait(4);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	expect_state(RUNNER_RESTARTING);
}

Test(runner, is_quarantined_after_one_crash_if_that_is_too_many)
{
	calls.options.crash_limit = 1;
	calls_start();
	calls_submit("segfault", "{}", LONG_MS, NULL);
	calls_wait(1);
	expect_state(RUNNER_QUARANTINED);
	cr_expect_str_eq(runner_reason(calls.runner),
		"quarantined after 1 crash within 60 s; a reload lets it try again");
}

Test(runner, is_quarantined_after_too_many_crashes)
{
	struct call *waiting;
	int status;

	calls.options.crash_limit = 2;
	calls_start();
	calls_submit("segfault", "{}", LONG_MS, NULL);
	calls_submit("segfault", "{}", LONG_MS, NULL);
	waiting = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	calls_wait(3);
	expect_state(RUNNER_QUARANTINED);
	cr_expect_eq(waiting->outcome, CALL_UNAVAILABLE);
	cr_expect_str_eq(waiting->text,
		"quarantined after 2 crashes within 60 s; a reload lets it try again");
	cr_expect_str_eq(runner_reason(calls.runner), waiting->text);
	calls_submit("behave", "{\"value\":1}", LONG_MS, &status);
	cr_expect_eq(status, RUNNER_E_QUARANTINED);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
}

Test(runner, is_forgiven_by_a_reload)
{
	calls.options.crash_limit = 1;
	calls_start();
	calls_run("segfault", "{}");
	expect_state(RUNNER_QUARANTINED);
	runner_forgive(calls.runner);
	expect_state(RUNNER_IDLE);
	cr_expect_null(runner_reason(calls.runner));
	expect_result(calls_run("behave", "{\"value\":1}"), "{\"result\":1}");
}

Test(runner, may_crash_for_ever_where_no_limit_is_set)
{
	calls.options.crash_limit = 0;
	calls_start();
	for (int i = 0; i < 4; i++)
		cr_expect_eq(calls_run("segfault", "{}")->outcome, CALL_CRASHED);
	expect_state(RUNNER_RESTARTING);
}

Test(runner, ends_a_host_that_floods)
{
	struct call *call;

	calls.options.worker.output_max = 4096;
	calls.options.crash_limit = 1;
	calls_start();
	call = calls_run("long_text", "{\"size\":10000}");
	cr_expect_eq(call->outcome, CALL_TOO_LARGE);
	cr_expect_gt(call->exit.actual, 10000);
	cr_expect_eq(call->exit.max, 4096);
	expect_result(calls_run("behave", "{\"value\":1}"), "{\"result\":1}");
}

/* ── hosts that do not come ──────────────────────────────────────────────────────────────────── */

Test(runner, reports_that_no_host_can_be_started)
{
	const struct call *call;

	calls.options.worker.host_program = "/nowhere/toolbox-host";
	calls_start();
	call = calls_run("behave", "{\"value\":1}");
	cr_expect_eq(call->outcome, CALL_UNAVAILABLE);
	cr_expect_str_eq(call->text,
		"its host cannot be started (/nowhere/toolbox-host): No such file or directory");
	expect_state(RUNNER_IDLE);
}

Test(runner, reports_that_its_library_is_gone)
{
	const struct call *call;

	sealed_file_unref(take_ptr(calls.package->library.copy));
	free(calls.package->load);
	calls.package->load = strdup("{\"kind\":\"native\",\"toolbox_id\":\"x\","
				     "\"library\":\"/nowhere.so\",\"tools\":[]}");
	calls.package->load_size = strlen(calls.package->load);
	calls.options.crash_limit = 1;
	calls_start();
	call = calls_run("behave", "{\"value\":1}");
	cr_expect_eq(call->outcome, CALL_UNAVAILABLE);
	cr_expect(strstr(call->text, "/nowhere.so"), "%s", call->text);
	/* A refusal is no crash. */
	calls_wait_for_state(RUNNER_IDLE);
	cr_expect_eq(calls_run("behave", "{\"value\":1}")->outcome, CALL_UNAVAILABLE);
}

Test(runner, has_no_host_with_a_file_that_was_not_described)
{
	const struct call *call;

	sealed_file_unref(take_ptr(calls.package->library.copy));
	calls_start();
	cr_expect_eq(calls_run("behave", "{\"value\":1}")->outcome, CALL_RESULT);
	runner_dismiss_idle(calls.runner);
	calls.package->library.seen++;
	call = calls_run("behave", "{\"value\":1}");
	cr_expect_eq(call->outcome, CALL_UNAVAILABLE);
	cr_expect(strstr(call->text, "another file"), "%s", call->text);
}

Test(runner, starts_hosts_with_the_copy_that_was_described)
{
	calls_start();
	calls.package->library.seen++;
	cr_expect_eq(calls_run("behave", "{\"value\":1}")->outcome, CALL_RESULT);
}

static void set_up_stuck(void)
{
	scratch_set_up();
	scratch_write_json("stuck.json",
		"{'kind':'native','library':'" TEST_STUCK_LIBRARY "','tools':[{'name':'nothing',"
		"'native':{'symbol':'nothing','returns':{'type':'i32'}}}]}");
	calls_set_up_with(scratch_path("stuck.json"));
}

static void tear_down_stuck(void)
{
	calls_tear_down();
	scratch_tear_down();
}

TestSuite(stuck_runner, .init = set_up_stuck, .fini = tear_down_stuck, .timeout = 60);

Test(stuck_runner, waits_so_long_for_a_host_and_no_longer)
{
	struct call *call;

	calls.options.worker.start_timeout_ms = 200;
	calls.options.crash_limit = 1;
	calls_start();
	/* The deadline would be over long before if its clock were running. */
	call = calls_submit("nothing", "{}", 50, NULL);
	calls_wait(1);
	cr_expect_eq(call->outcome, CALL_UNAVAILABLE, "%d", call->outcome);
	cr_expect_str_eq(call->text, "its host did not start in time");
	calls_wait_for_state(RUNNER_IDLE);
}

/* ── limits ──────────────────────────────────────────────────────────────────────────────────── */

Test(runner, takes_no_more_calls_than_its_queue_holds)
{
	int status;

	calls.options.queue_max = 2;
	calls_start();
	calls_run("behave", "{\"value\":0}");
	calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	calls_submit("behave", "{\"value\":3}", LONG_MS, NULL);
	calls_submit("behave", "{\"value\":4}", LONG_MS, &status);
	cr_expect_eq(status, RUNNER_E_BUSY, "one runs, two wait");
	calls_wait(4);
	expect_result(&calls.calls[3], "{\"result\":3}");
	cr_expect_eq(calls.calls[4].n_ends, 0);
}

Test(runner, is_given_other_limits_by_a_reload)
{
	int status;

	calls_start();
	calls.options.queue_max = 0;
	runner_configure(calls.runner, &calls.options);
	calls_submit("behave", "{\"value\":1}", LONG_MS, &status);
	cr_expect_eq(status, RUNNER_E_BUSY);
}

/* ── several hosts ───────────────────────────────────────────────────────────────────────────── */

Test(runner, runs_as_many_calls_at_once_as_it_has_workers)
{
	struct call *hanging[3];

	calls.options.workers = 2;
	calls_start();
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++)
		hanging[i] = calls_submit("hang", "{}", LONG_MS, NULL);
	for (int i = 0; i < LONG_MS && runner_n_running(calls.runner) < 2; i++)
		loop_run(calls.loop, 1);
	cr_expect_eq(runner_n_hosts(calls.runner), 2);
	cr_expect_eq(runner_n_waiting(calls.runner), 1);
	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++)
		runner_cancel(calls.runner, &hanging[i]->runner_call);
	calls_wait(3);
}

Test(runner, runs_a_tool_alone_that_wants_it)
{
	struct call *alone;

	calls.options.workers = 2;
	calls_tool("behave")->is_parallel = false;
	calls_start();
	calls_submit("hang", "{}", 100, NULL);
	calls_wait_for_state(RUNNER_READY);
	alone = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	calls_wait(2);
	cr_expect_eq(alone->position, 2);
	expect_result(alone, "{\"result\":1}");
}

/* ── ends ────────────────────────────────────────────────────────────────────────────────────── */

Test(runner, cancels_what_runs_and_what_waits)
{
	struct call *running;
	struct call *waiting;

	calls_start();
	calls_run("behave", "{\"value\":0}");
	running = calls_submit("hang", "{}", LONG_MS, NULL);
	waiting = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	runner_cancel(calls.runner, &waiting->runner_call);
	cr_expect_eq(waiting->outcome, CALL_CANCELLED);
	cr_expect_eq(running->n_ends, 0);
	runner_cancel(calls.runner, &running->runner_call);
	cr_expect_eq(running->outcome, CALL_CANCELLED);
	expect_result(calls_run("behave", "{\"value\":2}"), "{\"result\":2}");
}

Test(runner, ends_all_its_calls_on_request)
{
	struct call *running;
	struct call *waiting;

	calls_start();
	calls_run("behave", "{\"value\":0}");
	running = calls_submit("hang", "{}", LONG_MS, NULL);
	waiting = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	runner_end_all(calls.runner, "we are stopping");
	cr_expect_eq(calls.n_ends, 3);
	cr_expect_eq(running->outcome, CALL_UNAVAILABLE);
	cr_expect_str_eq(running->text, "we are stopping");
	cr_expect_eq(waiting->outcome, CALL_UNAVAILABLE);
	cr_expect_eq(runner_n_calls(calls.runner), 0);
	runner_end_all(calls.runner, "again");
}

Test(runner, that_is_retired_is_drained_at_once_when_nothing_is_to_do)
{
	calls_start();
	runner_retire(calls.runner);
	cr_expect_eq(calls.n_drains, 0, "not before it returns");
	cr_assert_eq(loop_run(calls.loop, LONG_MS), 0);
	cr_expect_eq(calls.n_drains, 1);
}

Test(runner, that_is_retired_goes_on_with_the_call_that_runs)
{
	pid_t host;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	host = calls_host_process();
	kill(host, SIGSTOP);
	for (int i = 2; i < 4; i++)
		calls_submit("behave", "{\"value\":2}", LONG_MS, NULL);
	runner_retire(calls.runner);
	kill(host, SIGCONT);
	calls_wait(3);
	for (int i = 1; i < 3; i++)
		expect_result(&calls.calls[i], "{\"result\":2}");
	cr_expect_eq(calls.n_starts[RUNNER_START_CALL], 1, "by the host that there was");
}

Test(runner, that_is_retired_ends_its_calls_first)
{
	calls_start();
	calls_submit("segfault", "{}", LONG_MS, NULL);
	calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	runner_retire(calls.runner);
	calls_wait(2);
	cr_expect_eq(calls.n_drains, 0);
	expect_result(&calls.calls[1], "{\"result\":1}");
	cr_assert_eq(loop_run(calls.loop, LONG_MS), 0);
	cr_expect_eq(calls.n_drains, 1);
}

Test(runner, takes_its_host_with_it)
{
	siginfo_t how = {0};
	pid_t pid;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	pid = calls_host_process();
	runner_free(calls.runner);
	calls.runner = NULL;
	cr_assert_eq(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0);
	cr_expect_eq(how.si_status, SIGKILL);
}

/* ── rules of runner/runner.h ────────────────────────────────────────────────────────────────── */

Test(runner, aborts_when_a_call_is_submitted_twice, .signal = SIGABRT)
{
	struct call *call;

	calls_start();
	call = calls_submit("behave", "{\"value\":1}", LONG_MS, NULL);
	runner_submit(calls.runner, &call->runner_call, "{}", 2, LONG_MS);
}

Test(runner, aborts_when_a_call_is_cancelled_that_is_over, .signal = SIGABRT)
{
	calls_start();
	runner_cancel(calls.runner, &calls_run("behave", "{\"value\":1}")->runner_call);
}

Test(runner, aborts_when_it_is_retired_twice, .signal = SIGABRT)
{
	calls_start();
	runner_retire(calls.runner);
	runner_retire(calls.runner);
}
