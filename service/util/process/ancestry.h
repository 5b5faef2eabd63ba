/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* Whether a process comes from this one, by /proc. The process may end meanwhile, and its number
 * may then belong to another process: an answer is as good as the number. */

/* Return 1 if @pid is this process or a descendant of it, 0 if not, or a negative errno for an
 * unreadable process, such as -ENOENT for an ended process. */
int ancestry_is_ours(pid_t pid);

/* Return the parent of @pid, 0 without a parent, or a negative errno if the process cannot be
 * read. */
pid_t ancestry_parent(pid_t pid);
