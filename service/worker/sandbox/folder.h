/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The folder for temporary files of a host that may write nowhere else (docs/sandbox.md).
 *
 *   host starts ──▶ /tmp/toolboxd-host-XXXXXX, locked (flock), ──▶ its guard removes it, after
 *                   in TMPDIR of its programs                      the last of its processes
 *
 * The lock belongs to the guard and the host together, and ends with them. A folder of the same
 * user that is not locked was left by a guard that was killed: the next guard that ends removes it.
 */

/* Make the folder, and set TMPDIR to it. It is made in TMPDIR, or in /tmp. Return the descriptor
 * that locks it (close-on-exec), which stays open until the process ends, with a path that the
 * caller frees; or a negative errno. */
int folder_make(char **ret_path);

/* Remove the folder and all that is in it, as far as that is possible, and those beside it that
 * were left. Links are not followed. */
void folder_remove(const char *path);
