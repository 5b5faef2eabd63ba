/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "offer/reload.h"
#include "loader/described.h"
#include "manifest/dropin/dropins.h"
#include "manifest/folders.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/log.h"
#include "util/text/text.h"

/*
 * The files and folders whose changes begin a reload: the registrations of toolboxes, the files
 * from which they are made, and the configuration's. The loader finds out which of them has
 * changed.
 *
 *   toolbox.d/home ─▶ ../latest ─▶ v1/   each link by its name, in the folder that it is in,
 *   tidy.sh ─▶ /repo/tidy.sh             and the target of the last link
 *
 * Where memory is short, less is watched, and everything is watched and loaded again a while later.
 *
 * A file with several names, or one that is mounted, is watched itself. inotify is silent about a
 * new mount, about other machines that write to a network file system, and about a parent that is
 * renamed: the next call looks at the files (catalogue/origin.h).
 */

/* The most links on the way to a file, as in the kernel. */
#define LINKS_MAX 40

/* The time until the next attempt, where memory was short. */
#define WATCH_AGAIN_MS 10000

struct watched {
	bool is_short; /* a path is missing: memory is short */
	struct text_list folders;
	struct text_list files;
	char plain[PATH_MAX]; /* the last path found to be no link, as no path on the way to it */
};

static void watched_deinit(struct watched *watched)
{
	text_list_deinit(&watched->folders);
	text_list_deinit(&watched->files);
}

/* Note the result @r of what adds paths. */
static void note_result(struct watched *watched, int r)
{
	watched->is_short = watched->is_short || r == -ENOMEM;
}

/* Add a copy of @path to @list, a list of @watched. */
static void watch_path(struct watched *watched, struct text_list *list, const char *path)
{
	note_result(watched, text_list_add(list, path));
}

static void watch_folder(void *data, const char *path)
{
	struct watched *watched = data;

	watch_path(watched, &watched->folders, path);
}

/* Drop the last part of the path @real, which is absolute or "". */
static void go_up(char *real)
{
	char *slash = strrchr(real, '/');

	if (slash)
		*slash = '\0';
}

/* Append the first part of the path *rest to @real, and move *rest after it. False when it does not
 * fit. */
static bool go_down(char real[PATH_MAX], const char **rest)
{
	size_t size = strcspn(*rest, "/");
	size_t length = strlen(real);
	const char *part = *rest;

	*rest += size;
	if (text_is(part, size, ".."))
		go_up(real);
	else if (size > 0 && !(size == 1 && *part == '.'))
		return snprintf(real + length, PATH_MAX - length, "/%.*s", (int)size, part) <
		       (int)(PATH_MAX - length);
	return true;
}

/* Read the link at @real, a path without links on the way to it, into @way. Return the size of its
 * target, or a negative number for other paths. Many files in a row have folders in common, which
 * are looked at once. */
static ssize_t read_link(struct watched *watched, const char *real, char way[PATH_MAX])
{
	size_t length = strlen(real);
	ssize_t size;

	if (length == 0 || (strncmp(watched->plain, real, length) == 0 &&
				   (watched->plain[length] == '/' || !watched->plain[length])))
		return -1;
	size = readlink(real, way, PATH_MAX - 1);
	if (size < 0)
		memcpy(watched->plain, real, length + 1);
	return size;
}

/* Watch each link on the way to @path, and the file that they lead to. */
static void watch_target(struct watched *watched, const char *path)
{
	char ways[2][PATH_MAX];
	char real[PATH_MAX] = "";
	const char *rest = path;
	unsigned int n_links = 0;

	if (*path != '/' && !getcwd(real, sizeof(real)))
		return;

	while (*(rest += strspn(rest, "/"))) {
		char *way = ways[n_links % 2];
		ssize_t size;

		if (!go_down(real, &rest))
			return;
		size = read_link(watched, real, way);
		if (size < 0)
			continue;
		watch_path(watched, &watched->files, real);
		if (++n_links > LINKS_MAX || (size_t)size + strlen(rest) + 1 >= PATH_MAX)
			return;
		strcpy(way + size, rest);
		rest = way;
		if (*rest == '/')
			*real = '\0';
		else
			go_up(real);
	}
	/* A link to /dev/null only masks. */
	if (n_links > 0 && strcmp(real, "/dev/null") != 0)
		watch_path(watched, &watched->files, real);
}

