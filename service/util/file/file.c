/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"

#define FILE_CHUNK_BYTES 65536

/* Append the bytes of @fd, at most @size_max. A short read that completes the @expected bytes of a
 * regular file is at its end. 0 or a negative errno. */
static int read_to_end(int fd, size_t size_max, size_t expected, struct buffer *contents)
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
		if (total == expected && (size_t)got < room)
			return 0;
	}
}

int file_read_fd(int fd, size_t size_max, struct buffer *contents)
{
	return read_to_end(fd, size_max, SIZE_MAX, contents);
}

int file_read_stamped(
	const char *path, size_t size_max, struct buffer *contents, struct stamp *ret_stamp)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stamp stamp = {0};
	struct stat status;
	int r;

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
	if (ret_stamp)
		stamp_take(&status, &stamp);
	/* One more byte, to notice the end of the file. */
	if (!buffer_reserve(contents, (size_t)status.st_size + 1))
		return buffer_status(contents);
	r = read_to_end(fd, size_max, (size_t)status.st_size, contents);
	if (r == 0 && ret_stamp)
		*ret_stamp = stamp;
	return r;
}

int file_read(const char *path, size_t size_max, struct buffer *contents)
{
	return file_read_stamped(path, size_max, contents, NULL);
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

char *file_path(const char *folder, const char *name)
{
	size_t folder_size = strlen(folder);
	size_t name_size = strlen(name);
	char *path = malloc(folder_size + name_size + sizeof("/"));

	if (!path)
		return NULL;
	memcpy(path, folder, folder_size);
	path[folder_size] = '/';
	memcpy(path + folder_size + 1, name, name_size + 1);
	return path;
}

/* ── replacing ───────────────────────────────────────────────────────────────────────────────── */

int file_make_folders(const char *path)
{
	cleanup_free char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(copy, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* Write the file @name of @folder anew. */
static int write_new_file(int folder, const char *name, const char *bytes, size_t size, mode_t mode)
{
	cleanup_close int file =
		openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = file < 0 ? -errno : file_write_all(file, bytes, size);

	if (r == 0 && fchmod(file, mode) < 0)
		r = -errno;
	return r == 0 && fsync(file) < 0 ? -errno : r;
}

int file_replace(const char *folder, const char *name, const char *bytes, size_t size, mode_t mode)
{
	cleanup_free char *beside = NULL;
	cleanup_close int at = -1;
	int r = file_make_folders(folder);

	if (r < 0)
		return r;
	if (asprintf(&beside, ".%s.%d", name, (int)getpid()) < 0)
		return -ENOMEM;
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	/* A file of this name is left by a killed process. */
	unlinkat(at, beside, 0);
	r = write_new_file(at, beside, bytes, size, mode);
	if (r == 0 && renameat(at, beside, at, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(at, beside, 0);
	return r == 0 && fsync(at) < 0 ? -errno : r;
}

/* ── one writer at a time ────────────────────────────────────────────────────────────────────── */

#define LOCK_NAME     ".lock"
#define LOCK_PAUSE_MS 5

int file_lock(const char *folder, uint32_t wait_ms, int *ret_lock)
{
	static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * NS_PER_MS};
	cleanup_close int at = -1;
	cleanup_close int lock = -1;
	uint64_t end_ms = clock_now_ms() + wait_ms;
	int r = file_make_folders(folder);

	if (r < 0)
		return r;
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at >= 0)
		lock = openat(at, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			0600);
	if (lock < 0)
		return -errno;
	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_now_ms() >= end_ms)
			return -EAGAIN;
		nanosleep(&pause, NULL);
	}
	*ret_lock = take_fd(lock);
	return 0;
}

void file_hold_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd < STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
