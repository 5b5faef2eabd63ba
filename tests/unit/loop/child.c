/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/loop.h"

#define PATIENCE_MS 5000

TestSuite(loop_child, .timeout = 20);
TestSuite(loop_signal, .timeout = 20);
TestSuite(loop_orphan, .timeout = 20);

static struct loop *new_loop(void)
{
	struct loop *loop = NULL;

	cr_assert_eq(loop_new(&loop), 0);
	return loop;
}

/* A child that ends with @status, or waits to be killed when that is negative. It ends with its
 * test, which may have failed. */
static pid_t spawn(int status)
{
	pid_t test = getpid();
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (status < 0 && getppid() == test)
			pause();
		_exit(status);
	}
	return pid;
}

struct ended {
	struct loop *loop;
	int status;
	int calls;
	int calls_until_stop;
};

static void note_end(void *data, int status)
{
	struct ended *ended = data;

	ended->status = status;
	if (++ended->calls == ended->calls_until_stop)
		loop_stop(ended->loop);
}

Test(loop_child, tells_the_status_of_one_that_ended)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct loop_child *child = NULL;
	pid_t pid = spawn(7);

	cr_assert_eq(loop_add_child(loop, pid, note_end, &ended, &child), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert(WIFEXITED(ended.status));
	cr_assert_eq(WEXITSTATUS(ended.status), 7);
	cr_assert_eq(waitpid(pid, NULL, WNOHANG), -1, "it was reaped");
}

Test(loop_child, can_be_signalled)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct loop_child *child = NULL;

	cr_assert_eq(loop_add_child(loop, spawn(-1), note_end, &ended, &child), 0);
	cr_assert_eq(loop_child_signal(child, SIGKILL), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert(WIFSIGNALED(ended.status));
	cr_assert_eq(WTERMSIG(ended.status), SIGKILL);
}

Test(loop_child, is_killed_when_it_has_not_ended_in_time)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct loop_child *child = NULL;

	cr_assert_eq(loop_add_child(loop, spawn(-1), note_end, &ended, &child), 0);
	loop_child_kill_after(child, 1);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert(WIFSIGNALED(ended.status));
	cr_assert_eq(WTERMSIG(ended.status), SIGKILL);
}

Test(loop_child, is_reaped_in_silence_once_it_is_forgotten)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct ended forgotten = {.loop = loop};
	struct loop_child *child = NULL;
	struct loop_child *other = NULL;
	pid_t pid = spawn(-1);

	cr_assert_eq(loop_add_child(loop, pid, note_end, &forgotten, &child), 0);
	loop_child_forget(child);
	loop_child_forget(NULL);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	for (int tries = 0; tries < 100 && waitpid(pid, NULL, WNOHANG) == 0; tries++)
		loop_run(loop, 10);
	cr_assert_eq(waitpid(pid, NULL, WNOHANG), -1);
	cr_assert_eq(forgotten.calls, 0);
	cr_assert_eq(loop_add_child(loop, spawn(0), note_end, &ended, &other), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
}

Test(loop_child, many_that_end_at_once_are_told_each)
{
	enum { COUNT = 30 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = COUNT};

	for (int i = 0; i < COUNT; i++) {
		struct loop_child *child;

		cr_assert_eq(loop_add_child(loop, spawn(i % 3), note_end, &ended, &child), 0);
	}
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(ended.calls, COUNT);
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

Test(loop_child, that_lives_on_is_released_with_its_loop)
{
	int before = count_descriptors();
	struct loop *loop = new_loop();
	struct ended ended = {0};
	struct loop_child *child = NULL;
	pid_t pids[2] = {spawn(-1), spawn(-1)};

	for (int i = 0; i < 2; i++)
		cr_assert_eq(loop_add_child(loop, pids[i], note_end, &ended, &child), 0);
	loop_free(loop);
	cr_expect_eq(count_descriptors(), before);
	cr_expect_eq(ended.calls, 0);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		cr_expect_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
}

Test(loop_child, refuses_a_pid_that_is_nobody)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_child *child = NULL;

	cr_assert_eq(loop_add_child(loop, -5, note_end, NULL, &child), -EINVAL);
	cr_assert_null(child);
}

static void note_signal(void *data, int signal)
{
	struct ended *ended = data;

	ended->status = signal;
	ended->calls++;
	loop_stop(ended->loop);
}

