/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "worker/driver.h"

/*
 * Drivers whose host becomes another program (exec). The restrictions of the sandbox remain, and the wire
 * stays open. The LOAD frame, which was read already, is passed in a descriptor.
 */

/* The descriptor of the LOAD frame in the other program. */
#define LOAD_FD 4

/* Put the text of the LOAD frame into LOAD_FD, at its start, and keep the wire open. 0 or a negative errno. */
int become_prepare(const struct driver_load *load);

/* Find the file @name that is installed beside this program. 0 or a negative errno. */
int become_find(const char *name, char ret_path[PATH_MAX]);