/* Watch a path that the tools of an interpreter depend on: a folder of packages, or a source. */
static void watch_depends(void *data, const char *path)
{
	struct watched *watched = data;
	struct stat status;

	if (stat(path, &status) == 0)
		watch_path(watched, S_ISDIR(status.st_mode) ? &watched->folders : &watched->files,
			path);
	if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
		watch_target(watched, path);
}

static void watch_link(void *data, const char *path)
{
	watch_target(data, path);
}

/* Watch the folder @path of programs, and the links in it. */
static void watch_programs(struct watched *watched, const char *path)
{
	const struct dropins_visitor visitor = {watch_folder, watch_link, watched};

	note_result(watched, dropins_visit(path, &visitor));
}

/* Watch the file of @origin itself, if its folder may not report its changes. */
static void watch_origins(struct watched *watched, const struct origins *origins)
{
	for (size_t i = 0; i < origins->n_items; i++)
		if (origins->items[i].is_shared)
			watch_path(watched, &watched->folders, origins->items[i].path);
}

/* Write the path @path from the working directory. Return 0 or a negative errno. */
static int make_absolute(const char *path, char **ret_absolute)
{
	cleanup_free char *folder = get_current_dir_name();

	if (!folder)
		return -errno;
	*ret_absolute = file_path(folder, path);
	return *ret_absolute ? 0 : -ENOMEM;
}

/* Watch the file or folder at @path by name, whether it exists or not, and the targets of its
 * links. */
static void watch_named(void *data, const char *path)
{
	struct watched *watched = data;
	cleanup_free char *absolute = NULL;
	int r = *path == '/' ? 0 : make_absolute(path, &absolute);

	note_result(watched, r);
	if (r == 0)
		watch_path(watched, &watched->files, absolute ? absolute : path);
	watch_target(watched, path);
}

/* Watch the files and folders that are served instead of registered ones, and what is beside a
 * file. */
static void watch_given(const struct config_flags *flags, struct watched *watched)
{
	for (size_t i = 0; i < flags->n_files; i++) {
		const char *path = flags->files[i];
		cleanup_free char *copy = strdup(path);
		struct stat status;

		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			watch_programs(watched, path);
		else if (copy)
			watch_folder(watched, dirname(copy));
		else
			note_result(watched, -ENOMEM);
	}
}

void reload_drop_listing(struct reload *reload)
{
	folders_listing_deinit(&reload->listing);
	text_list_deinit(&reload->programs);
	reload->is_listed = false;
}

/* Note a folder of programs, watched from now on. */
static void note_folder(void *data, const char *path)
{
	struct reload *reload = data;

	if (watcher_add(reload->watcher, &path, 1) < 0 ||
		text_list_add(&reload->programs, path) < 0)
		reload->is_listed = false;
}

/* Note a link in a folder of programs. */
static void note_link(void *data, const char *path)
{
	struct reload *reload = data;

	if (text_list_add(&reload->listing.links, path) < 0)
		reload->is_listed = false;
}

/* List the registration folders, and the folders of programs in them, unless it was done for this
 * load. Each is watched before: a change after a look at a folder begins a reload. Return 0 or a
 * negative errno. */
static int list_folders(struct reload *reload)
{
	const struct text_list *dirs = &reload->parts.config->toolbox_dirs;
	const char *const *paths = (const char *const *)dirs->items;
	const struct dropins_visitor visitor = {note_folder, note_link, reload};
	int r;

	if (reload->is_listed)
		return 0;
	reload_drop_listing(reload);
	r = watcher_add(reload->watcher, paths, dirs->n_items);
	r = r ? r : folders_list(paths, dirs->n_items, &reload->listing);
	reload->is_listed = r == 0;
	for (size_t i = 0; r == 0 && i < reload->listing.n_entries; i++)
		if (reload->listing.entries[i].is_folder)
			r = dropins_visit(reload->listing.entries[i].path, &visitor);
	reload->is_listed = reload->is_listed && r == 0;
	return reload->is_listed || r < 0 ? r : -ENOMEM;
}

