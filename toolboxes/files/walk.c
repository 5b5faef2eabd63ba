/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ignore.h"

/* The most levels of folders; each has a descriptor. */
#define DEPTH_MAX 64

/* A folder above, for its files of rules. Each is opened from the one before: the time grows with
 * the depth, and not with its square. */
#define ABOVE_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A path that grows and shrinks with the walk. */
struct path {
	char text[PATH_MAX];
	size_t size;
};

static bool walk_folder(
	struct walk *walk, int fd, struct path *path, const struct ignore *above, int depth);

static unsigned char type_of(int folder, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : DT_UNKNOWN;
}

/* Walk the folder @name of the folder @fd; @path is its path. */
static bool walk_below(struct walk *walk, int fd, const char *name, struct path *path,
	const struct ignore *above, int depth)
{
	int below;

	if (depth == DEPTH_MAX) {
		walk->n_too_deep++;
		return true;
	}
	below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below >= 0)
		return walk_folder(walk, below, path, above, depth + 1);
	walk->n_unreadable++;
	return true;
}

/* Go on with the entry @entry of the folder @fd. */
static bool walk_entry(struct walk *walk, int fd, const struct dirent *entry, struct path *path,
	const struct ignore *ignore, int depth)
{
	const char *name = entry->d_name;
	size_t size = strlen(name);
	size_t before = path->size;
	unsigned char type;
	bool goes_on = true;

	if (*name == '.' || before + size + 2 > sizeof(path->text))
		return true;
	type = type_of(fd, entry);
	if (type != DT_REG && type != DT_DIR)
		return true;
	path->text[before] = '/';
	memcpy(path->text + before + 1, name, size + 1);
	path->size = before + 1 + size;
	if (!fence_hides_entry(path->text, path->size) &&
		!ignore_has(ignore, path->text, name, type == DT_DIR))
		goes_on = type == DT_DIR ? walk_below(walk, fd, name, path, ignore, depth)
					 : walk->found(walk->data, fd, name, path->text);
	path->size = before;
	return goes_on;
}

/* Walk the open folder @fd, which is closed. */
static bool walk_folder(
	struct walk *walk, int fd, struct path *path, const struct ignore *above, int depth)
{
	DIR *dir = fdopendir(fd);
	const struct ignore *ignore;
	const struct dirent *entry;
	bool goes_on = true;

	if (!dir) {
		close(fd);
		walk->n_unreadable++;
		return true;
	}
	ignore = ignore_read(fd, path->size, above);
	while (goes_on && (entry = readdir(dir)))
		goes_on = walk_entry(walk, fd, entry, path, ignore, depth);
	ignore_free(ignore, above);
	closedir(dir);
	return goes_on;
}

/* Read the rules of the folders above @place, from the folder @at of the first @size bytes of the
 * path on (-1: the rest has no rules), then walk the folder @fd. Both are closed. The levels share
 * @place: each cuts the path, and makes it whole again. */
static bool walk_from_root(struct walk *walk, struct place *place, size_t size, int at, int fd,
	struct path *path, const struct ignore *above)
{
	const struct ignore *ignore = above;
	int below = -1;
	bool goes_on;
	size_t end;
	char cut;

	if (size >= strlen(place->path)) {
		memcpy(path->text, place->path, strlen(place->path) + 1);
		path->size = strcmp(place->path, "/") == 0 ? 0 : strlen(place->path);
		if (at >= 0)
			close(at);
		return walk_folder(walk, fd, path, above, 0);
	}
	end = size + 1 + strcspn(place->path + size + 1, "/");
	cut = place->path[end];
	place->path[end] = '\0';
	if (at >= 0) {
		ignore = ignore_read(at, size, above);
		below = openat(at, place->path + size + 1, ABOVE_FLAGS);
		close(at);
	}
	place->path[end] = cut;
	goes_on = walk_from_root(walk, place, end, below, fd, path, ignore);
	ignore_free(ignore, above);
	return goes_on;
}

int walk(struct walk *walk, const struct place *place)
{
	struct path *path = calloc(1, sizeof(*path));
	struct place *folder = calloc(1, sizeof(*folder));
	int fd = path && folder ? fence_open(place, O_RDONLY | O_DIRECTORY) : -ENOMEM;

	if (fd >= 0) {
		*folder = *place;
		(void)walk_from_root(walk, folder,
			strcmp(place->root, "/") == 0 ? 0 : strlen(place->root),
			open(place->root, ABOVE_FLAGS), fd, path, NULL);
	}
	free(folder);
	free(path);
	return fd < 0 ? fd : 0;
}
