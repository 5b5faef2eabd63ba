/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_FENCES_H
#define SHELL_FENCES_H

#include <stdbool.h>

#include "text.h"

/*
 * Restrictions of this process and of all programs that it will start, beside landlock, which the
 * daemon has put in force: system calls that landlock does not see, and the network.
 */

/* Restrict them for good. @has_network: they may use the network. Return whether all is in force,
 * else @why has the words. To be called before there are threads. */
bool fences_enter(bool has_network, struct text *why);

/* Part this thread, and each program that it will start, from the programs of other threads: they
 * cannot open what the others have open (/proc/PID/fd), nor their memory. Return 0 or a negative
 * errno. */
int fences_part(void);

#endif
