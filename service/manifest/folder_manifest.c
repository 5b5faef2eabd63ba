/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/folder_manifest.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/reader.h"
#include "manifest/dropin/dropin_scan.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/text_list.h"

#define SUFFIX ".json"

/* The names in a folder: those with ".json" at the end, and the others. */
struct entries {
	struct text_list json;
	struct text_list others;
};

static void entries_deinit(struct entries *entries)
{
	text_list_deinit(&entries->json);
	text_list_deinit(&entries->others);
}

/* Return 0, or a negative errno when memory or descriptors are short. */
static int list_entries(const char *folder, struct entries *entries)
{
	cleanup_folder DIR *listing = opendir(folder);
	const struct dirent *entry;
	int r = !listing && file_error_is_shortage(-errno) ? -errno : 0;

	for (unsigned int n = 0; listing && r == 0 && n < DROPIN_ENTRIES_MAX; n++) {
		size_t size;

		entry = readdir(listing);
		if (!entry)
			break;
		if (entry->d_name[0] == '.' || entry->d_name[0] == '_')
			continue;
		size = strlen(entry->d_name);
		r = text_list_add(
			size > strlen(SUFFIX) &&
					strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) == 0
				? &entries->json
				: &entries->others,
			entry->d_name);
	}
	return r;
}

/* Return whether the file at @path can be run. */
static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Return 1 if there is a program in @folder with the file name @json as its definition, 0 if not,
 * or -ENOMEM. */
static int defines_program(const char *folder, const struct entries *entries, const char *json)
{
	size_t json_size = strlen(json) - strlen(SUFFIX);

	for (size_t i = 0; i < entries->others.n_items; i++) {
		cleanup_free char *path = NULL;
		size_t size;
		const char *stem = dropin_stem(entries->others.items[i], &size);

		if (size != json_size || memcmp(stem, json, size) != 0)
			continue;
		path = file_path(folder, entries->others.items[i]);
		if (!path)
			return -ENOMEM;
		if (is_program(path))
			return 1;
	}
	return 0;
}

static bool has_member(const struct json_tape *tape, uint32_t object, const char *key)
{
	return json_type_at(tape, object) == JSON_OBJECT &&
	       json_find(tape, object, key) != JSON_NONE;
}

/* Return whether @tape holds a manifest, or an array file; not a definition, or data. */
static bool is_manifest(const struct json_tape *tape)
{
	if (json_type_at(tape, 0) == JSON_ARRAY)
		return json_count(tape, 0) > 0 && has_member(tape, json_first(tape, 0), "command");
	return has_member(tape, 0, "kind") || has_member(tape, 0, "library") ||
	       has_member(tape, 0, "tools");
}

/* How the content of a file looks. */
enum look {
	LOOK_OTHER,    /* JSON of some other sort, or it cannot be read */
	LOOK_MANIFEST, /* a manifest, good or bad */
	LOOK_BROKEN,   /* no JSON */
};

/* Return 0, or a negative errno when memory or descriptors are short. */
static int look_at(const char *path, enum look *ret_look)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = file_read(path, MANIFEST_BYTES_MAX, &bytes);

	if (r == 0)
		r = json_tape_read(
			&tape, buffer_text(&bytes), bytes.size, JSON_DEPTH_DEFAULT, NULL);
	if (file_error_is_shortage(r))
		return r;
	*ret_look = r > 0 ? LOOK_BROKEN : r == 0 && is_manifest(&tape) ? LOOK_MANIFEST : LOOK_OTHER;
	return 0;
}

/* Find the manifest with the name of its folder. Return 0 or a negative errno. */
static int find_named(const char *folder, const struct entries *entries, char **ret_path)
{
	cleanup_free char *name = NULL;
	cleanup_free char *path = NULL;
	enum look look = LOOK_OTHER;
	int r;

	if (asprintf(&name, "%s" SUFFIX, basename(folder)) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	path = file_path(folder, name);
	if (!path)
		return -ENOMEM;
	*ret_path = NULL;
	if (!text_list_has(&entries->json, name))
		return 0;
	r = look_at(path, &look);
	if (r == 0 && look == LOOK_BROKEN)
		r = defines_program(folder, entries, name);
	if (r == 0 && look != LOOK_OTHER)
		*ret_path = take_ptr(path);
	return r < 0 ? r : 0;
}

/* Find the only other manifest. */
static int find_only(const char *folder, const struct entries *entries, char **ret_path,
	struct diagnostics *problems)
{
	cleanup_free char *found = NULL;

	for (size_t i = 0; i < entries->json.n_items; i++) {
		const char *name = entries->json.items[i];
		cleanup_free char *path = file_path(folder, name);
		enum look look = LOOK_OTHER;
		int r = path ? look_at(path, &look) : -ENOMEM;

		if (r == 0 && look == LOOK_MANIFEST)
			r = defines_program(folder, entries, name);
		if (r < 0)
			return r;
		if (r > 0 || look != LOOK_MANIFEST)
			continue;
		if (found) {
			diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
				"%s and %s are manifests, and neither has the name of their "
				"folder: move each to a folder of its own",
				found, path);
			return FOLDER_MANIFEST_E_SEVERAL;
		}
		found = take_ptr(path);
	}
	*ret_path = take_ptr(found);
	return 0;
}

int folder_manifest_find(const char *folder, char **ret_path, struct diagnostics *problems)
{
	cleanup(entries_deinit) struct entries entries = {0};
	int r = list_entries(folder, &entries);

	if (r == 0)
		r = find_named(folder, &entries, ret_path);
	return r == 0 && !*ret_path ? find_only(folder, &entries, ret_path, problems) : r;
}
