/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "util/buffer.h"

/*
 * The descriptions of hosts, cached across restarts, so a daemon is ready, and lists tools, without
 * running any code of a toolbox again.
 *
 *   $CACHE_DIRECTORY (systemd), or $XDG_CACHE_HOME/toolboxd, or ~/.cache/toolboxd
 *     `described-KEY`   "toolboxd-described 1 DIGEST DEPENDS\n", then the payload of LOADED
 *                       as it came
 *
 * The key is a digest of everything on which a description depends: the library's bytes, the LOAD
 * frame (with configuration and sandbox), the environment, the kernel, and our version.
 * Dependencies known from the description alone (the packages of a Python) are in DEPENDS, a digest
 * of the files named there. A file is written beside its place and moved there; an unreadable or
 * partial file counts as absent. A cached description is checked like a new one, but it has the
 * risk of each tool, which decides on its callers. So folder and file are only believed when they
 * are the daemon's user's, no other user may write them, and neither is a link (but for systemd's
 * folder, a link). Else the reason is logged, and the host is asked again.
 */

/* Most files; the file unused for the longest time is removed first. */
#define DESCRIBE_CACHE_FILES_MAX 256

/* A larger description is not cached. */
#define DESCRIBE_CACHE_BYTES_MAX (16u << 20)

/* Room for a key, with its NUL. */
#define DESCRIBE_CACHE_KEY_BYTES 33

/* Write the key of @package, with its library read, and its tools not known yet. */
void describe_cache_key(const struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES]);

/* Append the cached description to @ret_described, and store its fingerprint. Return 0, -ENOENT, or
 * -ENOMEM. */
int describe_cache_read(const char *key, struct buffer *ret_described, uint64_t *ret_depends);

/* Store a description, with @depends. Returns 0, or a negative errno: a description that cannot be
 * stored is made again the next time. */
int describe_cache_write(const char *key, const char *described, size_t size, uint64_t depends);
