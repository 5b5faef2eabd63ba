/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * list_dir: the entries of a folder, level by level, each folder's sorted by their bytes.
 *
 *   level 1   a/ b c@        the names of one folder are read to the end, but only the first ones
 * in
 *   level 2   a/x a/y        their order are kept: as many as the answer can still have
 *
 * So a folder of a million entries takes time, but no memory.
 */

/* The most entries that an answer reaches, by its offset and limit. */
#define REACH_MAX 100000

struct entry {
	char *path; /* relative to the listed folder; owned */
	char kind;  /* '/', '@', '?', or 0 for a file */
};

struct entries {
	struct entry *items;
	size_t n;
	size_t room;
	bool has_more; /* some were left out, in this level or the folder */
};

struct listing {
	struct toolbox_call call;
	struct place place;
	struct text out;
	struct text why;
	size_t offset;
	size_t limit;
	size_t n_seen;   /* entries of the levels that are over */
	size_t n_hidden; /* entries that hold secrets */
	bool has_more;
	bool is_late;
};

static void entries_drop(struct entries *entries, size_t first)
{
	for (size_t i = first; i < entries->n; i++)
		free(entries->items[i].path);
	entries->n = first < entries->n ? first : entries->n;
}

static void entries_free(struct entries *entries)
{
	entries_drop(entries, 0);
	free(entries->items);
	*entries = (struct entries){0};
}

