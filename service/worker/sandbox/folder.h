/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The folder for temporary files of a host that may write nowhere else (docs/sandbox.md).
 *
 *   host starts ──▶ /tmp/toolboxd-XXXXXX, in TMPDIR of its programs ──▶ its guard removes it, after
 *                                                                      the last of its processes
 */

/* Make the folder, and set TMPDIR to it. It is made in TMPDIR, or in /tmp. Return 0, with a path that
 * the caller frees, or a negative errno. */
int folder_make(char **ret_path);

/* Remove the folder and all that is in it, as far as that is possible. Links are not followed. */
void folder_remove(const char *path);