/* Watch the registration folders, and the folders of libraries and of drop-in programs. */
static void watch_folders(struct reload *reload, struct watched *watched)
{
	const struct text_list *dirs = &reload->parts.config->toolbox_dirs;

	for (size_t i = 0; i < dirs->n_items; i++) {
		watch_folder(watched, dirs->items[i]);
		watch_named(watched, dirs->items[i]);
	}
	watch_folder(watched, reload->paths->library_dir);
	watch_given(reload->flags, watched);
	note_result(watched, list_folders(reload));
	for (size_t i = 0; i < reload->programs.n_items; i++)
		watch_folder(watched, reload->programs.items[i]);
	for (size_t i = 0; i < reload->listing.links.n_items; i++)
		watch_target(watched, reload->listing.links.items[i]);
}

/* Watch the files of tokens. */
static void watch_http(const struct config_http *http, struct watched *watched)
{
	for (size_t i = 0; i < http->tokens.n_items; i++)
		if (http->tokens.items[i].file)
			watch_named(watched, http->tokens.items[i].file);
}

/* Watch the libraries found by path, each once. The libraries of the dynamic linker only
 * change with the system. */
static void watch_libraries(const struct catalogue *catalogue, struct watched *watched)
{
	size_t n_toolboxes = catalogue_n_toolboxes(catalogue);
	cleanup_free const char **paths = NULL;
	size_t n_paths = 0;

	for (size_t i = 0; i < n_toolboxes; i++) {
		const struct toolbox_library *library =
			&catalogue_toolbox(catalogue, i, NULL, NULL)->package->library;

		for (; library; library = library->next) {
			int r = toolbox_library_is_path(library) ? array_grow(paths, n_paths) : 1;

			note_result(watched, r);
			if (r == 0)
				paths[n_paths++] = library->path;
		}
	}
	if (paths)
		qsort(paths, n_paths, sizeof(*paths), text_compare);
	for (size_t i = 0; i < n_paths; i++) {
		if (i > 0 && strcmp(paths[i - 1], paths[i]) == 0)
			continue;
		watch_path(watched, &watched->files, paths[i]);
		watch_target(watched, paths[i]);
	}
}

void reload_watch(struct reload *reload, bool is_again)
{
	const struct catalogue *catalogue = reload->parts.offer->catalogue;
	cleanup(watched_deinit) struct watched watched = {0};
	size_t n_toolboxes = catalogue_n_toolboxes(catalogue);

	reload->is_unwatched = false;
	if (!reload->watcher)
		return;
	watch_folders(reload, &watched);
	note_result(&watched, config_each_file(reload->flags, watch_named, &watched));
	note_result(&watched, config_each_folder(watch_folder, &watched));
	if (reload->parts.config->embedded_token_file)
		watch_named(&watched, reload->parts.config->embedded_token_file);
	watch_http(&reload->parts.config->http, &watched);
	watch_libraries(catalogue, &watched);
	for (size_t i = 0; i < n_toolboxes; i++) {
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);

		watch_origins(&watched, &toolbox->package->definition);
		watch_origins(&watched, &toolbox->package->programs);
	}
	for (size_t i = 0; i < catalogue_n_held(catalogue); i++)
		note_result(&watched, described_each_dependency(catalogue_held(catalogue, i),
					      watch_depends, &watched));
	if (!watched.is_short)
		note_result(&watched,
			watcher_set(reload->watcher, (const char *const *)watched.folders.items,
				watched.folders.n_items, (const char *const *)watched.files.items,
				watched.files.n_items, is_again));
	if (!watched.is_short)
		return;
	log_warning("Memory is short: not every change is noticed; the toolboxes are loaded "
		    "again in %d s",
		WATCH_AGAIN_MS / 1000);
	loop_timer_arm(&reload->rewatch, WATCH_AGAIN_MS);
}
