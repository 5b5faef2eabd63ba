/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The system calls that open, make, move or remove files by their paths, read from the memory of
 * the process waiting in such a call:
 *
 *   openat(5, "../log", O_WRONLY | O_CREAT) ─▶ /srv/box/log   needs MAKE_REG in /srv/box
 *
 * Calls that only look (stat(), access(), readlink()) and execve() need no right of landlock. A
 * call on an open file has no path.
 */

/* One path of a call. */
struct trace_use {
	char given[PATH_MAX]; /* as the process wrote it */
	char path[PATH_MAX];  /* absolute, without links */
	char place[PATH_MAX]; /* the file or folder whose rights count: of a made, moved or removed
		             * file, its folder */
	uint64_t rights;      /* LANDLOCK_ACCESS_FS_… needed there; 0: none */
};
#define TRACE_USES_MAX 2

/* Return the numbers of these calls, *ret_n of them. */
const int *trace_calls_numbers(size_t *ret_n);

/* Read the uses of the waiting @call. The rest of the process may change its memory meanwhile: the
 * uses are for a description, never for a decision. A missing file needs nothing. Return 0, or a
 * negative errno when the memory or the folder of the process cannot be read. */
int trace_calls_read(
	const struct seccomp_notif *call, struct trace_use ret_uses[TRACE_USES_MAX], size_t *ret_n);
