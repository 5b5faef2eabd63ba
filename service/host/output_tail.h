/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The last lines printed by the hosts of a package. Zeroed, there are none. */

#define OUTPUT_TAIL_LINES      10
#define OUTPUT_TAIL_LINE_BYTES 256

struct output_tail_line {
	int64_t at_ns; /* stamp_now_ns() */
	size_t size;
	char text[OUTPUT_TAIL_LINE_BYTES]; /* any bytes; the rest of a longer line is left out */
};

struct output_tail {
	struct output_tail_line *lines; /* a ring; NULL: there was none yet */
	uint64_t n_lines;               /* all that were added */
};

/* Add the line @text of @size bytes. The frame of a stack trace is left out, since the reason of a
 * failure is before the frames, and any line without memory. */
void output_tail_add(struct output_tail *tail, const char *text, size_t size);

/* Return the line at @index, from 0, the oldest one first; NULL after the last. */
const struct output_tail_line *output_tail_line(const struct output_tail *tail, size_t index);

/* Free the memory of @tail. */
void output_tail_deinit(struct output_tail *tail);
