/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "worker/command/progress.h"

/*
 * One run of a program.
 *
 *   input ──▶ a file in memory ──▶ 0 ┌─────────┐ 1 ──▶ pipe ──▶ output    at most output_max
 *                                    │ program │ 2 ──▶ pipe ──▶ errors    its last errors_max bytes
 *                                    │         │             └▶ our 2     its first, as they come
 *                                    └─────────┘ 3 ──▶ pipe ──▶ progress  its lines, as they come
 *                                     a group of its own
 *
 *   started ──▶ stdout closed ──▶ exited ──▶ the rest of its group is killed
 *      └── output_max exceeded: the group is killed at once
 *
 * The whole input exists before the program starts, so the host never waits until it is read. A
 * process that holds stdout open keeps the call running. Shortly before its deadline the group of a program that has
 * ended is killed, so that its output is not lost. The daemon ends any other call at its deadline,
 * together with this host and every process below it (worker/sandbox/guard.h).
 */
struct command_run {
	/* Set by the caller. */
	const char *program;
	char *const *arguments;
	char *const *environment;
	const char *cwd; /* NULL: the folder of this process */
	const char *input;
	size_t input_size;
	size_t output_max;
	size_t errors_max;
	uint32_t patience_ms; /* until other processes that hold stdout are killed */
	struct command_progress *progress;

	/* Set by command_run(). */
	struct buffer output;
	struct buffer errors; /* only its last errors_max bytes are valid */
	bool is_too_large;    /* output_max was exceeded */
	bool is_held;         /* the program had ended when others that held stdout were killed */
	int status;           /* as from wait() */
};

/* Run the program. The buffers are emptied first; the caller frees them. Return 0, or the negative
 * errno of a program that could not be started. */
int command_run(struct command_run *run);

/* Return the valid part of errors. */
const char *command_run_errors(const struct command_run *run, size_t *ret_size);

/* Free buffers that grew large. */
void command_run_trim(struct command_run *run);

void command_run_deinit(struct command_run *run);
