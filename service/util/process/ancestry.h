/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* Whether a process comes from this one, by /proc. It may end meanwhile, and its number may then be
 * another's: an answer is as good as the number. */

/* Return 1 if @pid is this process or a descendant of it, 0 if not, or a negative errno when that
 * cannot be read, such as -ENOENT for a process that has ended. */
int ancestry_is_ours(pid_t pid);

/* Return the parent of @pid, 0 if it has none, or a negative errno when that cannot be read. */
pid_t ancestry_parent(pid_t pid);
