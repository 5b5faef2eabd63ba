/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/sealed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "util/array.h"

/* Linux 6.3; a kernel that forbids executable memfds by default requires it. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/* All copies, guarded by `lock`: loads read files beside the loop, any thread frees owners. */
static struct list copies = {&copies, &copies};
static size_t n_copies;
static size_t copies_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Make an empty memfd; its name appears in /proc/PID/maps. Older kernels refuse unknown flags, and
 * all kernels refuse longer names. */
static int make_memfd(const char *path)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%s", basename(path));
	fd = memfd_create(name, flags | MFD_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}

static bool copy_bytes(int from, int to, size_t size)
{
	off_t at = 0;

	while ((size_t)at < size) {
		ssize_t n = sendfile(to, from, &at, size - (size_t)at);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
	}
	return true;
}

char *sealed_file_map(const struct sealed_file *copy)
{
	return mmap(NULL, copy->size, PROT_READ, MAP_PRIVATE, copy->fd, 0);
}

static bool has_same_bytes(const struct sealed_file *left, const struct sealed_file *right)
{
	char *mapped[2];
	bool is_same;

	if (left->size != right->size)
		return false;
	mapped[0] = sealed_file_map(left);
	mapped[1] = sealed_file_map(right);
	is_same = mapped[0] != MAP_FAILED && mapped[1] != MAP_FAILED &&
		  memcmp(mapped[0], mapped[1], left->size) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(mapped); i++)
		if (mapped[i] != MAP_FAILED)
			munmap(mapped[i], left->size);
	return is_same;
}

static void free_copy(struct sealed_file *copy)
{
	close(copy->fd);
	free(copy);
}

/* Copy the bytes of @file, or return NULL. */
static struct sealed_file *make_copy(int file, const char *path, const struct stamp *stamp)
{
	cleanup_free struct sealed_file *copy = calloc(1, sizeof(*copy));
	cleanup_close int fd = copy ? make_memfd(path) : -1;
	size_t size = (size_t)stamp->size;

	if (fd < 0 || !copy_bytes(file, fd, size) || fcntl(fd, F_ADD_SEALS, all_seals) < 0)
		return NULL;
	*copy = (struct sealed_file){
		.references = 1, .fd = take_fd(fd), .size = size, .stamp = *stamp};
	return take_ptr(copy);
}

/* Return a reference to the copy with the bytes of @fresh, or, without @fresh (NULL), of the file
 * with the @stamp; NULL: there is no copy. */
static struct sealed_file *find_copy(const struct stamp *stamp, const struct sealed_file *fresh)
{
	list_each(struct sealed_file, copy, &copies, link) {
		if (fresh ? !has_same_bytes(copy, fresh) : !stamp_proves_same(&copy->stamp, stamp))
			continue;
		copy->references++;
		return copy;
	}
	return NULL;
}

/* Enter @fresh in the list, unless it has a copy of the same bytes; NULL beyond the bounds. */
static struct sealed_file *enter_copy(struct sealed_file *fresh)
{
	struct sealed_file *copy;

	pthread_mutex_lock(&lock);
	copy = find_copy(NULL, fresh);
	if (!copy && n_copies < SEALED_FILES_MAX &&
		copies_bytes + fresh->size <= SEALED_FILES_BYTES_MAX) {
		list_append(&copies, &fresh->link);
		n_copies++;
		copies_bytes += fresh->size;
		copy = fresh;
	}
	pthread_mutex_unlock(&lock);
	if (copy != fresh)
		free_copy(fresh);
	return copy;
}

struct sealed_file *sealed_file_take(int file, const char *path, const struct stamp *stamp)
{
	struct sealed_file *copy;

	if (stamp->size == 0 || stamp->size > SEALED_FILE_BYTES_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	copy = find_copy(stamp, NULL);
	pthread_mutex_unlock(&lock);
	if (copy)
		return copy;
	copy = make_copy(file, path, stamp);
	return copy ? enter_copy(copy) : NULL;
}

struct sealed_file *sealed_file_ref(struct sealed_file *copy)
{
	if (!copy)
		return NULL;
	pthread_mutex_lock(&lock);
	copy->references++;
	pthread_mutex_unlock(&lock);
	return copy;
}

void sealed_file_unref(struct sealed_file *copy)
{
	bool is_last;

	if (!copy)
		return;
	pthread_mutex_lock(&lock);
	is_last = --copy->references == 0;
	if (is_last) {
		list_remove(&copy->link);
		n_copies--;
		copies_bytes -= copy->size;
	}
	pthread_mutex_unlock(&lock);
	if (is_last)
		free_copy(copy);
}
