/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <spawn.h>

/* posix_spawn() with these @actions for a process that begins as new: in a group of its own, with
 * every signal at its default and none blocked. 0, or a positive errno as posix_spawn() gives it.
 */
int spawn_process(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,
	char *const *arguments, char *const *environment);
