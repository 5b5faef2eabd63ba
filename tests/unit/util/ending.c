/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/ending.h"

#include <criterion/criterion.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* End a child like @end, with @signal blocked and ignored before, and return its wait status. */
static int end_like(const siginfo_t *end, int signal_number)
{
	struct rlimit no_core = {0};
	pid_t child = fork();
	int status = -1;

	cr_assert_geq(child, 0);
	if (child == 0) {
		sigset_t set;

		setrlimit(RLIMIT_CORE, &no_core);
		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (signal_number != 0)
			signal(signal_number, SIG_IGN);
		ending_end_like(end);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

Test(ending, has_the_exit_status_of_the_other_process)
{
	static const int exits[] = {0, 1, 42, 127, 128, 255};

	for (size_t i = 0; i < sizeof(exits) / sizeof(*exits); i++) {
		siginfo_t end = {.si_code = CLD_EXITED};
		int status;

		end.si_status = exits[i];
		status = end_like(&end, 0);
		cr_expect(WIFEXITED(status));
		cr_expect_eq(WEXITSTATUS(status), exits[i]);
	}
}

Test(ending, is_by_the_signal_of_the_other_process_though_it_is_blocked_and_ignored)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGSEGV, SIGABRT, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		siginfo_t end = {.si_code = i % 2 ? CLD_DUMPED : CLD_KILLED};
		int status;

		end.si_status = signals[i];
		status = end_like(&end, signals[i]);
		cr_expect(WIFSIGNALED(status), "%d: %x", signals[i], status);
		cr_expect_eq(WTERMSIG(status), signals[i]);
	}
}

Test(ending, cannot_be_stopped_from_outside_by_a_kill)
{
	siginfo_t end = {.si_code = CLD_KILLED};
	int status;

	end.si_status = SIGKILL;
	status = end_like(&end, 0);
	cr_expect(WIFSIGNALED(status));
	cr_expect_eq(WTERMSIG(status), SIGKILL);
}

/* A signal whose default is to do nothing leaves the status that a shell would give. */
Test(ending, by_a_signal_that_ends_nothing_is_an_exit_status_above_128)
{
	siginfo_t end = {.si_code = CLD_KILLED};
	int status;

	end.si_status = SIGCHLD;
	status = end_like(&end, 0);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 128 + SIGCHLD);
}
