/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/buffer.h"

/*
 * Text for a terminal, in lines broken between words:
 *
 *   error toolbox.d/weather.json:1 /tools: must have     48 columns
 *     at least 1 element, has 0
 *
 * The widths of characters need the LC_CTYPE of a UTF-8 locale: a character outside of the locale
 * ends the measurement.
 */

/* Return the columns of the terminal @fd, or 0 for another file. */
size_t wrap_columns(int fd);

/* Return how many bytes at the start of @size bytes of UTF-8 fit into @columns; @ret_width is their
 * columns. Characters that print nothing take none. */
size_t wrap_prefix(const char *text, size_t size, size_t columns, size_t *ret_width);

/* Append the line @text in lines of @columns columns (0: it is not broken), the first with @first
 * before it; all others are indented by @indent. A word longer than a line is broken, after a slash
 * if there is one. */
void wrap_append(struct buffer *out, const char *text, size_t size, size_t first, size_t columns,
	size_t indent);
