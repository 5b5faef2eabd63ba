/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "calls.h"
#include "host/process.h"
#include "runner/weight.h"
#include "util/clock.h"

/* The priority of hosts: the daemon's for light hosts. */

#define WAIT_MS 60000
#define STEP_MS 5
#define NICEST  19

/* The toolbox, as one whose hosts start no programs. */
static void set_up(void)
{
	calls_set_up();
	calls.package->sandbox.class = SANDBOX_COMPUTE;
}

TestSuite(runner_weight, .init = set_up, .fini = calls_tear_down, .timeout = 300);

static int own_niceness(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

static int yielding(void)
{
	int niceness = own_niceness() + PROCESS_NICE;

	return niceness < NICEST ? niceness : NICEST;
}

/* Return the lowest niceness of all threads of @pid. */
static int niceness_of(pid_t pid)
{
	char path[64];
	int least = NICEST;
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	cr_assert(threads);
	while ((entry = readdir(threads))) {
		int niceness = *entry->d_name == '.'
				       ? NICEST
				       : getpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name));

		least = niceness < least ? niceness : least;
	}
	closedir(threads);
	return least;
}

static void wait_until_it_yields(pid_t pid)
{
	for (int i = 0; niceness_of(pid) != yielding(); i++) {
		cr_assert_lt(i, WAIT_MS / STEP_MS, "its niceness is %d", niceness_of(pid));
		loop_run(calls.loop, STEP_MS);
	}
}

/* The same for a thread that spins after its call. Beside busy processes it may get so little of a
 * processor that a look finds a host at rest: then the next call begins to look again. */
static void wait_until_a_thread_yields(pid_t pid)
{
	uint64_t end_ms = clock_now_ms() + WAIT_MS / 2;
	uint64_t before_ns = 0;
	uint64_t used_ns = 0;

	cr_assert_eq(clock_process_ns(pid, &before_ns), 0);
	while (niceness_of(pid) != yielding()) {
		cr_assert_lt(clock_now_ms(), end_ms, "its niceness is %d", niceness_of(pid));
		loop_run(calls.loop, WEIGHT_LOOK_MS);
		cr_assert_eq(clock_process_ns(pid, &used_ns), 0);
		if (used_ns - before_ns < 4 * WEIGHT_REST_NS)
			calls_run("behave", "{\"value\":1}");
		before_ns = used_ns;
	}
}

/* Serve for so long that a look would find a heavy host. */
static void serve_some_looks(void)
{
	uint64_t end_ms = clock_now_ms() + 4 * WEIGHT_LOOK_MS;

	while (clock_now_ms() < end_ms)
		loop_run(calls.loop, STEP_MS);
}

Test(runner_weight, of_quick_calls_and_of_one_that_waits_is_light)
{
	struct call *call;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	serve_some_looks();
	cr_expect_eq(niceness_of(calls_host_process()), own_niceness());
	call = calls_submit("hang", "{}", WAIT_MS, NULL);
	serve_some_looks();
	cr_expect_eq(call->n_ends, 0);
	cr_expect_eq(niceness_of(calls_host_process()), own_niceness());
}

Test(runner_weight, lets_a_heavy_host_and_those_after_it_yield)
{
	struct call *call;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	call = calls_submit("spin", "{}", WAIT_MS, NULL);
	wait_until_it_yields(calls_host_process());
	cr_expect_eq(call->n_ends, 0);
	runner_cancel(calls.runner, &call->runner_call);
	calls_run("behave", "{\"value\":1}");
	cr_expect_eq(niceness_of(calls_host_process()), yielding());
}

Test(runner_weight, counts_threads_that_run_on_after_their_call)
{
	calls_start();
	calls_run("behave", "{\"value\":1}");
	cr_expect_eq(niceness_of(calls_host_process()), own_niceness());
	/* A look may come before the answer does. */
	calls_run("spin_aside", "{}");
	wait_until_a_thread_yields(calls_host_process());
}

Test(runner_weight, lets_hosts_yield_that_are_started_again)
{
	pid_t first;

	calls_start();
	calls_run("behave", "{\"value\":1}");
	first = calls_host_process();
	cr_expect_eq(niceness_of(first), own_niceness());
	calls_run("segfault", "{}");
	calls_run("behave", "{\"value\":1}");
	cr_expect_neq(calls_host_process(), first);
	cr_expect_eq(niceness_of(calls_host_process()), yielding());
}

Test(runner_weight, is_not_waited_for_where_hosts_may_start_programs)
{
	calls.package->sandbox.class = SANDBOX_NONE;
	calls_start();
	calls_run("behave", "{\"value\":1}");
	cr_expect_eq(niceness_of(calls_host_process()), yielding());
}
