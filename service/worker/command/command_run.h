/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * One program, from its start to its end.
 *
 *   input ──▶ a file in memory ──▶ 0 ┌─────────┐ 1 ──▶ pipe ──▶ output    at most output_max
 *                                    │ program │ 2 ──▶ pipe ──▶ errors    its last errors_max bytes
 *                                    └─────────┘
 *                                     a group of its own
 *
 *   started ──▶ stdout closed ──▶ exited ──▶ what is left of its group is killed
 *      └── output_max passed: the group is killed at once
 *
 * Its input is all there before it starts, so nobody ever waits for it to be read. What holds
 * stdout open keeps the call going, however long that is: the daemon ends it at its deadline, with
 * this whole process and everything below it (worker/sandbox/guard.h).
 */
struct command_run {
	/* To be set. */
	const char *program;
	char *const *arguments;
	char *const *environment;
	const char *cwd; /* NULL: ours */
	const char *input;
	size_t input_size;
	size_t output_max;
	size_t errors_max;

	/* What came of it. */
	struct buffer output;
	struct buffer errors; /* its last errors_max bytes count */
	bool is_too_large;    /* output_max was passed */
	int status;           /* as wait() tells it */
};

/* Run it. The buffers are emptied first; they are the caller's to give back. 0, or a negative errno
 * with which it could not be started. */
int command_run(struct command_run *run);

/* The part of errors that counts. */
const char *command_run_errors(const struct command_run *run, size_t *ret_size);

/* Give back what grew large. */
void command_run_trim(struct command_run *run);

void command_run_deinit(struct command_run *run);
