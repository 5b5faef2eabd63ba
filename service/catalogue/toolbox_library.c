/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox_library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/digest.h"

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

/* The digest of the file's bytes; of no more than there were when it was looked at, for it may grow
 * faster than it is read. */
static int digest_file(int fd, uint64_t size, uint64_t *ret_digest)
{
	unsigned char bytes[8192];
	uint64_t digest = DIGEST_SEED;

	while (size > 0) {
		ssize_t got = read(fd, bytes, size < sizeof(bytes) ? size : sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		digest = digest_bytes(digest, bytes, (size_t)got);
		size -= (size_t)got;
	}
	*ret_digest = digest;
	return 0;
}

/* In place of the digest of unread bytes. */
static uint64_t digest_stamp(const struct stamp *stamp)
{
	uint64_t digest = digest_word(DIGEST_SEED, stamp->size);

	digest = digest_word(digest, (uint64_t)stamp->changed_ns);
	digest = digest_word(digest, stamp->device);
	return digest_word(digest, stamp->inode);
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
	if (ret_stamp->size > TOOLBOX_LIBRARY_DIGEST_MAX) {
		*ret_digest = digest_stamp(ret_stamp);
		return 0;
	}
	return digest_file(fd, ret_stamp->size, ret_digest);
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

bool toolbox_library_is_unchanged(struct toolbox_library *library)
{
	struct stat status;
	struct stamp now;
	uint64_t digest = 0;

	if (!library->file || stat(library->file, &status) < 0)
		return false;
	stamp_take(&status, &now);
	if (stamp_proves_same(&library->stamp, &now))
		return true;
	if (look(library->file, &now, &digest) < 0 || digest != library->digest)
		return false;
	library->stamp = now;
	return true;
}
