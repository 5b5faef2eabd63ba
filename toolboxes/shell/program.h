/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_PROGRAM_H
#define SHELL_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

/*
 * The program of a session, in a session of the kernel of its own.
 *
 *   tty     a PTY, of which the program has the other side
 *   pipes   one for its input, one for its output and errors together
 */

struct program {
	pid_t pid;
	int pidfd;
	int output; /* non-blocking */
	int input;  /* non-blocking; the same descriptor with a PTY */
};

/* Close *fd unless it is -1, which it is from then on. */
void close_fd(int *fd);

/* Start @argv in the folder @workdir. Return whether it was started; else @why has the words. */
bool program_start(char *const *argv, const char *workdir, bool has_tty,
	struct program *ret_program, struct text *why);

/* Send @signal to all processes of the kernel's session @pid, which began with that process. It has
 * not been waited for, so no other process has its number. No process: @pid is -1. */
void program_signal_all(pid_t pid, int signal);

/* Kill the process @pid and all of its session, and wait for it; nothing, if @pid is -1. */
void program_end(pid_t pid);

#endif
