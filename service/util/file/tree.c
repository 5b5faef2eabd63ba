/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* Most open folders at once; nftw() opens the folders of a deeper tree again. */
#define OPEN_MAX_AT_ONCE 16

/* ── removing ────────────────────────────────────────────────────────────────────────────────── */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	remove(path);
	return 0;
}

void tree_remove(const char *path)
{
	nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
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
