/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/add/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "manifest/manifest.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/tree.h"

#define SUFFIX ".json"

/* The bounds of a folder: a library that is larger belongs into a package of the system. */
#define FOLDER_ENTRIES_MAX 10000
#define FOLDER_BYTES_MAX   ((size_t)256 << 20)
#define FOLDER_DEPTH_MAX   16

/* ── the hidden folder ───────────────────────────────────────────────────────────────────────── */

int stage_open(struct added *added, struct stage *ret_stage)
{
	cleanup_free char *path = NULL;
	int r = file_make_folders(added->folder);

	*ret_stage = (struct stage){.added = added};
	if (r == 0 && asprintf(&path, "%s/.add-XXXXXX", added->folder) < 0)
		r = -ENOMEM;
	if (r == 0 && !mkdtemp(path))
		r = -errno;
	if (r < 0)
		return added_complain(added->folder, r);
	ret_stage->path = take_ptr(path);
	return 0;
}

void stage_close(struct stage *stage)
{
	if (stage->path)
		tree_remove(stage->path);
	for (size_t i = 0; i < stage->n_items; i++) {
		free(stage->items[i].name);
		free(stage->items[i].path);
	}
	free(stage->items);
	free(stage->path);
}

/* ── copies ──────────────────────────────────────────────────────────────────────────────────── */

/* Return 0, or CTL_USAGE after a complaint: no service looks at such a registration. */
static int check_id(const char *source, const char *id)
{
	if (manifest_is_id(id) && *id != '_')
		return 0;
	terminal_complain("%s: the id '%s' must be 1 to %d letters, digits, '_' and '-', the first "
			  "no '_'",
		source, id, TOOLBOX_ID_BYTES);
	return CTL_USAGE;
}

/* Return whether @path exists, a dangling link too. */
static bool exists(const char *path)
{
	struct stat status;

	return path && lstat(path, &status) == 0;
}

/* Complain about a registration of somebody else. Return CTL_ERROR. */
static int complain_own(const char *path)
{
	terminal_complain("%s is there, and `toolboxctl add` has not put it there: change it "
			  "itself, or move it away",
		path);
	return CTL_ERROR;
}

/* Return 0, or an enum ctl_status after a complaint: @item, which is not in @stage yet, would take
 * the place of another one, or of a registration of somebody else. */
static int check_staged(const struct stage *stage, const struct staged *item)
{
	cleanup_free char *path = added_path(stage->added, item->name);

	for (size_t i = 0; i < stage->n_items; i++)
		if (strcmp(stage->items[i].name, item->name) == 0) {
			terminal_complain("%s and %s would both be %s", stage->items[i].source,
				item->source, item->name);
			return CTL_USAGE;
		}
	/* A file that comes now belongs to somebody else. */
	if (!exists(path))
		added_forget(stage->added, item->name);
	else if (!added_has(stage->added, item->name))
		return complain_own(path);
	return 0;
}

/* Begin the item for @source with the id @id. Return 0, or an enum ctl_status after a complaint. */
static int begin_item(struct stage *stage, const char *source, const char *id, bool is_folder,
	struct staged **ret_item)
{
	struct staged item = {.source = source, .is_folder = is_folder};
	cleanup_free char *name = NULL;
	cleanup_free char *path = NULL;
	int r = check_id(source, id);

	if (r != 0)
		return r;
	if (asprintf(&name, "%s%s", id, is_folder ? "" : SUFFIX) < 0 ||
		asprintf(&path, "%s/%s", stage->path, name) < 0 ||
		array_grow(stage->items, stage->n_items) < 0)
		return CTL_ERROR;
	item.name = name;
	item.path = path;
	r = check_staged(stage, &item);
	if (r != 0)
		return r;
	name = path = NULL;
	stage->items[stage->n_items] = item;
	*ret_item = &stage->items[stage->n_items++];
	return 0;
}

static int complain_copy(const char *source, int error)
{
	if (error == -EFBIG)
		terminal_complain("%s is too large to be added", source);
	else
		terminal_complain("%s cannot be copied: %s", source, strerror(-error));
	return CTL_USAGE;
}

/* Copy a manifest on stdin: its toolbox_id names it. */
static int copy_stdin(struct stage *stage, const char *source)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = NULL;
	char id[MANIFEST_ID_BYTES];
	struct staged *item;
	int r = file_read_fd(STDIN_FILENO, MANIFEST_BYTES_MAX, &bytes);

	r = r ? r : file_replace(stage->path, SUFFIX, bytes.data, bytes.size, 0644);
	if (r < 0)
		return complain_copy("stdin", r);
	if (asprintf(&path, "%s/" SUFFIX, stage->path) < 0)
		return CTL_ERROR;
	manifest_id(path, id);
	if (!manifest_is_id(id)) {
		terminal_complain("the manifest on stdin must be JSON with a \"toolbox_id\", which "
				  "names its file");
		return CTL_USAGE;
	}
	r = begin_item(stage, source, id, false, &item);
	return r == 0 && rename(path, item->path) < 0 ? complain_copy("stdin", -errno) : r;
}

