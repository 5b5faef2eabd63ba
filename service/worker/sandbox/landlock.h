/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "call/toolbox_sandbox.h"
#include "util/buffer.h"

/*
 * File access, restricted by the kernel's landlock: from here on this process and its children may
 * open only the files on a list (docs/sandbox.md). Each version (ABI) of landlock added something,
 * and all of it is used:
 *
 *   1  Linux 5.13   reading, writing, making, removing      4  6.7    TCP
 *   2       5.19    moving between folders                  5  6.10   ioctl of devices
 *   3       6.2     truncating                              6  6.12   signals, abstract sockets
 *
 * No version restricts UDP, unix sockets that have a path, or what can be learned about a file
 * without opening it.
 */

/* Return the version of the kernel, 0 for none. */
int landlock_abi(void);

/* The path of the toolbox that could not be opened. */
struct landlock_failure {
	const char *list; /* "read" or "write" */
	size_t index;
	const char *path; /* borrowed from the list */
	int error;        /* negative errno */
};

enum landlock_status {
	LANDLOCK_E_PATH = 1, /* nothing was restricted; the failure names the path */
};

/*
 * Restrict this process to the files that @sandbox, of a class below `command`, allows, and to the
 * file @library (NULL: none), with @has_neighbours also to the libraries in its folder. @abi is not
 * 0 and no_new_privs is set. Return 0, LANDLOCK_E_PATH, or a negative errno.
 */
int landlock_enter(int abi, const struct toolbox_sandbox *sandbox, const char *library,
	bool has_neighbours, struct landlock_failure *ret_failure);
