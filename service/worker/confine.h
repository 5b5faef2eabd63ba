/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Restrict this process before it hosts a toolbox. Every host does this first, in this order; the
 * sandbox of its toolbox follows later (worker/sandbox/sandbox.h):
 *
 *   1. no other process of its user reads its memory or environment
 *   2. it dies with its parent, which must still be the maker of the socket @wire_fd
 *   3. it keeps only the descriptors 0, 1, 2, the wire, the ring and the copies of its libraries,
 *      and passes the last three to no program
 *   4. it leaves no core dump
 *   5. it reads and writes numbers as C does, even if a toolbox changes the locale of the process
 *
 * Return 0 or a negative errno; after an error nothing may be loaded.
 */
int confine(int wire_fd);

/* Do step 1 again, in the program after the exec of a host. 0 or a negative errno. */
int confine_again(void);
