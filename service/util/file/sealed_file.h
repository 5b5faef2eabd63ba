/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/cleanup.h"
#include "util/list.h"
#include "util/file/stamp.h"

/*
 * A copy of a file in memory that no program can change. All processes with its descriptor have the
 * bytes of one reading, whatever happens to the file.
 *
 *   file ── copied ──▶ memfd, sealed ──▶ descriptor for other processes
 *                        ▲       ▲
 *                      owner   owner     counted; equal bytes are one copy
 *
 * A copy costs its size in memory as long as it has an owner.
 */
struct sealed_file {
	struct list link; /* in the list of all copies */
	size_t references;
	int fd;
	size_t size;        /* bytes */
	struct stamp stamp; /* stamp of the file when it was copied */
};

/* The largest copied file, all copies together, and their number, since each has a
 * descriptor. */
#define SEALED_FILE_BYTES_MAX  (64u << 20)
#define SEALED_FILES_BYTES_MAX (256u << 20)
#define SEALED_FILES_MAX       256

/* Return a reference to a copy of the open @file at @path, which has the @stamp; NULL when there is
 * none: the file is empty, a bound is reached, or the kernel refuses. From any thread. */
struct sealed_file *sealed_file_take(int file, const char *path, const struct stamp *stamp);

/* Return one more reference to @copy, which may be NULL. From any thread. */
struct sealed_file *sealed_file_ref(struct sealed_file *copy);

/* Drop a reference to @copy, which may be NULL; the last one frees it. From any thread. */
void sealed_file_unref(struct sealed_file *copy);

/* Map the bytes of @copy, to be read. Return MAP_FAILED or what munmap() takes. */
char *sealed_file_map(const struct sealed_file *copy);

CLEANUP_DEFINE(sealed_file, struct sealed_file *, sealed_file_unref)
