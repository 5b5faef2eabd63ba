/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/buffer.h"

/*
 * A summary of a file's inode, a proof that its bytes need not be read again.
 *
 * Equal stamps prove equal bytes only if the file had been at rest when the first stamp was taken.
 * The clock of a file system may be as coarse as two seconds (FAT), so two writes in a row can
 * leave the same stamp. The stamp of a recently changed file proves nothing.
 */
struct stamp {
	uint64_t size; /* bytes */
	uint64_t device;
	uint64_t inode;
	int64_t changed_ns; /* time of its last write (mtime) */
	/* Time of the last change of its inode (ctime); no program can set it back. */
	int64_t noted_ns;
	bool is_at_rest;
};

/* A file is at rest when its inode has not changed for this long. */
#define STAMP_REST_S 2

/* Return the time by the clock of file stamps (CLOCK_REALTIME), in nanoseconds. */
int64_t stamp_now_ns(void);

/* Append the time @ns of that clock, in UTC: 2026-11-23T10:00:00.123Z */
void stamp_write_time(struct buffer *out, int64_t ns);

/* Take the stamp of the file described by @status, now. */
void stamp_take(const struct stat *status, struct stamp *ret_stamp);

/* Take the stamp of the file at @path, through all links, now; zeros without a file. */
void stamp_take_file(const char *path, struct stamp *ret_stamp);

/* Return the digest of what @digest has and of @stamp. */
uint64_t stamp_fold(uint64_t digest, const struct stamp *stamp);

/* Return whether both stamps are of one file without a change of its inode in between. */
bool stamp_is_same(const struct stamp *left, const struct stamp *right);

/* Return whether a file with the stamp @before, and @now later, must have kept its bytes. */
bool stamp_proves_same(const struct stamp *before, const struct stamp *now);
