/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/add/added.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/reader.h"
#include "json/writer.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/paths.h"

#define FILE_NAME      "added.json"
#define FILE_MODE      0600
#define FILE_BYTES_MAX (1u << 20)

/* The time for another toolboxctl, which may copy a folder. */
#define LOCK_WAIT_MS 30000

/* ── troubles ────────────────────────────────────────────────────────────────────────────────── */

/* Return the nearest folder of @path that exists, which the caller frees; NULL without memory. */
static char *find_nearest_folder(const char *path, struct stat *ret_status)
{
	char *folder = strdup(path);
	char *slash;

	while (folder && (stat(folder, ret_status) < 0 || !S_ISDIR(ret_status->st_mode)) &&
		(slash = strrchr(folder, '/')))
		slash[slash == folder] = '\0';
	return folder;
}

/* Return the name of the user @uid, or NULL. */
static const char *user_name(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? user->pw_name : NULL;
}

int added_complain(const char *path, int error)
{
	struct stat status;
	cleanup_free char *folder = find_nearest_folder(path, &status);
	cleanup_free char *owner = NULL;
	const char *self;

	if (folder && (error == -EACCES || error == -EPERM) && status.st_uid != geteuid() &&
		user_name(status.st_uid))
		owner = strdup(user_name(status.st_uid));
	self = user_name(geteuid());
	if (owner && self)
		terminal_complain("%s cannot be written: %s belongs to %s; type: sudo chown -R %s "
				  "%s; or, for all users of the device, as root, put the files "
				  "into /etc/toolboxd/toolbox.d",
			path, folder, owner, self, folder);
	else
		terminal_complain("%s cannot be written: %s", path, strerror(-error));
	return CTL_ERROR;
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

/* Add the paths of the array at the root of @tape to @list. Return whether it is such an array. */
static bool take_paths(const struct json_tape *tape, struct text_list *list)
{
	if (json_type_at(tape, 0) != JSON_ARRAY)
		return false;
	json_each(at, tape, 0) {
		if (json_type_at(tape, at) != JSON_STRING ||
			text_list_take(list, json_string_dup(tape, at, NULL)) < 0)
			return false;
	}
	return true;
}

/* Return 0, or CTL_ERROR after a complaint. */
static int read_paths(struct added *added)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = NULL;
	int r;

	if (asprintf(&path, "%s/" FILE_NAME, added->state) < 0)
		return CTL_ERROR;
	r = file_read(path, FILE_BYTES_MAX, &bytes);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0) {
		terminal_complain("%s cannot be read: %s", path, strerror(-r));
		return CTL_ERROR;
	}
	if (json_tape_read(&tape, bytes.data, bytes.size, JSON_DEPTH_DEFAULT, NULL) == 0 &&
		take_paths(&tape, &added->paths))
		return 0;
	terminal_complain("%s must be an array of paths; remove it, and `add` and `remove` touch "
			  "nothing that is there by now",
		path);
	return CTL_ERROR;
}

/* Find the two folders. Return 0, or CTL_ERROR after a complaint. */
static int find_folders(struct added *added)
{
	cleanup_free char *data = NULL;
	int r = paths_xdg_home("XDG_DATA_HOME", ".local/share", &data);

	r = r ? r : paths_state(&added->state);
	if (r == 0 && data && added->state) {
		if (asprintf(&added->folder, "%s/toolboxd/toolbox.d", data) >= 0)
			return 0;
		added->folder = NULL;
		r = -ENOMEM;
	}
	terminal_complain("there is no folder for toolboxes of this user: %s",
		r < 0 ? strerror(-r) : "HOME is not set");
	return CTL_ERROR;
}

int added_open(bool is_locked, struct added *ret_added)
{
	int r;

	*ret_added = (struct added){.lock = -1};
	if (find_folders(ret_added) != 0)
		return CTL_ERROR;
	r = is_locked ? file_lock(ret_added->state, LOCK_WAIT_MS, &ret_added->lock) : 0;
	if (r == -EAGAIN) {
		terminal_complain("another toolboxctl has been changing %s for %d s",
			ret_added->folder, LOCK_WAIT_MS / 1000);
		return CTL_ERROR;
	}
	return r < 0 ? added_complain(ret_added->state, r) : read_paths(ret_added);
}

/* Return whether @path is in the folder of @added, and nothing is there. */
static bool is_gone(const struct added *added, const char *path)
{
	size_t folder = strlen(added->folder);
	struct stat status;

	return strncmp(path, added->folder, folder) == 0 && path[folder] == '/' &&
	       lstat(path, &status) < 0 && errno == ENOENT;
}

int added_write(struct added *added)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	for (size_t i = added->paths.n_items; i-- > 0;)
		if (is_gone(added, added->paths.items[i]))
			text_list_remove(&added->paths, i);
	buffer_append_char(&text, '[');
	for (size_t i = 0; i < added->paths.n_items; i++) {
		buffer_append_string(&text, i > 0 ? ",\n " : "");
		json_write_bytes_lossy(&text, added->paths.items[i], strlen(added->paths.items[i]));
	}
	buffer_append_string(&text, "]\n");
	r = buffer_status(&text);
	r = r ? r : file_replace(added->state, FILE_NAME, text.data, text.size, FILE_MODE);
	return r < 0 ? added_complain(added->state, r) : 0;
}

void added_close(struct added *added)
{
	free(added->folder);
	free(added->state);
	text_list_deinit(&added->paths);
	if (added->lock >= 0)
		close(added->lock);
}

/* ── its paths ───────────────────────────────────────────────────────────────────────────────── */

char *added_path(const struct added *added, const char *name)
{
	return file_path(added->folder, name);
}

char *added_id(const struct added *added, size_t index)
{
	const char *path = added->paths.items[index];
	size_t folder = strlen(added->folder);
	size_t size;
	const char *stem = manifest_stem(path, &size);

	return strncmp(path, added->folder, folder) == 0 && stem == path + folder + 1
		       ? strndup(stem, size)
		       : NULL;
}

int added_note(struct added *added, const char *name)
{
	return added_has(added, name) || text_list_take(&added->paths, added_path(added, name)) == 0
		       ? 0
		       : CTL_ERROR;
}

/* Return whether @path is added_path() of @name. It needs no memory: a path kept by
 * mistake would let `add` replace the file of somebody else. */
static bool is_path_of(const struct added *added, const char *path, const char *name)
{
	size_t folder = strlen(added->folder);

	return strncmp(path, added->folder, folder) == 0 && path[folder] == '/' &&
	       strcmp(path + folder + 1, name) == 0;
}

bool added_has(const struct added *added, const char *name)
{
	for (size_t i = 0; i < added->paths.n_items; i++)
		if (is_path_of(added, added->paths.items[i], name))
			return true;
	return false;
}

void added_forget(struct added *added, const char *name)
{
	for (size_t i = added->paths.n_items; i-- > 0;)
		if (is_path_of(added, added->paths.items[i], name))
			text_list_remove(&added->paths, i);
}
