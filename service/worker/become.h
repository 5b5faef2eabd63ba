/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "util/buffer.h"
#include "worker/driver.h"

/*
 * Drivers whose host becomes another program (exec). The restrictions of the sandbox remain, and
 * the wire stays open. The LOAD frame, read already, is passed in a descriptor.
 *
 *   become_prepare   an interpreter, which has the environment of the host
 *   become_hide      a program of ours, which hides itself again (worker/confine). Other processes of the user can
 *                    read its environment and files earlier, but no descriptor on its way through a socket:
 *
 *       become_hide ─▶ memfd: environment, LOAD ─▶ LOAD_FD, a socket ─▶ exec ─▶ confine_again ─▶ become_receive
 */

/* The descriptor of the LOAD frame in the other program. */
#define LOAD_FD 4

/* Put the text of the LOAD frame into LOAD_FD, at its start, and keep the wire open. 0 or a
 * negative errno. */
int become_prepare(const struct driver_load *load);

/* Put the environment and the text of the LOAD frame on their way through LOAD_FD, and keep the
 * wire open. The program is to be executed with become_environment(). 0 or a negative errno. */
int become_hide(const struct driver_load *load);

/* Return the variables needed by a program of ours from its start on, all without secrets. */
char *const *become_environment(void);

/* In the other program: take what become_hide() has sent, set the environment, and read the text of
 * the LOAD frame to @load. LOAD_FD is closed. 0 or a negative errno. */
int become_receive(struct buffer *load);

/* Set the variables at @text, of @size bytes, in the environment of the process. Return 0, or
 * -EPROTO for another @text than an environment (util/environment.h), or -ENOMEM. */
int become_set_environment(const char *text, size_t size);

/* Find the file @name installed beside this program, usable for this process by @mode, as for
 * access(). 0 or a negative errno. */
int become_find(const char *name, int mode, char ret_path[PATH_MAX]);
