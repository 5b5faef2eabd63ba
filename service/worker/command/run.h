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
 *      ├──▶ exited, stdout held by others ── COMMAND_HELD_MS ──▶ these are killed, too
 *      └──▶ output_max exceeded: the group is killed at once
 *
 * The whole input exists before the program starts, so the host never waits until it is read. For a
 * short time after the end of the program, its output includes writes of other processes to its
 * stdout. The daemon ends a call at its deadline, together with this host and every process below
 * it (worker/sandbox/guard.h).
 */

/* The time for other processes to close stdout after the end of the program. */
#define COMMAND_HELD_MS 1000

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
	uint32_t patience_ms; /* the time after the start when others have to have closed stdout */
	struct command_progress *progress;

	/* Set by command_run(). */
	struct buffer output;
	struct buffer errors; /* only its last errors_max bytes are valid */
	bool is_too_large;    /* output_max was exceeded */
	int status;           /* as from wait() */
};

/* Run the program. The buffers are emptied first; the caller frees them. Return 0, or the negative
 * errno of a failed start. */
int command_run(struct command_run *run);

/* Return the valid part of errors. */
const char *command_run_errors(const struct command_run *run, size_t *ret_size);

/* Free large buffers. */
void command_run_trim(struct command_run *run);

void command_run_deinit(struct command_run *run);
