/* SPDX-License-Identifier: Apache-2.0 */
#include "util/stamp.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/digest.h"

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

int64_t stamp_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ns_of(&now);
}

void stamp_write_time(struct buffer *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm parts;
	char text[32];

	gmtime_r(&seconds, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	buffer_printf(out, "%s.%03dZ", text, (int)(ns % NS_PER_S / NS_PER_MS));
}

void stamp_take(const struct stat *status, struct stamp *ret_stamp)
{
	*ret_stamp = (struct stamp){
		.size = (uint64_t)status->st_size,
		.device = status->st_dev,
		.inode = status->st_ino,
		.changed_ns = ns_of(&status->st_mtim),
		.noted_ns = ns_of(&status->st_ctim),
	};
	ret_stamp->is_at_rest = stamp_now_ns() - ret_stamp->noted_ns > STAMP_REST_S * NS_PER_S;
}

void stamp_take_file(const char *path, struct stamp *ret_stamp)
{
	struct stat status;

	*ret_stamp = (struct stamp){0};
	if (stat(path, &status) == 0)
		stamp_take(&status, ret_stamp);
}

uint64_t stamp_fold(uint64_t digest, const struct stamp *stamp)
{
	digest = digest_word(digest, stamp->size);
	digest = digest_word(digest, stamp->device);
	digest = digest_word(digest, stamp->inode);
	digest = digest_word(digest, (uint64_t)stamp->changed_ns);
	return digest_word(digest, (uint64_t)stamp->noted_ns);
}

bool stamp_is_same(const struct stamp *left, const struct stamp *right)
{
	return left->size == right->size && left->device == right->device &&
	       left->inode == right->inode && left->changed_ns == right->changed_ns &&
	       left->noted_ns == right->noted_ns;
}

bool stamp_proves_same(const struct stamp *before, const struct stamp *now)
{
	return before->is_at_rest && stamp_is_same(before, now);
}

/* Return a digest in place of the digest of bytes that are not read. */
static uint64_t digest_words(const struct stamp *stamp)
{
	uint64_t digest = digest_word(DIGEST_SEED, stamp->size);

	digest = digest_word(digest, (uint64_t)stamp->changed_ns);
	digest = digest_word(digest, stamp->device);
	return digest_word(digest, stamp->inode);
}

int stamp_digest(const struct stamp *stamp, int fd, uint64_t *ret_digest)
{
	unsigned char bytes[32768];
	uint64_t digest = DIGEST_SEED;

	if (stamp->size > STAMP_DIGEST_MAX) {
		*ret_digest = digest_words(stamp);
		return 0;
	}
	for (uint64_t at = 0; at < stamp->size;) {
		size_t left = (size_t)(stamp->size - at);
		ssize_t got =
			pread(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		digest = digest_bytes(digest, bytes, (size_t)got);
		at += (uint64_t)got;
	}
	*ret_digest = digest;
	return 0;
}
