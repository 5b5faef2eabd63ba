/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "call/toolbox_sandbox.h"
#include "worker/sandbox/seal.h"

/* The headers come from the build system; the kernel may be newer. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

/*
 * File access, restricted by the kernel's landlock: from here on this process and its children may
 * open only the files on a list (docs/sandbox.md). Each version (ABI) of landlock added something,
 * and all of it is used:
 *
 *   1  Linux 5.13   reading, writing, making, removing      4  6.7    TCP
 *   2       5.19    moving between folders                  5  6.10   ioctl of devices
 *   3       6.2     truncating                              6  6.12   signals, abstract sockets
 *
 * No version restricts UDP, unix sockets with a path, or questions about a file without opening it.
 */

/* Return the version of the kernel, 0 for none. */
int landlock_abi(void);

/* Most entries of folders opened one by one, because a fence is inside. */
#define FENCED_ENTRIES_MAX 16384

/* The path of the toolbox that could not be opened; -E2BIG: it has more entries than that. */
struct landlock_failure {
	const char *list; /* "read" or "write" */
	size_t index;
	const char *path; /* borrowed from the list */
	int error;        /* negative errno */
};

enum landlock_status {
	LANDLOCK_E_PATH = 1, /* nothing was restricted; the failure names the path */
};

/* Places needed by the host, beside the class's and the toolbox's. */
struct landlock_places {
	/* libraries: of the ones found by path the file is readable, and beside one without a copy
	 * the libraries in its folder are */
	const struct seal *seals;
	size_t n_seals;
	const char *folder; /* a writable folder; NULL: none */
};

/* The rules in force, for a description of their denials. More are not kept. */
#define LANDLOCK_RULES_MAX 512
struct landlock_rules {
	uint64_t restricted; /* LANDLOCK_ACCESS_FS_… required for anything of the kind */
	uint32_t n;
	struct {
		dev_t device;
		ino_t inode;
		uint64_t allowed; /* to this file, and to everything below this folder */
	} items[LANDLOCK_RULES_MAX];
};

/* Return the rights of @rights denied by @rules at @path, which is absolute and without links. As
 * the kernel does, look for the rules of the path and of each folder above it. */
uint64_t landlock_denied(const struct landlock_rules *rules, const char *path, uint64_t rights);

/*
 * Restrict this process to the files that @sandbox and @places allow:
 *
 *   compute, net           the libraries and data of the system, `read`, `write`
 *   command, with `read`   reading: the folders of the system, `read`; writing as before
 *   command, with `write`  reading and writing: the folders of the system (only to read),
 *                          `read`, `write`; no signal, and no abstract socket, of others
 *
 * In class command any program may be executed, but a script has to be read by its interpreter.
 * @abi is not 0 and no_new_privs is set. @ret_rules (NULL: not wanted) gets the rules. Return 0,
 * LANDLOCK_E_PATH, or a negative errno.
 */
int landlock_enter(int abi, const struct toolbox_sandbox *sandbox,
	const struct landlock_places *places, struct landlock_rules *ret_rules,
	struct landlock_failure *ret_failure);
