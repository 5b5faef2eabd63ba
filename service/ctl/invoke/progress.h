/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * The progress of a call, on one line of the terminal of stderr, drawn anew each time. Other files
 * get nothing. terminal_clear_line() takes it away.
 *
 *   adding ███████████░░░░░ 66 %  2.1 s   (Ctrl-C cancels)
 */
struct progress {
	bool is_shown; /* stderr is a terminal that can draw a line anew */
	uint64_t began_ms;
	struct buffer text; /* the last text from the tool, one line */
	double done;        /* 0 to 1; negative: not known */
};

void progress_begin(struct progress *progress);

/* Take over what an event has, and draw the line. */
void progress_take(struct progress *progress, const struct json_tape *event);

/* Draw the line with the time passed, from the second second on. */
void progress_tick(struct progress *progress);

void progress_deinit(struct progress *progress);

/* Append the line for a terminal of @columns columns, after @seconds. */
void progress_write(const struct progress *progress, size_t columns, double seconds, bool has_utf8,
	struct buffer *out);