Test(loop_signal, is_an_event_of_the_loop)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop};

	cr_assert_eq(loop_add_signal(loop, SIGUSR1, note_signal, &ended), 0);
	cr_assert_eq(loop_add_signal(loop, SIGHUP, note_signal, &ended), 0);
	cr_assert_eq(kill(getpid(), SIGUSR1), 0);
	cr_assert_eq(ended.calls, 0, "not before the loop runs");
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(ended.status, SIGUSR1);
	cr_assert_eq(kill(getpid(), SIGHUP), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(ended.status, SIGHUP);
	cr_assert_eq(ended.calls, 2);
}

Test(loop_signal, has_one_taker)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();

	cr_assert_eq(loop_add_signal(loop, SIGUSR1, note_signal, NULL), 0);
	cr_assert_eq(loop_add_signal(loop, SIGUSR1, note_signal, NULL), -EEXIST);
	cr_assert_eq(loop_add_signal(loop, 0, note_signal, NULL), -EINVAL);
	cr_assert_eq(loop_add_signal(loop, 10000, note_signal, NULL), -EINVAL);
}

/* An orphan that no test has ended ends after so many seconds. */
#define ORPHAN_S 60

/* Start a child that ends with status 7 and leaves an orphan, which leaves the session and has a
 * child of its own. *ret_orphans: both. */
static pid_t leave_orphans(pid_t ret_orphans[2])
{
	int ends[2];
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		if (fork() > 0)
			_exit(7);
		alarm(ORPHAN_S);
		ret_orphans[0] = setsid();
		ret_orphans[1] = fork();
		if (ret_orphans[1] == 0)
			alarm(ORPHAN_S);
		else if (write(ends[1], ret_orphans, 2 * sizeof(pid_t)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	cr_assert_eq(read(ends[0], ret_orphans, 2 * sizeof(pid_t)), (ssize_t)(2 * sizeof(pid_t)));
	close(ends[0]);
	close(ends[1]);
	return child;
}

static bool is_leftover(pid_t pid)
{
	return pid > 0;
}

static bool is_no_leftover(pid_t pid)
{
	return pid < 0;
}

/* Return whether the process ends and is reaped while the loop runs. */
static bool is_reaped(struct loop *loop, pid_t pid)
{
	for (int tries = 0; tries < 500 && kill(pid, 0) == 0; tries++)
		loop_run(loop, 10);
	return kill(pid, 0) < 0 && errno == ESRCH;
}

Test(loop_orphan, that_is_a_leftover_is_killed_with_its_children)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct loop_child *child = NULL;
	pid_t orphans[2];

	cr_assert_eq(loop_adopt(loop, is_leftover), 0);
	cr_assert_eq(loop_add_child(loop, leave_orphans(orphans), note_end, &ended, &child), 0);
	cr_expect(is_reaped(loop, orphans[0]));
	cr_expect(is_reaped(loop, orphans[1]));
	cr_expect_eq(ended.calls, 1);
	cr_expect_eq(WEXITSTATUS(ended.status), 7, "the status of a watched child is its own");
}

Test(loop_orphan, that_is_no_leftover_is_reaped_when_it_ends)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct ended ended = {.loop = loop, .calls_until_stop = 1};
	struct loop_child *child = NULL;
	pid_t orphans[2];

	cr_assert_eq(loop_adopt(loop, is_no_leftover), 0);
	cr_assert_eq(loop_add_child(loop, leave_orphans(orphans), note_end, &ended, &child), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(WEXITSTATUS(ended.status), 7);
	cr_assert_eq(loop_run(loop, 50), -ETIME);
	cr_expect_eq(waitpid(orphans[0], NULL, WNOHANG), 0, "it runs, and is our child");
	kill(orphans[0], SIGKILL);
	cr_expect(is_reaped(loop, orphans[0]));
	cr_expect_eq(waitpid(orphans[1], NULL, WNOHANG), 0);
	kill(orphans[1], SIGKILL);
	cr_expect(is_reaped(loop, orphans[1]));
}

Test(loop_orphan, that_is_a_leftover_ends_with_the_loop)
{
	struct loop *loop = new_loop();
	pid_t orphans[2];

	cr_assert_eq(loop_adopt(loop, is_leftover), 0);
	waitpid(leave_orphans(orphans), NULL, 0);
	loop_free(loop);
	for (int i = 0; i < 2; i++)
		cr_expect(kill(orphans[i], 0) < 0 && errno == ESRCH);
}

/* A process that ignores SIGCHLD gets none, and a daemon may inherit that. */
Test(loop_orphan, is_seen_where_sigchld_was_ignored)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	pid_t orphans[2];

	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(loop_adopt(loop, is_leftover), 0);
	leave_orphans(orphans);
	cr_expect(is_reaped(loop, orphans[0]));
	cr_expect(is_reaped(loop, orphans[1]));
}
