/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/stamp.h"

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
