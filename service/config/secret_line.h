/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "util/buffer.h"

/*
 * A file with a secret: a single line, unreadable for others. The bytes read are overwritten before
 * their memory is free for other uses.
 */

/* Read the line of the regular file at @path, of at most @size_max bytes without its newline, into
 * the empty buffer @line. @forbidden: rights that the group and others must not have. Return 0;
 * -EPERM when they have such a right; -EINVAL for another kind of file or a longer line; or the
 * negative errno of reading it. */
int secret_line_read(const char *path, mode_t forbidden, size_t size_max, struct buffer *line);

/* Return the rights that the group and others must not have on a file at @path: all of them, but a
 * credential of systemd is readable for its group, by which systemd lets the service read it. */
mode_t secret_line_forbidden(const char *path);

/* Overwrite and free the bytes of @line. */
void secret_line_deinit(struct buffer *line);
