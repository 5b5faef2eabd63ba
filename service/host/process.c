/* SPDX-License-Identifier: Apache-2.0 */
#include "host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/process/spawn.h"
#include "wire/wire.h"

static const char *const kept_variables[] = {
	"PATH",
	"HOME",
	"USER",
	"TZ",
	"TOOLBOXD_SYSROOT",
#ifdef TOOLBOXD_SANITIZED
	"ASAN_OPTIONS",
	"LSAN_OPTIONS",
	"UBSAN_OPTIONS",
	"TSAN_OPTIONS",
#endif
};

/* "SIGSTKFLT" is the longest. */
#define SIGNAL_NAME_BYTES 12

/* LANG= and the longest locale. */
#define LANG_BYTES 256

/* The variables that are kept, and LANG. */
#define KEPT_COUNT (1 + ARRAY_SIZE(kept_variables))

/* Return a copy of @fd above the low descriptors to which dup2 copies the ends of the child, so
 * that none is overwritten before it was copied; or -1. */
static int copy_above(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, WIRE_FDS_END);
}

/* Replace *@fd by its copy above. Returns 0 or a negative errno. */
static int lift_fd(int *fd)
{
	int lifted = copy_above(*fd);

	if (lifted < 0)
		return -errno;
	close(*fd);
	*fd = lifted;
	return 0;
}

/* Return the entry NAME=value of our own environment, or NULL. */
static char *find_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry;
	return NULL;
}

/* Write our own variables that a host keeps to @ret_chosen. LANG, whose text is written to
 * @ret_lang, has the locale that is in force, whatever variable gives it: containers set LC_ALL. */
static void choose_environment(char *ret_chosen[KEPT_COUNT + 1], char ret_lang[LANG_BYTES])
{
	const char *locale = environment_locale();
	size_t n = 0;

	for (size_t i = 0; i < KEPT_COUNT - 1; i++) {
		char *entry = find_variable(kept_variables[i]);

		if (entry)
			ret_chosen[n++] = entry;
	}
	if (locale && snprintf(ret_lang, LANG_BYTES, "LANG=%s", locale) < LANG_BYTES)
		ret_chosen[n++] = ret_lang;
	ret_chosen[n] = NULL;
}

/* Copies of the descriptors from WIRE_LIBRARY_FD on: of libraries, and of the ring; -1: none. */
#define LIFTED_MAX (WIRE_FDS_END - WIRE_LIBRARY_FD)
struct lifted {
	int fds[LIFTED_MAX];
};

static void lifted_deinit(struct lifted *lifted)
{
	for (size_t i = 0; i < LIFTED_MAX; i++)
		if (lifted->fds[i] >= 0)
			close(lifted->fds[i]);
}

/* Fill @ret_lifted, which the caller closes after an error, too. Returns 0 or a negative errno. */
static int lift_given(const struct sealed_file *const libraries[WIRE_LIBRARIES_MAX],
	const struct ring *ring, struct lifted *ret_lifted)
{
	int given[LIFTED_MAX];
	int r = 0;

	for (size_t i = 0; i < WIRE_LIBRARIES_MAX; i++)
		given[i] = libraries[i] ? libraries[i]->fd : -1;
	given[WIRE_RING_FD - WIRE_LIBRARY_FD] = ring->memory ? ring->memory_fd : -1;
	given[WIRE_WAKE_FD - WIRE_LIBRARY_FD] = ring->memory ? ring->wake_fd : -1;
	for (size_t i = 0; i < LIFTED_MAX; i++) {
		ret_lifted->fds[i] = given[i] >= 0 && r == 0 ? copy_above(given[i]) : -1;
		if (given[i] >= 0 && r == 0 && ret_lifted->fds[i] < 0)
			r = -errno;
	}
	return r;
}

static int set_actions(
	posix_spawn_file_actions_t *actions, int wire, int output, const struct lifted *given)
{
	int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	r = r ? r : posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
	r = r ? r : posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
	r = r ? r : posix_spawn_file_actions_adddup2(actions, wire, WIRE_FD);
	/* The daemon itself may have inherited a descriptor with this number. */
	for (size_t i = 0; r == 0 && i < LIFTED_MAX; i++)
		r = given->fds[i] >= 0
			    ? posix_spawn_file_actions_adddup2(
				      actions, given->fds[i], WIRE_LIBRARY_FD + (int)i)
			    : posix_spawn_file_actions_addclose(actions, WIRE_LIBRARY_FD + (int)i);
	return r;
}

static int start_program(const char *program, const char *toolbox_id, char **environment, int wire,
	int output, const struct lifted *given, pid_t *ret_pid)
{
	char *arguments[] = {"toolbox-host", (char *)toolbox_id, NULL};
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = set_actions(&actions, wire, output, given);
	r = r ? r : spawn_process(ret_pid, program, &actions, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

const char *host_signal_name(int signal)
{
	/* Written on first use and never changed: callers keep the pointer. */
	static char names[_NSIG][SIGNAL_NAME_BYTES];
	const char *name = sigabbrev_np(signal);

	if (signal <= 0 || signal >= _NSIG)
		return "SIG?";
	if (!*names[signal] && name)
		snprintf(names[signal], SIGNAL_NAME_BYTES, "SIG%s", name);
	else if (!*names[signal])
		snprintf(names[signal], SIGNAL_NAME_BYTES, "SIG%d", signal);
	return names[signal];
}

int process_spawn(const char *program, const char *toolbox_id,
	const struct sealed_file *const libraries[WIRE_LIBRARIES_MAX], const struct ring *ring,
	struct process *ret_process)
{
	char *chosen[KEPT_COUNT + 1];
	char lang[LANG_BYTES];
	int sockets[2];
	int pipes[2];
	int r;

	choose_environment(chosen, lang);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	cleanup_close int wire = sockets[0];
	cleanup_close int host_wire = sockets[1];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	cleanup_close int output = pipes[0];
	cleanup_close int host_output = pipes[1];

	if (fcntl(output, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	cleanup(lifted_deinit) struct lifted lifted;

	r = lift_given(libraries, ring, &lifted);
	r = r ? r : lift_fd(&host_wire);
	r = r ? r : lift_fd(&host_output);
	r = r ? r
	      : start_program(program, toolbox_id, chosen, host_wire, host_output, &lifted,
			&ret_process->pid);
	if (r)
		return r;
	ret_process->wire = take_fd(wire);
	ret_process->output = take_fd(output);
	return 0;
}

void process_yield(pid_t pid)
{
	setpriority(PRIO_PGRP, (id_t)pid, getpriority(PRIO_PROCESS, 0) + PROCESS_NICE);
}
