/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/children.h"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the kernel lists at once: a page of pids. */
#define COUNT 900

struct visits {
	int n;
	bool has_stranger;
	pid_t pids[COUNT];
};

static void count(void *data, pid_t pid)
{
	struct visits *visits = data;
	bool is_known = false;

	for (int i = 0; i < COUNT; i++)
		is_known |= visits->pids[i] == pid;
	visits->n++;
	visits->has_stranger |= !is_known;
}

Test(children, are_all_visited_until_they_are_reaped, .timeout = 60)
{
	struct visits visits = {0};

	for (int i = 0; i < COUNT; i++) {
		visits.pids[i] = fork();
		cr_assert_geq(visits.pids[i], 0);
		if (visits.pids[i] == 0)
			_exit(0);
	}
	cr_expect_eq(children_visit(count, &visits), 0);
	cr_expect_eq(visits.n, COUNT);
	cr_expect_not(visits.has_stranger);
	for (int i = 0; i < COUNT; i++)
		waitpid(visits.pids[i], NULL, 0);
	visits.n = 0;
	cr_expect_eq(children_visit(count, &visits), 0);
	cr_expect_eq(visits.n, 0);
}
