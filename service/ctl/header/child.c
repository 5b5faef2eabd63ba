/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* The status of a shell for a program that cannot be run. */
#define STATUS_ABSENT 127

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* Limit this process and what it starts to @most of @resource. */
static bool limit(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return false;
	if (now.rlim_max > most)
		now.rlim_max = most;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	return setrlimit(resource, &now) == 0;
}

/* Become the program, with every signal at its default. */
static _Noreturn void become(
	char *const *arguments, const int fds[3], const struct child_limits *limits)
{
	sigset_t none;
	bool is_good = true;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		is_good = is_good && dup2(fds[i], i) == i;
	is_good = is_good && limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, limits->seconds) &&
		  limit(RLIMIT_AS, limits->memory_bytes) && limit(RLIMIT_FSIZE, limits->file_bytes);
	if (is_good)
		execv(arguments[0], arguments);
	_exit(STATUS_ABSENT);
}

/* End as the process @pid has ended. */
static _Noreturn void end_like(pid_t pid)
{
	int status = 0;

	TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
	if (WIFSIGNALED(status)) {
		const struct rlimit no_core = {0, 0};
		sigset_t none;

		setrlimit(RLIMIT_CORE, &no_core);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* Lead the group: run the program in it, and end all of it when toolboxctl, the process @parent, is
 * killed by a signal that nothing can hold back. */
static _Noreturn void lead(
	pid_t parent, char *const *arguments, const int fds[3], const struct child_limits *limits)
{
	struct pollfd ends[] = {{.events = POLLIN}, {.events = POLLIN}};
	pid_t pid;

	ends[0].fd = pidfd_open(parent, 0);
	if (setpgid(0, 0) < 0 || ends[0].fd < 0 || getppid() != parent)
		_exit(STATUS_ABSENT);
	pid = fork();
	if (pid == 0)
		become(arguments, fds, limits);
	ends[1].fd = pid > 0 ? pidfd_open(pid, 0) : -1;
	while (ends[1].fd >= 0 && poll(ends, ARRAY_SIZE(ends), -1) < 0 && errno == EINTR)
		;
	if (!(ends[1].revents & POLLIN))
		kill(0, SIGKILL);
	end_like(pid);
}

/* Fill @ret_set with the signals that would end toolboxctl; an ignored one does not. */
static void find_ending_signals(sigset_t *ret_set)
{
	struct sigaction action;

	sigemptyset(ret_set);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		if (sigaction(ending_signals[i], NULL, &action) == 0 &&
			action.sa_handler != SIG_IGN)
			sigaddset(ret_set, ending_signals[i]);
}

/* Wait for the end of the process, a signal of @signals, which stays pending, or the limit. */
static int wait_for_end(pid_t pid, const sigset_t *signals, unsigned long seconds)
{
	cleanup_close int process = pidfd_open(pid, 0);
	cleanup_close int signal = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	struct pollfd sources[] = {
		{.fd = process, .events = POLLIN}, {.fd = signal, .events = POLLIN}};
	uint64_t end = clock_now_ms() + seconds * (uint64_t)MS_PER_S;

	if (process < 0 || signal < 0)
		return -errno;
	for (;;) {
		uint64_t now = clock_now_ms();
		int n = now < end ? poll(sources, ARRAY_SIZE(sources), (int)(end - now)) : 0;

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			return 0;
		if (n == 0 && now >= end)
			return CHILD_E_LATE;
	}
}

int child_run(char *const *arguments, const int fds[3], const struct child_limits *limits,
	int *ret_status)
{
	sigset_t signals;
	sigset_t before;
	pid_t us = getpid();
	pid_t pid;
	int r;

	find_ending_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	/* A parent may have left it ignored: then no process has a status. */
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid == 0)
		lead(us, arguments, fds, limits);
	if (pid < 0) {
		r = -errno;
	} else {
		/* Whichever of both is first: the group is there when it is killed. */
		setpgid(pid, pid);
		r = wait_for_end(pid, &signals, limits->wait_seconds);
		kill(-pid, SIGKILL);
		TEMP_FAILURE_RETRY(waitpid(pid, ret_status, 0));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
