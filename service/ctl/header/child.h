/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A program that reads what a stranger wrote, with limits of the kernel and a limit on the clock.
 *
 *   toolboxctl ──▶ leader ──▶ sh ──▶ cc ──▶ cc1
 *                  └─────── one group ───────┘     all of it ends with sh, at the limit, and when a
 *                                                  signal ends toolboxctl, SIGKILL too
 */

struct child_limits {
	unsigned long seconds;      /* processor time of each process */
	unsigned long wait_seconds; /* time of all processes on the clock */
	unsigned long memory_bytes; /* addresses of each process */
	unsigned long file_bytes;   /* the size of a file that is written */
};

/* Positive results. */
enum child_status {
	CHILD_E_LATE = 1, /* it took too long, and was ended */
};

/*
 * Run the program @arguments[0], a path, with the three descriptors as its standard ones, and wait
 * for its end. A signal that ends toolboxctl ends the group first. Return 0 with *ret_status as of
 * waitpid(), an enum child_status, or a negative errno.
 */
int child_run(char *const *arguments, const int fds[3], const struct child_limits *limits,
	int *ret_status);
