/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/buffer.h"
#include "util/file/stamp.h"

/*
 * Append the whole file at @path to @contents, at most @size_max bytes. Only regular files are
 * read: a FIFO or a device in a registration folder must not block the loop. Return 0; -EFBIG for a
 * larger file; -EISDIR or -EINVAL for anything but a regular file; or the negative errno of open or
 * read.
 */
int file_read(const char *path, size_t size_max, struct buffer *contents);

/* Do the same, and write the stamp of the file from before it was read to @ret_stamp (NULL: not
 * wanted). It is written on success only. */
int file_read_stamped(
	const char *path, size_t size_max, struct buffer *contents, struct stamp *ret_stamp);

/* As file_read(), but from an open descriptor of any kind (a pipe, a terminal) until its end. */
int file_read_fd(int fd, size_t size_max, struct buffer *contents);

/* Write all @size bytes at @bytes to @fd. Return 0 or a negative errno. */
int file_write_all(int fd, const char *bytes, size_t size);

/* Make the folder @path and its parents, where they are absent. Return 0 or a negative errno. */
int file_make_folders(const char *path);

/*
 * Replace the file @name of the folder @folder (made if absent) by @size bytes at @bytes, with
 * @mode. Every reader has the old file or the new one, also after a power cut. Return 0 or a
 * negative errno; the old file then stays unchanged.
 */
int file_replace(const char *folder, const char *name, const char *bytes, size_t size, mode_t mode);

/*
 * Let one writer at a time change the files of the folder @folder (made if absent): take the
 * advisory lock of its file `.lock`. Wait for another writer for @wait_ms. Return 0 with *ret_lock,
 * a descriptor whose closing gives the lock up; -EAGAIN while another writer has the lock; or the
 * negative errno of a system call. A link is not followed.
 */
int file_lock(const char *folder, uint32_t wait_ms, int *ret_lock);

/* Open /dev/null for reading in the place of each standard file that is closed: a file or
 * socket opened later would get its number, and all that is printed. */
void file_hold_standard(void);

/* Return FOLDER/NAME, which the caller frees; NULL without memory. A listing makes a path for each
 * entry, which asprintf() would make twice as expensive. */
char *file_path(const char *folder, const char *name);

/* Return whether @error, a negative errno, means a shortage of memory or descriptors. Such an error
 * is no news about the file, and earlier knowledge of the file still holds. */
bool file_error_is_shortage(int error);
