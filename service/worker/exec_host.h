/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "util/buffer.h"
#include "worker/driver.h"

/*
 * Drivers whose host becomes another program (exec). The restrictions of the sandbox remain, and
 * the wire stays open. The LOAD frame, which was read already, is passed in a descriptor.
 *
 *   exec_host_prepare   an interpreter, which has the environment of the host
 *   exec_host_hide      a program of ours, which hides itself again (worker/confine). Before that
 *                       other programs of the user can read its environment and its files, but
 *                       not a descriptor on its way through a socket:
 *
 *       exec_host_hide ─▶ memfd: environment, LOAD ─▶ LOAD_FD, a socket ─▶ exec ─▶ confine_again
 *                                                                    ─▶ exec_host_receive
 */

/* The descriptor of the LOAD frame in the other program. */
#define LOAD_FD 4

/* Put the text of the LOAD frame, then @rest (may be empty), into LOAD_FD, at its start, and keep
 * the wire open. 0 or a negative errno. */
int exec_host_prepare(const struct driver_load *load, const struct buffer *rest);

/* Put the environment and the text of the LOAD frame on their way through LOAD_FD, and keep the
 * wire open. The program is to be executed with exec_host_environment(). 0 or a negative errno. */
int exec_host_hide(const struct driver_load *load);

/* Return the variables that are no secrets and that a program of ours needs from its start on. */
char *const *exec_host_environment(void);

/* In the other program: take what exec_host_hide() has sent, set the environment, and read the text
 * of the LOAD frame to @load. LOAD_FD is closed. 0 or a negative errno. */
int exec_host_receive(struct buffer *load);

/* Set the variables at @text, of @size bytes, in the environment of the process. Return 0, or
 * -EPROTO when @text is no environment (util/environment.h), or -ENOMEM. */
int exec_host_set_environment(const char *text, size_t size);

/* Find the file @name that is installed beside this program, and that this process may use as @mode
 * has it, as for access(). 0 or a negative errno. */
int exec_host_find(const char *name, int mode, char ret_path[PATH_MAX]);
