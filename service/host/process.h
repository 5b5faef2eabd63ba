/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "util/file/sealed_file.h"
#include "wire/ring.h"
#include "wire/wire.h"

/*
 * A new process for a toolbox, which inherits these and nothing else:
 *
 *   0     /dev/null                      environment   PATH, HOME, LANG, USER, TZ of the daemon's
 *   1, 2  one pipe, read by us           signals       all default, none blocked
 *   3     the wire, a stream socket      group         its own
 *   4, …  sealed copies of its libraries, and the descriptors of a ring, if any (wire/wire.h)
 *
 * It is spawned, not forked: the cost does not grow with the daemon, and the process never sees
 * memory of the daemon.
 */
struct process {
	pid_t pid;
	int wire;   /* our end of the socket; blocking, for MSG_DONTWAIT */
	int output; /* our end of the pipe; does not block */
};

/* Run @program with @toolbox_id as its only argument, with the copies @libraries (NULL: none), and
 * with @ring, unless it has no memory. Returns 0, with the descriptors and the child owned by the
 * caller, or a negative errno (-ENOENT: no such program). */
int process_spawn(const char *program, const char *toolbox_id,
	const struct sealed_file *const libraries[WIRE_LIBRARIES_MAX], const struct ring *ring,
	struct process *ret_process);

/* The difference between the niceness of a yielding process and the daemon's. With a difference of
 * 5, four tools writing without end hold a call up for five times as long. */
#define PROCESS_NICE 10

/* Make the process group @pid nicer than the daemon, for the rest of its life: all threads of its
 * processes, and later ones. A service manager may refuse that to its unit: then the group runs on
 * as it is. */
void process_yield(pid_t pid);
