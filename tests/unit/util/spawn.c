/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/spawn.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The two signals that the C library keeps for itself, and leaves ignored: 32 and 33. */
#define LIBC_SIGNALS 0x180000000ull

/* Run `sh -c @script`, and return what it wrote and its wait status. */
static const char *run_script(const char *script, char *const *environment, int *ret_status)
{
	static char written[4096];
	const char *const arguments[] = {"sh", "-c", script, NULL};
	posix_spawn_file_actions_t actions;
	size_t size = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
	cr_assert_eq(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
	cr_assert_eq(posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
	cr_assert_eq(
		spawn_process(&pid, "/bin/sh", &actions, (char *const *)arguments, environment), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while ((got = read(ends[0], written + size, sizeof(written) - 1 - size)) > 0)
		size += (size_t)got;
	close(ends[0]);
	written[size] = '\0';
	cr_assert_eq(waitpid(pid, ret_status, 0), pid);
	return written;
}

/* Return the value of @field in the text of /proc/PID/status. */
static unsigned long long status_field(const char *text, const char *field)
{
	const char *at = strstr(text, field);
	unsigned long long value = ~0ull;

	cr_assert_not_null(at, "%s: %s", field, text);
	cr_assert_eq(sscanf(at + strlen(field), " %llx", &value), 1);
	return value;
}

Test(spawn, gives_a_process_its_arguments_environment_and_files)
{
	static const char *const environment[] = {"GREETING=hello", NULL};
	int status = -1;
	const char *written =
		run_script("echo $GREETING; exit 7", (char *const *)environment, &status);

	cr_expect_str_eq(written, "hello\n");
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 7);
}

Test(spawn, blocks_and_ignores_no_signal_in_the_new_process)
{
	static const char *const environment[] = {NULL};
	sigset_t all;
	const char *text;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	text = run_script("exec cat /proc/self/status", (char *const *)environment, &status);
	cr_expect_eq(status_field(text, "SigBlk:"), 0);
	cr_expect_eq(status_field(text, "SigIgn:") & ~LIBC_SIGNALS, 0);
}

Test(spawn, makes_a_process_group_that_can_be_killed_as_a_whole)
{
	static const char *const arguments[] = {"sh", "-c", "sleep 100 & sleep 100", NULL};
	static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
	cr_assert_eq(spawn_process(&pid, "/bin/sh", &actions, (char *const *)arguments,
			     (char *const *)environment),
		0);
	posix_spawn_file_actions_destroy(&actions);
	cr_expect_eq(getpgid(pid), pid);
	cr_expect_neq(getpgid(pid), getpgid(0));
	cr_expect_eq(kill(-pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status));
	cr_expect_eq(WTERMSIG(status), SIGKILL);
}

Test(spawn, returns_the_reason_when_there_is_no_such_program)
{
	static const char *const cases[] = {"/no/such/program", "/tmp", "/etc/passwd/x"};
	static const int reasons[] = {ENOENT, EACCES, ENOTDIR};
	static const char *const nothing[] = {"x", NULL};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pid_t pid = -1;

		cr_expect_eq(spawn_process(&pid, cases[i], NULL, (char *const *)nothing,
				     (char *const *)nothing),
			reasons[i], "%s", cases[i]);
	}
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
}
