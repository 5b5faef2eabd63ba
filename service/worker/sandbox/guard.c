/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file/host_folder.h"
#include "util/process/ancestry.h"
#include "util/process/children.h"
#include "util/process/ending.h"
#include "util/process/guarded.h"

/* Pause between two looks: a killed process takes a moment to end. */
#define LOOK_NS 1000000

/* In the host: its guard. 0: no guard. */
static pid_t own_guard;

static void kill_child(void *data, pid_t pid)
{
	(void)data;
	kill(pid, SIGKILL);
}

/* Kill children until none is left: the children of a killed process become ours. The group is
 * killed as a whole, so no member can fork and escape. */
static void sweep(pid_t host)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	kill(-host, SIGKILL);
	while (children_visit(kill_child, NULL) == 0) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		nanosleep(&look, NULL);
	}
}

/* Reap ended orphans. Return whether the host has ended; the host is not reaped, so its number
 * still means its group. */
static bool has_ended(pid_t host, siginfo_t *ret_end)
{
	for (;;) {
		ret_end->si_pid = 0;
		if (waitid(P_ALL, 0, ret_end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			ret_end->si_pid == 0)
			return false;
		if (ret_end->si_pid == host)
			return true;
		waitpid(ret_end->si_pid, NULL, 0);
	}
}

/* Return whether a signal asks the guard to sweep. */
static bool has_to_sweep(void *data)
{
	const pid_t *host = data;
	sigset_t waiting;
	siginfo_t end;

	return (sigpending(&waiting) == 0 && sigismember(&waiting, SIGTERM) == 1) ||
	       has_ended(*host, &end);
}

__attribute__((noreturn)) static void guard(pid_t host, const sigset_t *signals, const char *folder)
{
	const siginfo_t told = {.si_code = CLD_KILLED, .si_status = SIGTERM};
	siginfo_t end;
	int signal;

	/* The host loads its toolbox meanwhile. No end waits for a large folder that was left. */
	if (folder)
		host_folder_remove_left(folder, has_to_sweep, &host);
	do
		signal = sigwaitinfo(signals, NULL);
	while (signal != SIGTERM && !has_ended(host, &end));
	sweep(host);
	if (folder)
		host_folder_remove(folder);
	ending_end_like(signal == SIGTERM ? &told : &end);
}

/* Set up the host, in the new process. @guard must still be its parent. */
static int become_host(pid_t guard, const sigset_t *signals)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setpgid(0, 0) < 0)
		return -errno;
	if (getppid() != guard)
		return -ESRCH;
	own_guard = guard;
	if (sigprocmask(SIG_SETMASK, signals, NULL) < 0)
		return -errno;
	return guarded_mark();
}

int guard_split(int wire_fd, const char *folder)
{
	pid_t self = getpid();
	pid_t parent = getppid();
	sigset_t signals;
	sigset_t before;
	pid_t host;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &signals, &before) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return -errno;
	if (getppid() != parent)
		return -ESRCH;
	host = fork();
	if (host < 0)
		return -errno;
	if (host == 0)
		return become_host(self, &before);
	/* Here, too: whichever process comes first, no signal to the host's group reaches ours. */
	setpgid(host, host);
	close(wire_fd);
	guard(host, &signals, folder);
}

/* Kill a child of the guard that is neither this host nor its tracer. The guard may have reaped it:
 * another process with this number by now is no child of the guard. */
static void kill_other(void *data, pid_t pid)
{
	unsigned int *n_others = data;
	cleanup_close int process = -1;

	if (pid == getpid() || pid == getppid())
		return;
	(*n_others)++;
	process = pidfd_open(pid, 0);
	if (process >= 0 && ancestry_parent(pid) == own_guard)
		pidfd_send_signal(process, SIGKILL, NULL, 0);
}

void guard_end_others(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	for (int i = 0; own_guard > 0 && i < GUARD_WAIT_MS; i++) {
		unsigned int n_others = 0;

		if (children_visit_of(own_guard, kill_other, &n_others) < 0 || n_others == 0)
			return;
		nanosleep(&look, NULL);
	}
}
