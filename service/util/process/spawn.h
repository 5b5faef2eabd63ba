/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <spawn.h>

/* Start @program by posix_spawn() with @actions, in a process group of its own, with every signal
 * at its default and none blocked. Return 0, or a positive errno as posix_spawn() does. */
int spawn_process(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,
	char *const *arguments, char *const *environment);
