/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/guarded.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start a process, and return when it is ready. It ends with the test. */
static pid_t start(bool is_marked)
{
	int ends[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (is_marked && guarded_mark() < 0)
			_exit(1);
		if (setsid() < 0 || write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(guarded, has_the_mark_of_its_parent_for_those_without_it)
{
	pid_t marked = start(true);
	pid_t plain = start(false);

	cr_expect(guarded_has_mark(marked));
	cr_expect_not(guarded_has_mark(plain));
	cr_expect_not(guarded_has_mark(getpid()));
	end(plain);
	end(marked);
	cr_expect_not(guarded_has_mark(marked), "it is gone");
}

Test(guarded, has_a_mark_that_a_descendant_inherits)
{
	pid_t child;

	cr_assert_eq(guarded_mark(), 0);
	child = start(false);
	cr_expect_not(guarded_has_mark(child), "the mark is under the limit of a daemon");
	end(child);
}
