/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox_library.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Held while a stamp is written, and while the loop or a load reads one. */
static pthread_mutex_t stamps = PTHREAD_MUTEX_INITIALIZER;

static char *join(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* The path of @name in @folder when a file is there, "" when not, NULL without memory. */
static char *look_in(const char *folder, const char *name)
{
	cleanup_free char *path = join(folder, name);

	if (!path || access(path, F_OK) == 0)
		return take_ptr(path);
	return strdup("");
}

static char *find_path(const char *name, const char *folder, const char *library_dir)
{
	cleanup_free char *found = NULL;

	if (name[0] == '/')
		return strdup(name);
	if (strchr(name, '/'))
		return join(folder, name);
	found = look_in(folder, name);
	if (!found || *found)
		return take_ptr(found);
	if (library_dir) {
		free(found);
		found = look_in(library_dir, name);
		if (!found || *found)
			return take_ptr(found);
	}
	return strdup(name);
}

int toolbox_library_find(const char *name, const char *folder, const char *library_dir,
	struct toolbox_library *ret_library)
{
	cleanup(toolbox_library_deinit) struct toolbox_library library = {0};

	library.path = find_path(name, folder, library_dir);
	if (!library.path)
		return -ENOMEM;
	if (strchr(library.path, '/')) {
		library.file = strdup(library.path);
		if (!library.file)
			return -ENOMEM;
	}
	*ret_library = library;
	library = (struct toolbox_library){0};
	return 0;
}

void toolbox_library_deinit(struct toolbox_library *library)
{
	free(library->path);
	free(library->file);
	*library = (struct toolbox_library){0};
}

int toolbox_library_set_file(struct toolbox_library *library, const char *file)
{
	char *copy = strdup(file);

	if (!copy)
		return -ENOMEM;
	free(library->file);
	library->file = copy;
	return 0;
}

static int look(const char *path, struct stamp *ret_stamp, uint64_t *ret_digest)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	stamp_take(&status, ret_stamp);
	return stamp_digest(ret_stamp, fd, ret_digest);
}

int toolbox_library_look(struct toolbox_library *library)
{
	return library->file ? look(library->file, &library->stamp, &library->digest) : -ENOENT;
}

int toolbox_library_look_like(struct toolbox_library *library, const struct toolbox_library *other)
{
	library->stamp = other->stamp;
	library->digest = other->digest;
	if (library->file || !other->file)
		return 0;
	return toolbox_library_set_file(library, other->file);
}

bool toolbox_library_is_same(
	const struct toolbox_library *library, const struct toolbox_library *other)
{
	return library->file && other->file && library->digest == other->digest &&
	       strcmp(library->file, other->file) == 0;
}

uint64_t toolbox_library_expected(const struct toolbox_library *library)
{
	return library->path && strchr(library->path, '/') ? library->digest : 0;
}

void toolbox_library_note(struct toolbox_library *library, uint64_t digest)
{
	if (digest == library->digest)
		return;
	library->digest = digest;
	library->stamp = (struct stamp){0};
}

bool toolbox_library_is_unchanged(struct toolbox_library *library)
{
	struct stamp before;
	struct stamp now;
	struct stat status;
	uint64_t digest = 0;

	if (!library->file || stat(library->file, &status) < 0)
		return false;
	pthread_mutex_lock(&stamps);
	before = library->stamp;
	pthread_mutex_unlock(&stamps);
	stamp_take(&status, &now);
	if (stamp_proves_same(&before, &now))
		return true;
	if (look(library->file, &now, &digest) < 0 || digest != library->digest)
		return false;
	pthread_mutex_lock(&stamps);
	library->stamp = now;
	pthread_mutex_unlock(&stamps);
	return true;
}