static bool entries_add(struct entries *entries, char *path, char kind)
{
	if (entries->n == entries->room) {
		size_t room = entries->room ? 2 * entries->room : 64;
		struct entry *items = realloc(entries->items, room * sizeof(*items));

		if (!items) {
			free(path);
			return false;
		}
		entries->items = items;
		entries->room = room;
	}
	entries->items[entries->n++] = (struct entry){path, kind};
	return path != NULL;
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* Sort the entries from @first on, and keep the first @max of all. */
static void entries_trim(struct entries *entries, size_t first, size_t max)
{
	if (entries->n > first)
		qsort(entries->items + first, entries->n - first, sizeof(*entries->items),
			compare_entries);
	entries->has_more |= entries->n > max;
	entries_drop(entries, max > first ? max : first);
}

/* ── one folder ──────────────────────────────────────────────────────────────────────────────── */

static char kind_of_entry(int folder, const struct dirent *entry)
{
	struct stat status;

	switch (entry->d_type) {
	case DT_REG:
		return 0;
	case DT_DIR:
		return '/';
	case DT_LNK:
		return '@';
	case DT_UNKNOWN:
		break;
	default:
		return '?';
	}
	if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return '?';
	return S_ISREG(status.st_mode)   ? 0
	       : S_ISDIR(status.st_mode) ? '/'
	       : S_ISLNK(status.st_mode) ? '@'
					 : '?';
}

/* Return FOLDER/NAME, or NAME for the folder "", which the caller frees; NULL without memory. */
static char *join_path(const char *folder, const char *name)
{
	struct text path = {0};

	text_put(&path, folder);
	text_put(&path, *folder ? "/" : "");
	text_put(&path, name);
	if (path.has_failed)
		text_free(&path);
	return path.data;
}

/* Return whether the entry @path of the listed folder is hidden. */
static bool is_hidden(const struct listing *listing, const char *path)
{
	char *whole =
		join_path(strcmp(listing->place.path, "/") == 0 ? "" : listing->place.path, path);
	bool is_hidden = !whole || fence_hides_entry(whole, strlen(whole));

	free(whole);
	return is_hidden;
}

/* Add the entry @entry of the open folder @fd, whose path is @folder. Return false without memory.
 * */
static bool add_entry(struct listing *listing, int fd, const char *folder,
	const struct dirent *entry, struct entries *level)
{
	char *path;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return true;
	path = join_path(folder, entry->d_name);
	if (path && is_hidden(listing, path)) {
		listing->n_hidden++;
		free(path);
		return true;
	}
	return path && entries_add(level, path, kind_of_entry(fd, entry));
}

/* Add the entries of the folder @folder, in their order, up to @max in @level. Return 0 or a
 * negative errno. */
static int read_folder(
	struct listing *listing, const char *folder, size_t max, struct entries *level)
{
	struct place place = listing->place;
	size_t first = level->n;
	size_t used = strlen(place.path);
	const struct dirent *entry;
	DIR *dir;
	int fd;
	int r = 0;

	if (*folder && used + strlen(folder) + 2 > sizeof(place.path))
		return -ENAMETOOLONG;
	if (*folder)
		snprintf(place.path + used, sizeof(place.path) - used, "%s%s", used > 1 ? "/" : "",
			folder);
	fd = fence_open(&place, O_RDONLY | O_DIRECTORY);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return fd < 0 ? fd : -ENOMEM;
	while (r == 0 && (entry = readdir(dir))) {
		if (!add_entry(listing, fd, folder, entry, level))
			r = -ENOMEM;
		if (level->n < 2 * max + 64)
			continue;
		entries_trim(level, first, max);
		listing->is_late |= is_late(listing->call);
		if (listing->is_late)
			break;
	}
	entries_trim(level, first, max);
	closedir(dir);
	return r;
}

/* ── levels ──────────────────────────────────────────────────────────────────────────────────── */

/* Append the entries of @level that the answer has. */
static void write_level(struct listing *listing, const struct entries *level)
{
	for (size_t i = 0; i < level->n; i++) {
		const struct entry *entry = &level->items[i];
		const char suffix[] = {entry->kind, '\0'};
		size_t number = listing->n_seen + i + 1;

		if (number < listing->offset)
			continue;
		if (number >= listing->offset + listing->limit ||
			listing->out.size > ANSWER_BYTES_MAX) {
			listing->has_more = true;
			return;
		}
		text_put(&listing->out, "\n");
		text_add_name(&listing->out, entry->path);
		text_put(&listing->out, suffix);
	}
	listing->has_more |= level->has_more;
}

/* Add a line about the folder @folder, which cannot be read. */
static void write_unreadable(struct listing *listing, const char *folder, int error)
{
	text_put(&listing->out, "\n");
	text_add_name(&listing->out, folder);
	text_printf(&listing->out, "/ cannot be read: %s", strerror(-error));
}

/* Read the entries of the folders of @above into @below. Return whether there is memory. */
static bool read_level(struct listing *listing, const struct entries *above, struct entries *below)
{
	size_t reach = listing->offset + listing->limit;
	size_t max = reach > listing->n_seen ? reach - listing->n_seen : 0;
	int r = 0;

	for (size_t i = 0; i < above->n && r != -ENOMEM && !listing->is_late; i++) {
		if (above->items[i].kind != '/')
			continue;
		if (below->n >= max) {
			below->has_more = true;
			break;
		}
		r = read_folder(listing, above->items[i].path, max, below);
		if (r < 0 && r != -ENOMEM)
			write_unreadable(listing, above->items[i].path, r);
	}
	return r != -ENOMEM;
}

/* List @depth levels of the folder. */
static bool list_levels(struct listing *listing, uint64_t depth)
{
	struct entries level = {0};
	int r = read_folder(listing, "", listing->offset + listing->limit, &level);

	if (r < 0) {
		text_add_name(&listing->why, listing->place.path);
		fence_write_error(listing->place.path, -r, &listing->why);
	}
	while (r == 0 && level.n > 0) {
		struct entries below = {0};

		write_level(listing, &level);
		listing->n_seen += level.n;
		if (--depth == 0 || listing->has_more || listing->is_late)
			break;
		if (!read_level(listing, &level, &below))
			r = -ENOMEM;
		entries_free(&level);
		level = below;
	}
	entries_free(&level);
	return r == 0;
}

static bool list_folder(struct listing *listing, const char *path, uint64_t depth)
{
	if (!fence_find(path, false, &listing->place, &listing->why))
		return false;
	if (listing->offset > REACH_MAX) {
		text_printf(&listing->why,
			"offset is at most %d: list a subfolder, or let grep_files find files by "
			"`include`",
			REACH_MAX);
		return false;
	}
	text_put(&listing->out, "Absolute path: ");
	text_add_name(&listing->out, path);
	if (!list_levels(listing, depth))
		return false;
	if (listing->offset > 1 && listing->n_seen < listing->offset && !listing->has_more) {
		text_put(&listing->why, "offset exceeds directory entry count");
		return false;
	}
	if (listing->has_more)
		text_printf(&listing->out, "\nMore than %zu entries found", listing->limit);
	if (listing->is_late)
		text_put(&listing->out,
			"\nThe rest was not listed: the folder takes too long to read");
	if (listing->n_hidden > 0)
		text_printf(&listing->out, "\nLeft out, since they hold secrets: %zu entries",
			listing->n_hidden);
	return true;
}

void list_dir(struct toolbox_call call, void *data)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	const char *path;

	(void)data;
	if (!listing) {
		toolbox_fail(call, "out of memory");
		return;
	}
	path = read_path(call, "dir_path", "", &listing->why);
	listing->call = call;
	listing->offset = (size_t)read_number(call, "offset", 1, REACH_MAX + 1);
	listing->limit = (size_t)read_number(call, "limit", LIST_ENTRIES, REACH_MAX);
	answer(call, "list_dir",
		path && list_folder(
				listing, path, read_number(call, "depth", LIST_DEPTH, UINT64_MAX)),
		&listing->out, &listing->why);
	text_free(&listing->out);
	text_free(&listing->why);
	free(listing);
}
