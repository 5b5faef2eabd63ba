/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Append the whole of the file @path to @contents.
 *
 * At most @size_max bytes are read. Only regular files are (a FIFO or a device in a registration
 * folder must not stop the loop). Returns 0; -EFBIG for a larger file, -EISDIR or -EINVAL for what
 * is no regular file, else the negative errno of open or read.
 */
int file_read(const char *path, size_t size_max, struct buffer *contents);

/* As file_read, but from an open descriptor, until its end, whatever it is (a pipe, a terminal). */
int file_read_fd(int fd, size_t size_max, struct buffer *contents);

/* Whether @error (a negative errno) tells that memory or descriptors are short, and so nothing
 * about the file: what was known of it still holds. */
bool file_error_is_shortage(int error);
