/* SPDX-License-Identifier: Apache-2.0 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/reload/reload.h"
#include "loader/described.h"
#include "manifest/dropins.h"
#include "manifest/folders.h"
#include "util/cleanup.h"

/*
 * The files and folders whose changes begin a reload: those where toolboxes are registered, those
 * that they are made of, and those of the configuration. The loader finds out which of them has
 * changed.
 */

struct watched {
	struct text_list folders;
	struct text_list files;
};

static void watched_deinit(struct watched *watched)
{
	text_list_deinit(&watched->folders);
	text_list_deinit(&watched->files);
}

/* Add a copy of @path; without memory it is not watched. */
static void watch_path(struct text_list *list, const char *path)
{
	(void)text_list_add(list, path);
}

static void watch_folder(void *data, const char *path)
{
	struct watched *watched = data;

	watch_path(&watched->folders, path);
}

/* Watch a path that the tools of an interpreter depend on: a folder of packages, or a source. */
static void watch_depends(void *data, const char *path)
{
	struct watched *watched = data;
	struct stat status;

	if (stat(path, &status) == 0)
		watch_path(S_ISDIR(status.st_mode) ? &watched->folders : &watched->files, path);
}

/* Watch the files and folders that are served instead of registered ones, and what is beside a file. */
static void watch_given(const struct config_flags *flags, struct watched *watched)
{
	for (size_t i = 0; i < flags->n_files; i++) {
		const char *path = flags->files[i];
		cleanup_free char *copy = strdup(path);
		struct stat status;

		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			dropins_each_folder(path, watch_folder, watched);
		else if (copy)
			watch_folder(watched, dirname(copy));
	}
}

/* Watch the file that @path links to. */
static void watch_target(struct watched *watched, const char *path)
{
	cleanup_free char *target = NULL;
	struct stat status;

	if (lstat(path, &status) < 0 || !S_ISLNK(status.st_mode))
		return;
	target = realpath(path, NULL);
	if (target)
		watch_path(&watched->files, target);
}

/* Watch the registration folders, and those of libraries and of drop-in programs. */
static void watch_folders(const struct reload *reload, struct watched *watched)
{
	const struct text_list *dirs = &reload->parts.config->toolbox_dirs;
	cleanup(folders_listing_deinit) struct folders_listing listing = {0};

	for (size_t i = 0; i < dirs->n_items; i++)
		watch_folder(watched, dirs->items[i]);
	watch_folder(watched, reload->paths->library_dir);
	watch_given(reload->flags, watched);
	if (folders_list((const char *const *)dirs->items, dirs->n_items, &listing) < 0)
		return;
	for (size_t i = 0; i < listing.n_entries; i++)
		if (listing.entries[i].is_folder)
			dropins_each_folder(listing.entries[i].path, watch_folder, watched);
		else
			watch_target(watched, listing.entries[i].path);
}

/* Watch a file of the configuration, whether it exists or not, and the one that it links to. */
static void watch_configuration(void *data, const char *path)
{
	struct watched *watched = data;
	cleanup_free char *folder = *path == '/' ? NULL : get_current_dir_name();
	cleanup_free char *absolute = NULL;

	if (*path == '/')
		watch_path(&watched->files, path);
	else if (folder && asprintf(&absolute, "%s/%s", folder, path) >= 0)
		watch_path(&watched->files, absolute);
	watch_target(watched, path);
}

/* Watch the files of tokens. */
static void watch_http(const struct config_http *http, struct watched *watched)
{
	for (size_t i = 0; i < http->tokens.n_items; i++)
		if (http->tokens.items[i].file)
			watch_configuration(watched, http->tokens.items[i].file);
}

/* Libraries that are found by path are watched like the folders. The libraries of the dynamic
 * linker only change with the system. */
void reload_watch(struct reload *reload)
{
	const struct catalogue *catalogue = reload->parts.offer->catalogue;
	cleanup(watched_deinit) struct watched watched = {0};
	size_t n_toolboxes = catalogue_n_toolboxes(catalogue);

	if (!reload->watcher)
		return;
	watch_folders(reload, &watched);
	config_each_file(reload->flags, watch_configuration, &watched);
	config_each_folder(watch_folder, &watched);
	if (reload->parts.config->embedded_token_file)
		watch_configuration(&watched, reload->parts.config->embedded_token_file);
	watch_http(&reload->parts.config->http, &watched);
	for (size_t i = 0; i < n_toolboxes; i++) {
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);

		if (toolbox->package->library.path && strchr(toolbox->package->library.path, '/'))
			watch_path(&watched.files, toolbox->package->library.path);
	}
	for (size_t i = 0; i < catalogue_n_held(catalogue); i++)
		described_each_dependency(catalogue_held(catalogue, i), watch_depends, &watched);
	watcher_set(reload->watcher, (const char *const *)watched.folders.items,
		watched.folders.n_items, (const char *const *)watched.files.items,
		watched.files.n_items);
}
