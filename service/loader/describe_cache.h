/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "util/buffer.h"

/*
 * What hosts have told of their tools, kept across restarts: so that a daemon is ready, and lists,
 * without running any code of a toolbox again.
 *
 *   $CACHE_DIRECTORY (systemd), or $XDG_CACHE_HOME/toolboxd, or ~/.cache/toolboxd
 *     told-KEY     "toolboxd-told 2 DIGEST DEPENDS\n", then the payload of LOADED as it came
 *
 * The key is a digest of all that the answer depends on: the library's bytes, the LOAD frame (with
 * configuration and sandbox), the environment, the kernel, and our version. What of it is only
 * known when it was told (the packages of a Python) is in DEPENDS, a digest of what the teller
 * names. A file is written beside and moved into its place; one that cannot be read, or is not
 * whole, is not there. What is read is checked as if a host had just told it: whoever may write
 * here could do no more than a toolbox.
 */

/* Files that are kept; the one that was not used for the longest time goes first. */
#define DESCRIBE_CACHE_FILES_MAX 256

/* Nothing larger is kept. */
#define DESCRIBE_CACHE_BYTES_MAX (16u << 20)

/* Room for a key, with its NUL. */
#define DESCRIBE_CACHE_KEY_BYTES 33

/* The key of @package, whose library was looked at, and whose tools are not known yet. */
void describe_cache_key(const struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES]);

/* What was told, appended to @ret_described, and what was given with it. 0, -ENOENT, or -ENOMEM. */
int describe_cache_read(const char *key, struct buffer *ret_described, uint64_t *ret_depends);

/* Keep what was told, and @depends with it. What cannot be kept is told again the next time. */
void describe_cache_write(const char *key, const char *described, size_t size, uint64_t depends);
