/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit_chain.h"

/*
 * The file of the audit log. All of it may block for as long as a disk likes, so only the thread of
 * policy/audit.c uses it.
 *
 *   FILE     the appended line ends with the hash of the one before
 *   FILE.1   what FILE was before it grew over max_bytes
 *
 * A new file begins with the hash of the last line of the old file. A line written in part, because
 * the daemon or the machine ended or the disk was full, is cut off before the next line.
 */
struct audit_file {
	char *path;         /* NULL: none */
	uint64_t max_bytes; /* size at which it becomes FILE.1 */
	int fd;             /* -1: not open */
	bool is_regular;    /* neither a FIFO nor a device */
	uint64_t size;
	struct audit_hash last; /* hash of the last line */
	bool has_last;          /* it is known */
	uint64_t torn_bytes;    /* cut off when it was opened last */
	bool is_replaced;       /* its file was found removed or changed, and another is written */
	int rotation_error;     /* why FILE could not become FILE.1, a negative errno; 0 */
};

/* Set the path (taken over; NULL: none) and size. A file of another path goes on from its own last
 * line. */
void audit_file_set(struct audit_file *file, char *path, uint64_t max_bytes);

/* Open the file, unless it is open. Return 0 or a negative errno: -EINVAL for a file that is no
 * audit log. */
int audit_file_open(struct audit_file *file);

/* Append a line: @line begins with AUDIT_LINE_START, and is a JSON object up to the comma before
 * its last member `"prev"`. When another program has removed the file, or changed its size, the
 * line goes to the file now at the path, and is_replaced is set. With @is_required, the line fails
 * then with -ESTALE, and with -ENOTSUP if the file is not a regular file, which would keep nothing.
 * Return 0 or a negative errno, and then nothing of the line stays in the file. */
int audit_file_append(struct audit_file *file, const char *line, size_t size, bool is_required);

/* Wait until what was appended is on the disk. Return 0 or a negative errno. */
int audit_file_sync(struct audit_file *file);

/* Return what the negative errno @error of a function above means. */
const char *audit_file_error_text(int error);

/* Close the file. The next line opens it again and goes on with the chain: in a new file, if the
 * old one was moved away. */
void audit_file_close(struct audit_file *file);

/* Close the file and forget it. */
void audit_file_deinit(struct audit_file *file);
