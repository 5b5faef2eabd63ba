/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "fences.h"

#define TTY_ROWS    24
#define TTY_COLUMNS 80

/* More variables than any environment of a host has. */
#define VARIABLES_MAX 512

/* The descriptors of a program: of ours, and of the program. -1: none. */
struct ends {
	int output;
	int input;
	int its_output;
	int its_input;
	char tty[64]; /* the other side of a PTY */
};

void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_ends(struct ends *ends)
{
	if (ends->input == ends->output)
		ends->input = -1;
	close_fd(&ends->output);
	close_fd(&ends->input);
	close_fd(&ends->its_output);
	close_fd(&ends->its_input);
}

static int open_tty(struct ends *ends)
{
	struct winsize size = {.ws_row = TTY_ROWS, .ws_col = TTY_COLUMNS};

	ends->output = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	ends->input = ends->output;
	if (ends->output < 0 || grantpt(ends->output) < 0 || unlockpt(ends->output) < 0 ||
		ptsname_r(ends->output, ends->tty, sizeof(ends->tty)) != 0)
		return -errno;
	ioctl(ends->output, TIOCSWINSZ, &size);
	return 0;
}

static int open_pipes(struct ends *ends)
{
	int in[2];
	int out[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	ends->its_input = in[0];
	ends->input = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	ends->output = out[0];
	ends->its_output = out[1];
	if (fcntl(ends->input, F_SETFL, O_NONBLOCK) < 0 ||
		fcntl(ends->output, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

/* Write the environment of this process to @ret, with another TERM. */
static void set_environment(bool has_tty, char *ret[VARIABLES_MAX + 2])
{
	static char tty[] = "TERM=xterm";
	static char pipe[] = "TERM=dumb";
	size_t n = 0;

	for (char **entry = environ; *entry && n < VARIABLES_MAX; entry++)
		if (strncmp(*entry, "TERM=", strlen("TERM=")) != 0)
			ret[n++] = *entry;
	ret[n++] = has_tty ? tty : pipe;
	ret[n] = NULL;
}

/* After setsid(2), the first terminal that is opened controls the session. */
static int set_actions(
	posix_spawn_file_actions_t *actions, const struct ends *ends, const char *workdir)
{
	int r = posix_spawn_file_actions_addchdir_np(actions, workdir);

	if (r == 0 && *ends->tty)
		r = posix_spawn_file_actions_addopen(actions, 0, ends->tty, O_RDWR, 0);
	else if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, ends->its_input, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(actions, *ends->tty ? 0 : ends->its_output, 1);
	return r ? r : posix_spawn_file_actions_adddup2(actions, 1, 2);
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all;
	sigset_t none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = r ? r : posix_spawnattr_setsigdefault(attributes, &all);
	return r ? r : posix_spawnattr_setsigmask(attributes, &none);
}

/* Return 0 or a positive errno. */
static int start(char *const *argv, const struct ends *ends, const char *workdir, pid_t *ret_pid)
{
	char *environment[VARIABLES_MAX + 2];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return r;
	r = posix_spawnattr_init(&attributes);
	if (r == 0) {
		set_environment(*ends->tty, environment);
		r = set_attributes(&attributes);
		r = r ? r : set_actions(&actions, ends, workdir);
		r = r ? r
		      : posix_spawnp(ret_pid, argv[0], &actions, &attributes, argv, environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static bool has_no_folder(const char *workdir, struct text *why)
{
	int fd = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return false;
	}
	text_put(why, "workdir ");
	text_add_name(why, workdir);
	text_printf(why, ": %s", strerror(errno));
	return true;
}

/* A program to start by a thread of its own. */
struct starting {
	char *const *argv;
	const struct ends *ends;
	const char *workdir;
	pid_t pid;
	int error;
};

static void *run_start(void *data)
{
	struct starting *starting = data;

	starting->error = -fences_part();
	if (starting->error == 0)
		starting->error =
			start(starting->argv, starting->ends, starting->workdir, &starting->pid);
	return NULL;
}

/* Start a program apart from all others: its thread has parted from them. Return 0 or a positive
 * errno. */
static int start_apart(
	char *const *argv, const struct ends *ends, const char *workdir, pid_t *ret_pid)
{
	struct starting starting = {.argv = argv, .ends = ends, .workdir = workdir, .pid = -1};
	pthread_t thread;
	int r = pthread_create(&thread, NULL, run_start, &starting);

	if (r == 0)
		r = pthread_join(thread, NULL);
	if (r == 0)
		r = starting.error;
	*ret_pid = starting.pid;
	return r;
}

bool program_start(char *const *argv, const char *workdir, bool has_tty,
	struct program *ret_program, struct text *why)
{
	struct ends ends = {-1, -1, -1, -1, ""};
	pid_t pid = -1;
	int pidfd;
	int r;

	if (has_no_folder(workdir, why))
		return false;
	r = has_tty ? open_tty(&ends) : open_pipes(&ends);
	if (r < 0)
		text_printf(
			why, "no %s can be had: %s", has_tty ? "terminal" : "pipe", strerror(-r));
	r = r < 0 ? -r : start_apart(argv, &ends, workdir, &pid);
	if (r && why->size == 0) {
		text_add_name(why, argv[0]);
		text_printf(why, ": %s%s", strerror(r),
			r == E2BIG ? "; write the command to a file, and run the file" : "");
	}
	if (r) {
		close_ends(&ends);
		return false;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		text_printf(why, "it cannot be watched: %s", strerror(errno));
		program_end(pid);
		close_ends(&ends);
		return false;
	}
	close_fd(&ends.its_input);
	close_fd(&ends.its_output);
	*ret_program = (struct program){pid, pidfd, ends.output, ends.input};
	return true;
}

/* Send @signal to @process if it is in the kernel's session @pid. A process that has got its number
 * meanwhile gets no signal. */
static void signal_if_in(pid_t pid, pid_t process, int signal)
{
	int pidfd;

	if (getsid(process) != pid)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, process, 0);
	if (pidfd >= 0 && getsid(process) == pid)
		syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
	close_fd(&pidfd);
}

void program_signal_all(pid_t pid, int signal)
{
	DIR *folder;
	struct dirent *entry;

	if (pid <= 0)
		return;
	kill(-pid, signal);
	folder = opendir("/proc");
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			signal_if_in(pid, atoi(entry->d_name), signal);
	if (folder)
		closedir(folder);
}

void program_end(pid_t pid)
{
	if (pid <= 0)
		return;
	program_signal_all(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
