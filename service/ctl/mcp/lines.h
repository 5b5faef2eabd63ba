/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Lines of messages: of stdin, which are bounded, and of stdout. A stdin watched by epoll is read
 * by lines_read(), a file by lines_next(). */

/* The longest message in bytes: a request with its arguments fits in a frame. */
#define LINES_BYTES_MAX (((size_t)10 << 20) - 65536)

/* A zeroed one; its buffer is freed with buffer_deinit(). */
struct lines {
	struct buffer bytes; /* bytes read */
	size_t n_taken;      /* bytes of taken lines */
	bool is_skipping;    /* the rest of a line too long */
};

/* Take a whole line, without its end; NULL for a line too long. */
typedef void (*lines_function)(void *data, const char *text, size_t size);

/* Read from @fd once, and call @function for each complete line. Return false at the end of the
 * input, whose last line may have no end, or when it cannot be read. */
bool lines_read(struct lines *lines, int fd, lines_function function, void *data);

/* Read from the file @fd as far as the next line, and call @function for the line, unless blank.
 * The last one may have no end. Return 1, 0 when there is no further line, or a negative errno. */
int lines_next(struct lines *lines, int fd, lines_function function, void *data);

/* Write @line and its end to @fd, and empty it. Return 0 or a negative errno. */
int lines_write(int fd, struct buffer *line);
