/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/siphash.h"

/* Tools in a row often have one program: among so many of the last ones a path is looked for. */
#define NEAR 16

/* Held while a stamp is written, and while the loop reads one. */
static pthread_mutex_t stamps = PTHREAD_MUTEX_INITIALIZER;

void origins_deinit(struct origins *origins)
{
	for (size_t i = 0; i < origins->n_items; i++)
		free(origins->items[i].path);
	free(origins->items);
	*origins = (struct origins){0};
}

void origin_digest(const void *bytes, size_t size, unsigned char ret_digest[ORIGIN_DIGEST_BYTES])
{
	struct siphash_key key = siphash_process_key();

	for (char half = 0; half < 2; half++) {
		struct siphash hash;
		uint64_t word;

		siphash_init(&hash, &key);
		siphash_bytes(&hash, &half, sizeof(half));
		siphash_bytes(&hash, bytes, size);
		word = siphash_finish(&hash);
		memcpy(ret_digest + (size_t)half * sizeof(word), &word, sizeof(word));
	}
}

/* Store the digest of the @size bytes at @bytes of a file with @stamp; of the stamp when they are
 * too many. */
static void digest_read(const struct stamp *stamp, const char *bytes, size_t size,
	unsigned char ret_digest[ORIGIN_DIGEST_BYTES])
{
	const uint64_t words[] = {stamp->size, stamp->device, stamp->inode,
		(uint64_t)stamp->changed_ns, (uint64_t)stamp->noted_ns};

	if (size > 0 && size <= ORIGIN_BYTES_MAX)
		origin_digest(bytes, size, ret_digest);
	else
		origin_digest(words, sizeof(words), ret_digest);
}

/* Store the digest of the file at @path, which has @stamp. An unreadable file has the digest of the
 * stamp. Return whether it was read. */
static bool digest_file(
	const char *path, const struct stamp *stamp, unsigned char ret_digest[ORIGIN_DIGEST_BYTES])
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	bool is_read =
		stamp->size <= ORIGIN_BYTES_MAX && file_read(path, ORIGIN_BYTES_MAX, &bytes) == 0;

	digest_read(stamp, bytes.data, is_read ? bytes.size : 0, ret_digest);
	return is_read;
}

/* Return whether the folder of @path does not report each change of the file. */
static bool is_shared(const char *path)
{
	struct statx status;

	return statx(AT_FDCWD, path, 0, STATX_NLINK, &status) == 0 &&
	       (status.stx_nlink > 1 || (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0);
}

/* Append @origin; its path is copied. */
static int append(struct origins *origins, struct origin origin)
{
	if (array_grow(origins->items, origins->n_items) < 0)
		return -ENOMEM;
	origin.path = strdup(origin.path);
	if (!origin.path)
		return -ENOMEM;
	origins->items[origins->n_items++] = origin;
	return 0;
}

int origins_add(struct origins *origins, const char *path, uint32_t *ret_index)
{
	struct origin origin = {.path = (char *)path, .is_shared = is_shared(path)};
	size_t n_items = origins->n_items;

	for (size_t i = n_items; i > 0 && i + NEAR > n_items; i--)
		if (strcmp(origins->items[i - 1].path, path) == 0) {
			*ret_index = (uint32_t)(i - 1);
			return 0;
		}
	stamp_take_file(path, &origin.stamp);
	digest_file(path, &origin.stamp, origin.digest);
	*ret_index = (uint32_t)n_items;
	return append(origins, origin);
}

int origins_take(struct origins *origins, const char *path, const struct stamp *stamp,
	const char *bytes, size_t size)
{
	struct origin origin = {
		.path = (char *)path, .stamp = *stamp, .is_shared = is_shared(path)};

	digest_read(stamp, bytes, size, origin.digest);
	return append(origins, origin);
}

int origins_copy(struct origins *origins, const struct origin *origin)
{
	return append(origins, *origin);
}

int origin_move(struct origin *origin, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(origin->path);
	origin->path = copy;
	return 0;
}

void origin_renew(struct origin *origin, const struct stamp *stamp)
{
	pthread_mutex_lock(&stamps);
	origin->stamp = *stamp;
	pthread_mutex_unlock(&stamps);
}

struct stamp origin_stamp(const struct origin *origin)
{
	struct stamp stamp;

	pthread_mutex_lock(&stamps);
	stamp = origin->stamp;
	pthread_mutex_unlock(&stamps);
	return stamp;
}

bool origin_holds(struct origin *origin)
{
	struct stamp before = origin_stamp(origin);
	unsigned char now_digest[ORIGIN_DIGEST_BYTES];
	struct stamp now;
	bool is_same;

	stamp_take_file(origin->path, &now);
	is_same = stamp_is_same(&before, &now);
	if ((is_same && before.is_at_rest) || now.size == 0 || now.size > ORIGIN_BYTES_MAX)
		return is_same;
	/* When descriptors are short, the stamp alone decides. */
	if (!digest_file(origin->path, &now, now_digest))
		return is_same;
	if (memcmp(now_digest, origin->digest, ORIGIN_DIGEST_BYTES) != 0)
		return false;
	origin_renew(origin, &now);
	return true;
}

bool origins_hold(struct origins *origins)
{
	for (size_t i = 0; i < origins->n_items; i++)
		if (!origin_holds(&origins->items[i]))
			return false;
	return true;
}

bool origins_are_same(const struct origins *left, const struct origins *right)
{
	bool is_same = left->n_items == right->n_items;

	for (size_t i = 0; is_same && i < left->n_items; i++)
		is_same = strcmp(left->items[i].path, right->items[i].path) == 0 &&
			  memcmp(left->items[i].digest, right->items[i].digest,
				  ORIGIN_DIGEST_BYTES) == 0;
	return is_same;
}

void origins_renew(struct origins *origins, const struct origins *fresh)
{
	for (size_t i = 0; i < origins->n_items && i < fresh->n_items; i++)
		origin_renew(&origins->items[i], &fresh->items[i].stamp);
}

void origins_accept(struct origins *origins)
{
	for (size_t i = 0; i < origins->n_items; i++) {
		struct stamp now;

		stamp_take_file(origins->items[i].path, &now);
		/* Its bytes are not compared. */
		now.is_at_rest = true;
		origin_renew(&origins->items[i], &now);
	}
}