static int copy_file(struct stage *stage, const char *source)
{
	size_t stem_size;
	const char *stem = manifest_stem(source, &stem_size);
	char id[MANIFEST_ID_BYTES];
	struct staged *item;
	int r;

	if (!stem[stem_size]) {
		terminal_complain("%s must be a manifest NAME.json, or a folder; a program is "
				  "added with its folder",
			source);
		return CTL_USAGE;
	}
	manifest_id(source, id);
	r = begin_item(stage, source, id, false, &item);
	if (r != 0)
		return r;
	r = tree_copy_file(source, item->path, MANIFEST_BYTES_MAX);
	return r < 0 ? complain_copy(source, r) : 0;
}

static int copy_folder(struct stage *stage, const char *source)
{
	static const struct tree_limits limits = {
		.entries = FOLDER_ENTRIES_MAX,
		.bytes = FOLDER_BYTES_MAX,
		.depth = FOLDER_DEPTH_MAX,
	};
	cleanup_free char *real = realpath(source, NULL);
	cleanup_free char *fault = NULL;
	struct staged *item;
	int r;

	if (!real)
		return complain_copy(source, -errno);
	r = begin_item(stage, source, strrchr(real, '/') + 1, true, &item);
	if (r != 0)
		return r;
	r = tree_copy(real, item->path, &limits, &fault);
	return r < 0 ? complain_copy(fault ? fault : source, r) : 0;
}

int stage_copy(struct stage *stage, const char *source)
{
	struct stat status;

	if (strcmp(source, "-") == 0)
		return copy_stdin(stage, source);
	if (stat(source, &status) < 0)
		return complain_copy(source, -errno);
	return S_ISDIR(status.st_mode) ? copy_folder(stage, source) : copy_file(stage, source);
}

/* ── putting ─────────────────────────────────────────────────────────────────────────────────── */

/* Exchange the item with what `add` has put into the folder, or move it there. */
static int put_staged(struct stage *stage, struct staged *item)
{
	cleanup_free char *path = added_path(stage->added, item->name);
	bool is_ours = exists(path) && added_has(stage->added, item->name);
	unsigned int how = is_ours ? RENAME_EXCHANGE : RENAME_NOREPLACE;

	if (!path)
		return added_complain(stage->added->folder, -ENOMEM);
	if (renameat2(AT_FDCWD, item->path, AT_FDCWD, path, how) < 0)
		return errno == EEXIST ? complain_own(path) : added_complain(path, -errno);
	item->is_put = true;
	item->has_replaced = is_ours;
	return 0;
}

/* Put everything back as it was. */
static void put_back(struct stage *stage)
{
	for (size_t i = stage->n_items; i-- > 0;) {
		struct staged *item = &stage->items[i];
		cleanup_free char *path = added_path(stage->added, item->name);
		unsigned int how = item->has_replaced ? RENAME_EXCHANGE : RENAME_NOREPLACE;

		if (item->is_put && path &&
			renameat2(AT_FDCWD, path, AT_FDCWD, item->path, how) < 0)
			added_complain(path, -errno);
		item->is_put = false;
	}
}

/* Return whether @name is one of the items. */
static bool has_staged(const struct stage *stage, const char *name)
{
	for (size_t i = 0; i < stage->n_items; i++)
		if (strcmp(stage->items[i].name, name) == 0)
			return true;
	return false;
}

/* Take out what `add` had put there under the id of @item in the other form, a file or a folder. A
 * manifest and its folder of programs that come together stay together. */
static int take_other(struct stage *stage, const struct staged *item)
{
	cleanup_free char *other = item->is_folder ? NULL : strdup(item->name);
	int r = 0;

	if (item->is_folder && asprintf(&other, "%s" SUFFIX, item->name) < 0)
		return CTL_ERROR;
	if (!other)
		return CTL_ERROR;
	if (!item->is_folder)
		other[strlen(other) - strlen(SUFFIX)] = '\0';
	if (added_has(stage->added, other) && !has_staged(stage, other))
		r = stage_take(stage, other);
	return r;
}

/* Let the names in the folder outlast a loss of power. */
static void sync_folder(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

int stage_put(struct stage *stage)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < stage->n_items; i++)
		r = put_staged(stage, &stage->items[i]);
	for (size_t i = 0; r == 0 && i < stage->n_items; i++)
		r = added_note(stage->added, stage->items[i].name);
	r = r ? r : added_write(stage->added);
	if (r != 0) {
		put_back(stage);
		return r;
	}
	for (size_t i = 0; r == 0 && i < stage->n_items; i++)
		r = take_other(stage, &stage->items[i]);
	sync_folder(stage->added->folder);
	return r;
}

int stage_take(struct stage *stage, const char *name)
{
	cleanup_free char *from = added_path(stage->added, name);
	cleanup_free char *to = NULL;

	if (!from || asprintf(&to, "%s/.%s", stage->path, name) < 0)
		return CTL_ERROR;
	if (rename(from, to) < 0 && errno != ENOENT)
		return added_complain(from, -errno);
	added_forget(stage->added, name);
	sync_folder(stage->added->folder);
	return added_write(stage->added);
}
