/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * The mark of the processes below a guard (worker/sandbox/guard.h).
 *
 * The mark is a hard limit RLIMIT_LOCKS under the daemon's limit. Linux has not used this limit
 * since 2.4.25. Every descendant inherits it through fork(), exec() and setsid(), and only a
 * process with CAP_SYS_RESOURCE can raise it again. The mark outlives the guard: the daemon knows
 * by the mark an orphan left by a killed guard.
 */

/* Mark this process and, by inheritance, all that it starts. 0 or a negative errno. */
int guarded_mark(void);

/* Return whether the process @pid has the mark and this process has not. false if its limits cannot
 * be read: it is another user's. */
bool guarded_has_mark(pid_t pid);
