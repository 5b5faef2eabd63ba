/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "call/toolbox_sandbox.h"
#include "util/buffer.h"

/*
 * Files, by the kernel's landlock: from here on this process and what it starts may open only what
 * is on a list (docs/sandbox.md). It grew over the years, and each of its versions (ABI) is used as
 * far as it goes:
 *
 *   1  Linux 5.13   reading, writing, making, removing      4  6.7    TCP
 *   2       5.19    moving between folders                  5  6.10   ioctl of devices
 *   3       6.2     truncating                              6  6.12   signals, abstract sockets
 *
 * Not within its reach, in any version: UDP, unix sockets that have a path, and what is known of a
 * file without opening it.
 */

/* The version that the kernel has, 0 for none. */
int landlock_abi(void);

/* Which of the toolbox's own paths could not be opened. */
struct landlock_failure {
	const char *list; /* "read" or "write" */
	size_t index;
	const char *path; /* borrowed from the list */
	int error;        /* negative errno */
};

enum landlock_status {
	LANDLOCK_E_PATH = 1, /* nothing was restricted; the failure says where */
};

/*
 * Restrict to what @sandbox, of a class below `command`, allows, and to the file @library (NULL:
 * none); with @has_neighbours to the libraries in its folder too. @abi is not 0; no_new_privs is
 * set. 0, LANDLOCK_E_PATH, or a negative errno.
 */
int landlock_enter(int abi, const struct toolbox_sandbox *sandbox, const char *library,
	bool has_neighbours, struct landlock_failure *ret_failure);
