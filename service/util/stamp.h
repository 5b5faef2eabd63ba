/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * What a file's inode says, for telling that its bytes need not be read again.
 *
 * The same stamp proves the same bytes only for a file that had been at rest when it was taken: the
 * clock of a file system may be as coarse as two seconds (FAT), so that a file written twice in a
 * row can look the same both times. A stamp of a younger file proves nothing.
 */
struct stamp {
	uint64_t size; /* bytes */
	uint64_t device;
	uint64_t inode;
	int64_t changed_ns; /* its bytes (mtime) */
	int64_t noted_ns;   /* its inode (ctime), which nobody can set back */
	bool is_at_rest;
};

/* A file is at rest when its inode has not changed for so long. */
#define STAMP_REST_S 2

/* Now, by the clock that files are stamped with (CLOCK_REALTIME), in nanoseconds. */
int64_t stamp_now_ns(void);

/* The stamp of the file that @status is of, taken now. */
void stamp_take(const struct stat *status, struct stamp *ret_stamp);

/* Whether a file that had @before and has @now must have kept its bytes. */
bool stamp_proves_same(const struct stamp *before, const struct stamp *now);
