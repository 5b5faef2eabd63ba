/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "host/output_tail.h"
#include "loop/loop.h"
#include "util/log.h"

/*
 * The output of a toolbox, as lines of our log.
 *
 *   pipe ──▶ lines ──▶ at most bytes_max per call ──▶ at a limited rate ──▶ log_info
 *                                                 └──▶ output_tail
 *
 * All of it is read, even if it is not logged: a toolbox never waits for the log.
 */

/* The size of the pieces into which longer lines are cut. */
#define OUTPUT_LINE_BYTES 1024

struct output {
	int fd; /* owned; negative: none */
	struct loop_source *source;
	char *toolbox_id;         /* owned */
	struct output_tail *tail; /* borrowed; keeps the last lines; NULL: none does */
	size_t bytes_max;
	size_t bytes; /* logged since output_begin_call */
	bool is_cut;  /* there were more than bytes_max, and that was logged */
	struct log_rate rate;
	size_t last_size; /* size of the last line since output_begin_call: see output_finish() */
	size_t line_size;
	char line[OUTPUT_LINE_BYTES];
};

/* Read the pipe @fd on @loop; takes it over, also on failure. @toolbox_id is copied, @tail borrowed
 * or NULL. Returns 0 or a negative errno. Call output_deinit in any case. */
int output_init(struct output *output, struct loop *loop, int fd, const char *toolbox_id,
	struct output_tail *tail, size_t bytes_max);

/* Log what is in the pipe now (no more than a call may print). The last line of the call is then in
 * line, with last_size bytes. */
void output_finish(struct output *output);

/* Finish, and close the pipe. A zeroed struct with a negative fd may be passed. */
void output_deinit(struct output *output);

/* Begin a call, which may print bytes_max anew. */
static inline void output_begin_call(struct output *output)
{
	output->bytes = 0;
	output->is_cut = false;
	output->last_size = 0;
}
