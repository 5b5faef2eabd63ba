/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* Most looks at a removed folder: a program may fill it meanwhile, for ever. */
#define LOOKS_MAX 4096

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ── removing ────────────────────────────────────────────────────────────────────────────────── */

/*
 * A program may exchange folders for links while we remove them, so no path of two names is used,
 * and no link is opened. A folder below a folder is moved up beside it, and found in the next look:
 * however deep the tree is, two folders are open.
 */
struct removal {
	int top;
	dev_t device;
	unsigned long n_moved;
	bool (*is_over)(void *data); /* or NULL */
	void *data;
};

/* Move the folder @name of @folder into the removed folder, to a free name. */
static bool move_up(struct removal *removal, int folder, const char *name)
{
	char free_name[32];

	do {
		snprintf(free_name, sizeof(free_name), "%lu", removal->n_moved++);
		if (renameat(folder, name, removal->top, free_name) == 0)
			return true;
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
	return false;
}

static bool remove_entry(struct removal *removal, int folder, bool is_top, const char *name);

/* Remove what is in @folder, which is closed, or move it up. Return whether anything was. */
static bool empty_folder(struct removal *removal, int folder, bool is_top)
{
	cleanup_folder DIR *stream = fdopendir(folder);
	struct dirent *entry;
	bool is_changed = false;

	if (!stream && folder >= 0)
		close(folder);
	while (stream && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (removal->is_over && removal->is_over(removal->data))
			return false;
		if (remove_entry(removal, dirfd(stream), is_top, entry->d_name))
			is_changed = true;
	}
	return is_changed;
}

/* Remove @name of @folder, or move it up. Return whether anything was. */
static bool remove_entry(struct removal *removal, int folder, bool is_top, const char *name)
{
	struct stat status;
	bool is_changed;
	int below;

	if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return true;
	if (!is_top)
		return move_up(removal, folder, name);
	below = openat(folder, name, OPEN_FOLDER);
	if (below < 0)
		return false;
	if (fstat(below, &status) < 0 || status.st_dev != removal->device) {
		close(below);
		return false;
	}
	is_changed = empty_folder(removal, below, false);
	return unlinkat(folder, name, AT_REMOVEDIR) == 0 || is_changed;
}

void tree_remove_until(const char *path, bool (*is_over)(void *data), void *data)
{
	cleanup_close int top = open(path, OPEN_FOLDER);
	struct removal removal = {.top = top, .is_over = is_over, .data = data};
	struct stat status;

	if (top < 0) {
		unlink(path);
		return;
	}
	if (fstat(top, &status) < 0)
		return;
	removal.device = status.st_dev;
	for (int i = 0; i < LOOKS_MAX; i++)
		if (!empty_folder(&removal, openat(top, ".", OPEN_FOLDER), true))
			break;
	rmdir(path);
}

void tree_remove(const char *path)
{
	tree_remove_until(path, NULL, NULL);
}

/* ── copying ─────────────────────────────────────────────────────────────────────────────────── */

/* Copy @from to @to. Return 0 with its size, or a negative errno. */
static int copy_bytes(const char *from, const char *to, size_t size_max, size_t *ret_size)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_close int out = -1;
	struct stat status;
	int r = file_read(from, size_max, &bytes);

	if (r < 0)
		return r;
	if (stat(from, &status) < 0)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = file_write_all(out, bytes.data, bytes.size);
	if (r == 0 && fchmod(out, status.st_mode & S_IXUSR ? 0755 : 0644) < 0)
		r = -errno;
	*ret_size = bytes.size;
	return r == 0 && fsync(out) < 0 ? -errno : r;
}

int tree_copy_file(const char *from, const char *to, size_t size_max)
{
	size_t size;

	return copy_bytes(from, to, size_max, &size);
}

struct copying {
	struct tree_limits left;
	char *fault; /* the path of the first error */
};

static int copy_entry(struct copying *copying, const char *from, const char *to);

/* Copy @name of the folder @from into the folder @to. */
static int copy_into(struct copying *copying, const char *from, const char *to, const char *name)
{
	cleanup_free char *source = NULL;
	cleanup_free char *target = NULL;

	if (asprintf(&source, "%s/%s", from, name) < 0 || asprintf(&target, "%s/%s", to, name) < 0)
		return -ENOMEM;
	return copy_entry(copying, source, target);
}

static int copy_folder(struct copying *copying, const char *from, const char *to)
{
	cleanup_folder DIR *folder = opendir(from);
	struct dirent *entry;
	int r = 0;

	if (!folder || mkdir(to, 0755) < 0)
		return -errno;
	if (copying->left.depth == 0)
		return -EFBIG;
	copying->left.depth--;
	while (r == 0 && (errno = 0, entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			r = copy_into(copying, from, to, entry->d_name);
	copying->left.depth++;
	return r == 0 ? -errno : r;
}

static int copy_entry(struct copying *copying, const char *from, const char *to)
{
	struct stat status;
	size_t size = 0;
	int r;

	if (stat(from, &status) < 0)
		r = -errno;
	else if (copying->left.entries-- == 0)
		r = -EFBIG;
	else if (S_ISDIR(status.st_mode))
		r = copy_folder(copying, from, to);
	else
		r = copy_bytes(from, to, copying->left.bytes, &size);
	copying->left.bytes -= size;
	if (r < 0 && !copying->fault)
		copying->fault = strdup(from);
	return r;
}

int tree_copy(const char *from, const char *to, const struct tree_limits *limits, char **ret_path)
{
	struct copying copying = {.left = *limits};
	int r = copy_entry(&copying, from, to);

	*ret_path = copying.fault;
	return r;
}
