/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* The children of a process, as the kernel lists them in /proc. */

/* Call @visit with @data for each unreaped child of the calling thread. The children of other
 * threads are not listed; orphans adopted by a process become children of its first thread. The
 * first several thousand are visited. @visit may kill and reap. 0 or a negative errno. */
int children_visit(void (*visit)(void *data, pid_t pid), void *data);

/* The same for the children of the first thread of the process @parent, which may reap them
 * meanwhile. */
int children_visit_of(pid_t parent, void (*visit)(void *data, pid_t pid), void *data);
