/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

#define FILE_CHUNK_BYTES 65536

int file_read_fd(int fd, size_t size_max, struct buffer *contents)
{
	size_t total = 0;

	for (;;) {
		size_t room = contents->capacity - contents->size;
		char *place;
		ssize_t got;

		if (room == 0)
			room = FILE_CHUNK_BYTES;
		place = buffer_reserve(contents, room);
		if (!place)
			return buffer_status(contents);
		got = read(fd, place, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		total += (size_t)got;
		if (total > size_max)
			return -EFBIG;
		contents->size += (size_t)got;
	}
}

int file_read(const char *path, size_t size_max, struct buffer *contents)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if ((unsigned long long)status.st_size > size_max)
		return -EFBIG;
	/* One more byte, so that the end of the file is noticed. */
	if (!buffer_reserve(contents, (size_t)status.st_size + 1))
		return buffer_status(contents);
	return file_read_fd(fd, size_max, contents);
}

int file_write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

bool file_error_is_shortage(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}
