/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * The folder for temporary files of a host without other writable places (docs/sandbox.md).
 *
 *   host starts ──▶ /tmp/toolboxd-host-XXXXXX, locked (flock), ──▶ its guard removes it, after
 *                   in TMPDIR of its programs                      the last of its processes
 *
 * The lock belongs to the guard and the host together, and ends with them. An unlocked folder of
 * the same user is left of a killed guard. The next guard removes it when it starts or ends, and so
 * does the next daemon, which may start no guard (core/leftovers.h).
 */

/* The parent of the folders where TMPDIR is not set, as in a host. */
#define HOST_FOLDER_PARENT "/tmp"

/* Make the folder, and set TMPDIR to it. It is made in TMPDIR, or in HOST_FOLDER_PARENT. Return the
 * descriptor of its lock (close-on-exec), open until the process ends, with a path that the caller
 * frees; or a negative errno. */
int host_folder_make(char **ret_path);

/* Remove the leftover folders beside the folder @path, until @is_over (NULL: all). Links are not
 * followed. */
void host_folder_remove_left(const char *path, bool (*is_over)(void *data), void *data);

/* Remove the folder with its contents, as far as possible, and then the leftover ones. */
void host_folder_remove(const char *path);
