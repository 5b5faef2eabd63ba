/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/pace.h"

/*
 * The progress that a program reports, as lines of JSON on one of its descriptors.
 *
 *   {"progress": 0.5, "text": "half"}\n ──▶ a PROGRESS frame     in the pace of a call
 *   another line                        ──▶ stderr, once a call: it is ignored
 */

/* The program's descriptor for it, and the variable that has its number. */
#define COMMAND_PROGRESS_FD       3
#define COMMAND_PROGRESS_VARIABLE "TOOL_PROGRESS_FD=3"

/* The longest line. */
#define COMMAND_PROGRESS_LINE_BYTES 16384

/* A zeroed one, with the wire; the caller frees it. */
struct command_progress {
	int wire;
	uint64_t id; /* the number of the call */
	struct pace pace;
	struct buffer line; /* that has no end yet */
	bool is_skipping;   /* the rest of a line that is too long */
	bool has_complained;
	struct buffer frame;
	struct json_tape tape;
};

/* Begin the call @id. */
void command_progress_begin(struct command_progress *progress, uint64_t id);

/* Take the next @size bytes that the program wrote. */
void command_progress_take(struct command_progress *progress, const char *bytes, size_t size);

void command_progress_deinit(struct command_progress *progress);
