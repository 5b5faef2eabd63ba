/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/ancestry.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

Test(ancestry, knows_itself_and_what_it_started)
{
	pid_t child = fork();

	if (child == 0) {
		/* A name that looks like the fields after it. */
		prctl(PR_SET_NAME, "a) S 1 (b");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	while (ancestry_is_ours(child) != 1)
		usleep(1000);
	cr_expect_eq(ancestry_is_ours(getpid()), 1);
	cr_expect_eq(ancestry_is_ours(getppid()), 0);
	cr_expect_eq(ancestry_is_ours(1), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	cr_expect_eq(ancestry_is_ours(child), -ENOENT, "it is gone");
}

Test(ancestry, knows_what_its_children_started)
{
	int ends[2];
	pid_t pids[2];

	cr_assert_eq(pipe(ends), 0);
	pids[0] = fork();
	if (pids[0] == 0) {
		pid_t child = fork();

		if (child == 0) {
			pids[1] = getpid();
			if (write(ends[1], &pids[1], sizeof(pids[1])) < 0)
				_exit(1);
		}
		for (;;)
			pause();
	}
	cr_assert_eq(read(ends[0], &pids[1], sizeof(pids[1])), sizeof(pids[1]));
	cr_expect_eq(ancestry_is_ours(pids[1]), 1);
	kill(pids[1], SIGKILL);
	kill(pids[0], SIGKILL);
	waitpid(pids[0], NULL, 0);
}
