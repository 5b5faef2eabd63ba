/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/executor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "calls.h"

/* A runner whose calls are run by an executor of the test. */

#define LONG_MS 20000

static struct {
	struct executor executor;
	struct runner_call *running[CALLS_MAX]; /* as they were begun; NULL: cancelled */
	unsigned int n_begun;
	unsigned int n_late;
	unsigned int n_cancelled;
	bool is_scarce; /* it has no memory for another call */
	const char *note;
} fake;

static int begin(
	struct executor *executor, struct runner_call *call, const char *arguments, size_t size)
{
	cr_expect_eq(executor, &fake.executor);
	cr_expect_eq(size, strlen("{}"));
	cr_expect_eq(memcmp(arguments, "{}", size), 0);
	if (fake.is_scarce)
		return -ENOMEM;
	fake.running[fake.n_begun++] = call;
	return 0;
}

static void cancel(struct executor *executor, struct runner_call *call, bool is_late)
{
	cr_expect_eq(executor, &fake.executor);
	for (unsigned int i = 0; i < fake.n_begun; i++)
		if (fake.running[i] == call)
			fake.running[i] = NULL;
	fake.n_cancelled += !is_late;
	fake.n_late += is_late;
}

static const char *note(struct executor *executor, const struct runner_call *call)
{
	cr_expect_eq(executor, &fake.executor);
	cr_expect_not_null(call);
	return fake.note;
}

static const struct executor_operations operations = {
	.begin = begin, .cancel = cancel, .note = note};

static void set_up(void)
{
	calls_set_up();
	fake.executor.operations = &operations;
	calls.options.executor = &fake.executor;
	calls.options.queue_max = 3;
}

static void finish(unsigned int at, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct call_result result = {.text = text, .size = strlen(text), .tape = &tape};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 8, NULL), 0);
	runner_finish(fake.running[at], &result);
}

static struct call *submit(void)
{
	return calls_submit("behave", "{}", LONG_MS, NULL);
}

TestSuite(executor, .init = set_up, .fini = calls_tear_down, .timeout = 60);

Test(executor, runs_calls_at_once_and_side_by_side_without_a_process)
{
	struct call *first;
	struct call *second;

	calls_start();
	first = submit();
	second = submit();
	cr_expect_eq(fake.n_begun, 2);
	cr_expect_eq(runner_n_running(calls.runner), 2);
	cr_expect_eq(runner_n_hosts(calls.runner), 0);
	cr_expect_eq(runner_state(calls.runner), RUNNER_READY);
	finish(1, "{\"result\":2}");
	finish(0, "{\"result\":1}");
	cr_expect_eq(second->position, 1);
	cr_expect_str_eq(second->text, "{\"result\":2}");
	cr_expect_eq(first->position, 2);
	cr_expect_str_eq(first->text, "{\"result\":1}");
	cr_expect_eq(runner_n_calls(calls.runner), 0);
}

Test(executor, has_no_other_bound_than_the_queue)
{
	int status;

	calls_start();
	for (int i = 0; i < 3; i++)
		submit();
	cr_expect_eq(runner_n_queued(calls.runner), 3);
	calls_submit("behave", "{}", LONG_MS, &status);
	cr_expect_eq(status, RUNNER_E_BUSY);
	finish(0, "{}");
	submit();
	cr_expect_eq(fake.n_begun, 4);
}

Test(executor, runs_a_tool_that_is_not_parallel_alone)
{
	calls_tool("behave")->is_parallel = false;
	calls_start();
	submit();
	submit();
	cr_expect_eq(fake.n_begun, 1);
	cr_expect_eq(runner_n_waiting(calls.runner), 1);
	finish(0, "{}");
	cr_expect_eq(fake.n_begun, 2, "the next one begins with the end of the first");
}

Test(executor, ends_calls_for_which_it_has_no_memory)
{
	struct call *waiting;
	int status;

	fake.is_scarce = true;
	calls_tool("behave")->is_parallel = false;
	calls_start();
	calls_submit("behave", "{}", LONG_MS, &status);
	cr_expect_eq(status, -ENOMEM, "it is not taken");
	fake.is_scarce = false;
	submit();
	waiting = submit();
	fake.is_scarce = true;
	finish(0, "{}");
	cr_expect_eq(waiting->outcome, CALL_UNAVAILABLE);
	cr_expect_eq(runner_n_calls(calls.runner), 0);
}

Test(executor, ends_a_late_call_with_the_note_of_the_executor)
{
	struct call *call;

	fake.note = "nobody answered volume.get";
	calls_start();
	call = calls_submit("behave", "{}", 1, NULL);
	calls_wait(1);
	cr_expect_eq(call->outcome, CALL_TIMED_OUT);
	cr_expect_str_eq(call->text, fake.note);
	cr_expect_eq(fake.n_late, 1);
	cr_expect_null(fake.running[0]);
}

Test(executor, forgets_cancelled_calls)
{
	struct call *call;

	calls_start();
	call = submit();
	runner_cancel(calls.runner, &call->runner_call);
	cr_expect_eq(call->outcome, CALL_CANCELLED);
	cr_expect_eq(fake.n_cancelled, 1);
	call = submit();
	runner_end_all(calls.runner, "the service is stopping");
	cr_expect_eq(call->outcome, CALL_UNAVAILABLE);
	cr_expect_eq(fake.n_cancelled, 2);
	cr_expect_eq(runner_n_calls(calls.runner), 0);
}

Test(executor, lets_a_retired_runner_drain)
{
	calls_start();
	submit();
	runner_retire(calls.runner);
	cr_expect_eq(loop_run(calls.loop, 1), -ETIME);
	cr_expect_eq(calls.n_drains, 0, "its call goes on");
	finish(0, "{}");
	while (calls.n_drains == 0)
		cr_assert_eq(loop_run(calls.loop, LONG_MS), 0);
	cr_expect_null(calls.runner);
}

Test(executor, starts_nothing_before_the_first_call)
{
	calls_start();
	runner_prestart(calls.runner);
	cr_expect_eq(calls.n_starts[RUNNER_START_PRESTART], 0);
	cr_expect(runner_has_reaped_all(calls.runner));
}
