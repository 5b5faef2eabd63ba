/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/host_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/file/tree.h"

#define NAME_PREFIX "toolboxd-host-"
#define NAME_SUFFIX "XXXXXX"

#define TRIES_MAX 16

/* Most foreign folders removed at a time. */
#define REMOVED_MAX 16

/* Lock the folder @name of @parent, if it is ours and no other process has it locked. Return the
 * descriptor of the lock, or a negative errno. */
static int lock_folder(int parent, const char *name)
{
	cleanup_close int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &status) < 0)
		return -errno;
	/* Somebody had the lock before, and has removed it. */
	if (status.st_nlink == 0)
		return -ENOENT;
	return status.st_uid == geteuid() ? take_fd(fd) : -EPERM;
}

static int make_locked(const char *parent, char **ret_path)
{
	cleanup_free char *path = NULL;
	int lock;

	if (asprintf(&path, "%s/" NAME_PREFIX NAME_SUFFIX, parent) < 0)
		return -ENOMEM;
	if (!mkdtemp(path))
		return -errno;
	lock = lock_folder(AT_FDCWD, path);
	/* Another host has taken the folder for a leftover, because it was not locked yet. */
	if (lock == -EWOULDBLOCK || lock == -ENOENT)
		return -EAGAIN;
	if (lock >= 0)
		*ret_path = take_ptr(path);
	return lock;
}

int host_folder_make(char **ret_path)
{
	const char *parent = getenv("TMPDIR");
	cleanup_free char *path = NULL;
	int lock = -EAGAIN;

	if (!parent || *parent != '/')
		parent = HOST_FOLDER_PARENT;
	for (unsigned int n = 0; lock == -EAGAIN && n < TRIES_MAX; n++)
		lock = make_locked(parent, &path);
	if (lock < 0)
		return lock;
	check(path);
	if (setenv("TMPDIR", path, 1) < 0) {
		rmdir(path);
		close(lock);
		return -ENOMEM;
	}
	*ret_path = take_ptr(path);
	return lock;
}

static bool is_name(const char *name)
{
	return strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 &&
	       strlen(name) == strlen(NAME_PREFIX NAME_SUFFIX);
}

/* Remove the folders in @parent without a host, until @is_over. */
static void remove_left(const char *parent, bool (*is_over)(void *data), void *data)
{
	DIR *folder = opendir(parent);
	size_t n_removed = 0;
	struct dirent *entry;

	while (folder && n_removed < REMOVED_MAX && (entry = readdir(folder))) {
		cleanup_free char *path = NULL;
		cleanup_close int lock = -1;

		if (!is_name(entry->d_name))
			continue;
		lock = lock_folder(dirfd(folder), entry->d_name);
		if (lock < 0 || asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
			continue;
		tree_remove_until(path, is_over, data);
		n_removed++;
	}
	if (folder)
		closedir(folder);
}

void host_folder_remove_left(const char *path, bool (*is_over)(void *data), void *data)
{
	cleanup_free char *parent = strdup(path);

	if (!parent)
		return;
	*strrchr(parent, '/') = '\0';
	remove_left(*parent ? parent : "/", is_over, data);
}

void host_folder_remove(const char *path)
{
	tree_remove(path);
	host_folder_remove_left(path, NULL, NULL);
}
