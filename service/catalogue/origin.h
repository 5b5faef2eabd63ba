/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/file/stamp.h"

/*
 * The files from which tools are made: their programs and definitions, as they were when they were
 * read.
 *
 *   stamp taken, then read ──▶ origin ── before a call: origins_hold()
 *                                            │ the same stamp, of a file at rest: it is the same
 *                                            │ the same bytes: the stamp is renewed
 *                                            ▼ else: it must be read again
 *
 * A path is looked at through all links and mounts: the target file counts. An absent file has a
 * stamp of zeros. A load beside the loop renews stamps compared by the loop, so both take a lock.
 */

/* Two SipHashes with the key of this process, unknown to every writer of a file. A SHA-256 of
 * OpenSSL would have 2 MB of its library resident in a daemon without TLS. */
#define ORIGIN_DIGEST_BYTES 16

/* In place of the index of a file: no file. */
#define ORIGIN_NONE UINT32_MAX

/* The bytes of a larger file are not compared: another stamp means another file. */
#define ORIGIN_BYTES_MAX (64u << 10)

struct origin {
	char *path;
	struct stamp stamp;
	unsigned char digest
		[ORIGIN_DIGEST_BYTES]; /* digest of its bytes, or of the stamp of a larger file */
	/* the file has other names, or is a mount: its folder does not report changes */
	bool is_shared;
};

struct origins {
	struct origin *items;
	size_t n_items;
};

/* Store the digest of the @size bytes at @bytes. Only this process can make it again. */
void origin_digest(const void *bytes, size_t size, unsigned char ret_digest[ORIGIN_DIGEST_BYTES]);

/* Free the memory of @origins. */
void origins_deinit(struct origins *origins);

/* Have the file at @path in @origins, with its stamp and digest. Store its index. 0 or -ENOMEM. */
int origins_add(struct origins *origins, const char *path, uint32_t *ret_index);

/* Append the file at @path, which had @stamp before its @size bytes at @bytes were read. 0 or
 * -ENOMEM. */
int origins_take(struct origins *origins, const char *path, const struct stamp *stamp,
	const char *bytes, size_t size);

/* Append a copy of @origin. 0 or -ENOMEM. */
int origins_copy(struct origins *origins, const struct origin *origin);

/* Let @origin be found by @path from now on. 0 or -ENOMEM. */
int origin_move(struct origin *origin, const char *path);

/* Return whether the file of @origin is what it was when it was read. */
bool origin_holds(struct origin *origin);

/* Return whether the files of @origins all are what they were. */
bool origins_hold(struct origins *origins);

/* Return the stamp of the file of @origin, as it was last found to be what it was. */
struct stamp origin_stamp(const struct origin *origin);

/* Let @stamp be the stamp of @origin, whose file has the same bytes as before. */
void origin_renew(struct origin *origin, const struct stamp *stamp);

/* Accept the files of @origins as they are now: their change is known, and the tools made from them
 * go on. */
void origins_accept(struct origins *origins);

/* Return whether both lists have the same paths with the same bytes. */
bool origins_are_same(const struct origins *left, const struct origins *right);

/* Give the files of @origins the stamps of @fresh, an equal list. */
void origins_renew(struct origins *origins, const struct origins *fresh);
