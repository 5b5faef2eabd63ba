/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file.h"

/* Make the folder @path and those above it. */
static int make_folders(const char *path)
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
	int r = make_folders(folder);

	if (r < 0)
		return r;
	if (asprintf(&beside, ".%s.%d", name, (int)getpid()) < 0)
		return -ENOMEM;
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	/* A file of this name is left by a process that was killed. */
	unlinkat(at, beside, 0);
	r = write_new_file(at, beside, bytes, size, mode);
	if (r == 0 && renameat(at, beside, at, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(at, beside, 0);
	return r == 0 && fsync(at) < 0 ? -errno : r;
}
