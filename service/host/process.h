/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/*
 * A new process for a toolbox: what it is given, and nothing else.
 *
 *   0     /dev/null                      environment   PATH, HOME, LANG, USER, TZ of ours, and what
 *                                                      is configured, which comes before those
 *   1, 2  one pipe, read by us           signals       all default, none blocked
 *   3     the wire, a stream socket      group         its own
 *
 * It is spawned, not forked: what that costs does not grow with the daemon, and no memory of the
 * daemon's is ever seen in it.
 */
struct process {
	pid_t pid;
	int wire;   /* our end of the socket; blocking, for MSG_DONTWAIT */
	int output; /* our end of the pipe; does not block */
};

/* Run @program with @toolbox_id as its only argument, and @environment (util/environment.h) beside
 * what it is given of ours. 0 with the descriptors and the child the caller's, or a negative errno
 * (-ENOENT: no such program). */
int process_spawn(const char *program, const char *toolbox_id, const char *environment,
	struct process *ret_process);
