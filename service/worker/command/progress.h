/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/pace.h"

/*
 * The progress reports of a program, as lines of JSON on one of its descriptors.
 *
 *   {"progress": 0.5, "text": "half"}\n ──▶ a PROGRESS frame     in the pace of a call
 *   another line                        ──▶ stderr, once a call: ignored
 */

/* The program's descriptor for progress, and the variable with its number. */
#define COMMAND_PROGRESS_FD       3
#define COMMAND_PROGRESS_VARIABLE "TOOL_PROGRESS_FD=3"

/* The longest line. */
#define COMMAND_PROGRESS_LINE_BYTES 16384

/* A zeroed one, with the wire; the caller frees it. */
struct command_progress {
	int wire;
	uint64_t id; /* the number of the call */
	struct pace pace;
	struct buffer line; /* without an end so far */
	bool is_skipping;   /* the rest of a line too long */
	bool has_complained;
	struct buffer frame;
	struct json_tape tape;
};

/* Begin the call @id. */
void command_progress_begin(struct command_progress *progress, uint64_t id);

/* Take the next @size bytes written by the program. */
void command_progress_take(struct command_progress *progress, const char *bytes, size_t size);

void command_progress_deinit(struct command_progress *progress);
