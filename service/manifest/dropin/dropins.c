/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropins.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json/member.h"
#include "json/writer.h"
#include "manifest/dropin/dropin_definition.h"
#include "manifest/off.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* The keys forbidden to an overlay, since its folder determines them, and the keys without a
 * meaning for a toolbox beside the programs. */
static const char *const folders_own[] = {"toolbox_id", "kind", "tools", NULL};
static const char *const not_beside[] = {"toolbox_id", "kind", "tools", "env", "cwd", "gate", NULL};

/* A correct tool, to find mistakes of an overlay. */
static const char harmless[] = "{\"name\":\"x\",\"command\":{\"shell\":\":\"}}";

/* One folder being read. */
struct folder {
	struct manifest_reader *reader;
	const char *path;   /* as it is registered */
	char *real;         /* the real path: its programs are run by it, from any folder */
	struct buffer head; /* the manifest as far as its tools */
	struct dropin_list list;
	struct buffer *entries; /* the entry of each program in the list; empty: not offered */
	struct origins
		programs; /* the programs, and the files beside them, before they were read … */
	struct origins overlay; /* … and the overlay */
};

static void folder_deinit(struct folder *folder)
{
	for (size_t i = 0; folder->entries && i < folder->list.n_items; i++)
		buffer_deinit(&folder->entries[i]);
	free(folder->entries);
	free(folder->real);
	origins_deinit(&folder->programs);
	origins_deinit(&folder->overlay);
	buffer_deinit(&folder->head);
	dropin_list_deinit(&folder->list);
}

/* ── the frame ───────────────────────────────────────────────────────────────────────────────── */

/* The name of the file or folder at @path, without @suffix. */
static struct buffer name_of(const char *path, const char *suffix)
{
	const char *name = basename(path);
	size_t size = strlen(name);
	struct buffer out = {0};

	if (size > strlen(suffix) && strcmp(name + size - strlen(suffix), suffix) == 0)
		size -= strlen(suffix);
	buffer_append(&out, name, size);
	return out;
}

static int read_overlay(const char *path, struct buffer *bytes, struct json_tape *tape)
{
	int r = file_read(path, MANIFEST_BYTES_MAX, bytes);

	if (r < 0)
		return r;
	r = json_tape_read(tape, buffer_text(bytes), bytes->size, JSON_DEPTH_DEFAULT, NULL);
	return r == 0 && json_type_at(tape, 0) != JSON_OBJECT ? JSON_E_SYNTAX : r;
}

static bool is_value_text(
	const struct json_tape *tape, uint32_t token, const char *text, size_t size)
{
	return json_type_at(tape, token) == JSON_STRING &&
	       json_string_equals(tape, token, text, size);
}

int dropins_is_overlay(const char *path)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer name = name_of(path, ".json");
	uint32_t kind;
	uint32_t id;
	int r = read_overlay(path, &bytes, &tape);

	r = r ? r : buffer_status(&name);
	if (r != 0 || json_find(&tape, 0, "tools") != JSON_NONE)
		return file_error_is_shortage(r) ? r : 0;
	kind = json_find(&tape, 0, "kind");
	id = json_find(&tape, 0, "toolbox_id");
	return kind != JSON_NONE && is_value_text(&tape, kind, "command", strlen("command")) &&
	       (id == JSON_NONE || is_value_text(&tape, id, name.data, name.size));
}

/* Copy the members of the overlay, but for @left_out. An unreadable overlay has changed since its
 * check. */
static int copy_overlay(
	const char *path, const char *const *left_out, struct buffer *out, bool *ret_has_cwd)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = read_overlay(path, &bytes, &tape);

	if (r != 0)
		return r < 0 ? r : -EINVAL;
	*ret_has_cwd = json_find(&tape, 0, "cwd") != JSON_NONE;
	json_each_key(key, &tape, 0) {
		if (json_word_at(&tape, key, left_out) < 0)
			json_write_member_copy(out, &tape, key);
	}
	return 0;
}

static int write_overlaid_head(struct folder *folder, const char *overlay)
{
	cleanup(buffer_deinit) struct buffer id = name_of(folder->path, "");
	struct buffer *out = &folder->head;
	bool has_cwd = false;
	int r = 0;

	buffer_append_string(out, "{\"kind\":\"command\",\"toolbox_id\":");
	json_write_bytes_lossy(out, id.data, id.size);
	if (overlay)
		r = copy_overlay(overlay, folders_own, out, &has_cwd);
	if (!has_cwd) {
		buffer_append_string(out, ",\"cwd\":");
		json_write_bytes_lossy(out, folder->real, strlen(folder->real));
	}
	buffer_append_string(out, ",\"tools\":[");
	buffer_fail_with(out, &id);
	return r ? r : buffer_status(out);
}

/* ── toolboxes beside the programs ───────────────────────────────────────────────────────────── */

void dropin_toolboxes_deinit(struct dropin_toolboxes *toolboxes)
{
	for (size_t i = 0; i < toolboxes->n_items; i++) {
		free(toolboxes->items[i].path);
		free(toolboxes->items[i].manifest);
	}
	free(toolboxes->items);
	*toolboxes = (struct dropin_toolboxes){0};
}

/* Write the manifest of the file @dropin of @folder: home/lights.py is the toolbox home_lights. */
static int write_beside(const struct folder *folder, const struct dropin *dropin,
	const char *overlay, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer id = name_of(folder->path, "");
	bool has_cwd;
	int r = 0;

	buffer_printf(&id, "_%s", dropin->name);
	buffer_append_string(out, "{\"kind\":\"python\",\"toolbox_id\":");
	json_write_bytes_lossy(out, id.data, id.size);
	buffer_append_string(out, ",\"file\":");
	json_write_bytes_lossy(out, dropin->path, strlen(dropin->path));
	if (overlay)
		r = copy_overlay(overlay, not_beside, out, &has_cwd);
	buffer_append_char(out, '}');
	return r ? r : buffer_status(&id);
}

/* Add the file @dropin of @folder to @toolboxes, which has room. 0 or a negative errno. */
static int add_beside(const struct folder *folder, const struct dropin *dropin, const char *overlay,
	struct dropin_toolboxes *toolboxes)
{
	struct dropin_toolbox *toolbox = &toolboxes->items[toolboxes->n_items];
	cleanup(buffer_deinit) struct buffer out = {0};
	int r = write_beside(folder, dropin, overlay, &out);

	if (r < 0)
		return r;
	toolbox->path = strdup(dropin->path);
	toolbox->manifest = buffer_take(&out, NULL);
	toolboxes->n_items++;
	return toolbox->path && toolbox->manifest ? 0 : -ENOMEM;
}

static int add_all_beside(
	const struct folder *folder, const char *overlay, struct dropin_toolboxes *toolboxes)
{
	int r = 0;

	if (folder->list.n_toolboxes == 0)
		return 0;
	toolboxes->items = calloc(folder->list.n_toolboxes, sizeof(*toolboxes->items));
	if (!toolboxes->items)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < folder->list.n_toolboxes; i++)
		r = add_beside(folder, &folder->list.toolboxes[i], overlay, toolboxes);
	return r;
}

/* ── the tools ───────────────────────────────────────────────────────────────────────────────── */

static int define(struct folder *folder, size_t index, struct diagnostics *problems)
{
	struct dropin *dropin = &folder->list.items[index];
	cleanup(buffer_deinit) struct buffer reason = {0};
	cleanup_free char *definition = NULL;
	int r;

	if (dropin->reason)
		return 0;
	definition = dropin_definition_path(dropin);
	if (!definition || origins_add(&folder->programs, dropin->path, &dropin->program) < 0 ||
		origins_add(&folder->programs, definition, &dropin->definition) < 0)
		return -ENOMEM;
	r = dropin_define(dropin, &folder->entries[index], &reason, problems);
	return r == DROPIN_E_REFUSED
		       ? dropin_leave_out(dropin, "%.*s", (int)reason.size, reason.data)
		       : r;
}

static int define_all(struct folder *folder, struct diagnostics *problems)
{
	int r = 0;

	folder->entries = calloc(folder->list.n_items + 1, sizeof(*folder->entries));
	if (!folder->entries)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < folder->list.n_items; i++)
		r = define(folder, i, problems);
	return r;
}

/* Read the frame with @tools in it. */
static int read_with(struct folder *folder, const char *tools, size_t size,
	struct package **ret_package, struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append(&text, folder->head.data, folder->head.size);
	buffer_append(&text, tools, size);
	buffer_append_string(&text, "]}");
	if (buffer_status(&text))
		return -ENOMEM;
	return manifest_read_text(
		folder->reader, folder->path, text.data, text.size, ret_package, problems);
}

/* Read all offered programs; *ret_package stays NULL without any. */
static int read_all(
	struct folder *folder, struct package **ret_package, struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer tools = {0};

	for (size_t i = 0; i < folder->list.n_items; i++) {
		if (folder->list.items[i].reason)
			continue;
		if (tools.size > 0)
			buffer_append_char(&tools, ',');
		buffer_append(&tools, folder->entries[i].data, folder->entries[i].size);
	}
	if (buffer_status(&tools))
		return -ENOMEM;
	return tools.size > 0 ? read_with(folder, tools.data, tools.size, ret_package, problems)
			      : 0;
}

/* Let the files of @package be the files examined before they were read, by their registered paths:
 * links on the way to the folder count. 0 or -ENOMEM. */
static int place_origins(struct folder *folder, struct package *package)
{
	struct origins *programs = &folder->programs;
	struct tool *tool = package->toolboxes[0]->tools;
	int r = 0;

	for (size_t i = 0; r == 0 && i < programs->n_items; i++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, "%s%s", folder->path,
			    programs->items[i].path + strlen(folder->real)) < 0)
			path = NULL;
		r = path ? origin_move(&programs->items[i], path) : -ENOMEM;
	}
	/* A disabled toolbox has no tools. */
	for (size_t i = 0; r == 0 && tool && i < folder->list.n_items; i++) {
		if (folder->list.items[i].reason)
			continue;
		tool->program = folder->list.items[i].program;
		tool->beside = folder->list.items[i].definition;
		tool++;
	}
	origins_deinit(&package->programs);
	package->programs = *programs;
	*programs = (struct origins){0};
	package->definition = folder->overlay;
	folder->overlay = (struct origins){0};
	return r;
}

/* Leave the program out if it cannot be read alone; the reason is the first problem. */
static int try_alone(struct folder *folder, size_t index)
{
	cleanup(package_cleanup) struct package *package = NULL;
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	struct dropin *dropin = &folder->list.items[index];
	const struct buffer *entry = &folder->entries[index];
	static const char prefix[] = "/tools/0";
	const char *pointer;
	int r;

	if (dropin->reason)
		return 0;
	r = read_with(folder, entry->data, entry->size, &package, &problems);
	if (r != MANIFEST_E_REFUSED || problems.n_items == 0)
		return r;
	pointer = problems.items[0].pointer;
	if (strncmp(pointer, prefix, strlen(prefix)) == 0)
		pointer += strlen(prefix);
	return dropin_leave_out(dropin, "%s: %s%s%s", dropin->path, pointer, *pointer ? ": " : "",
		problems.items[0].text);
}

/* The whole was refused: by its frame, then with these @problems, or by some of its tools. */
static int read_rest(struct folder *folder, const char *overlay, struct package **ret_package,
	struct diagnostics *problems)
{
	cleanup(package_cleanup) struct package *probe = NULL;
	cleanup(diagnostics_deinit) struct diagnostics inside = {0};
	int r = read_with(folder, harmless, strlen(harmless), &probe, &inside);

	for (size_t i = 0; r == MANIFEST_E_REFUSED && i < inside.n_items; i++)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, inside.items[i].pointer, "%s%s%s",
			overlay ? overlay : "", overlay ? ": " : "", inside.items[i].text);
	for (size_t i = 0; r == 0 && i < folder->list.n_items; i++)
		r = try_alone(folder, i);
	return r ? r : read_all(folder, ret_package, problems);
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

static int report_skipped(const struct folder *folder, struct skipped_list *skipped)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < folder->list.n_items; i++) {
		const struct dropin *dropin = &folder->list.items[i];

		/* A file beside the program of its name is a part of the program. */
		if (dropin->is_aside && i > 0 &&
			strcmp(folder->list.items[i - 1].name, dropin->name) == 0)
			continue;
		if (dropin->reason)
			r = skipped_list_add(skipped, dropin->name, dropin->reason);
	}
	return r;
}

/* A folder that cannot be listed, or is too large, is a problem; a shortage of memory is not. */
static int scan(struct folder *folder, struct diagnostics *problems)
{
	int r;

	folder->real = realpath(folder->path, NULL);
	r = folder->real ? dropin_scan(folder->real, &folder->list) : -errno;
	if (r == 0 || file_error_is_shortage(r))
		return r;
	if (r == -E2BIG)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
			"has more than %d programs, or than %d entries of any sort", DROPINS_MAX,
			DROPIN_ENTRIES_MAX);
	else
		diagnostics_add(
			problems, DIAGNOSTIC_ERROR, 0, "", "cannot be listed: %s", strerror(-r));
	return MANIFEST_E_REFUSED;
}

/* Make the package of a folder of programs whose toolbox is off; its programs are not read. 0, or a
 * negative errno when memory or descriptors are short. */
static int read_off(const struct folder *folder, const char *overlay, struct package **ret_package)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	size_t i = 0;
	int r = 0;

	while (i < folder->list.n_items && folder->list.items[i].reason)
		i++;
	if (i == folder->list.n_items)
		return 0;
	if (overlay)
		r = file_read(overlay, MANIFEST_BYTES_MAX, &bytes);
	/* An overlay that cannot be read has changed, and is reported below. */
	if (r < 0)
		return file_error_is_shortage(r) ? r : 0;
	return manifest_off_read(folder->reader, folder->path, true,
		(struct text_view){bytes.data, bytes.size}, ret_package);
}

int dropins_read(struct manifest_reader *reader, const char *path, const char *overlay,
	struct package **ret_package, struct dropin_toolboxes *toolboxes,
	struct skipped_list *skipped, struct diagnostics *problems)
{
	cleanup(folder_deinit) struct folder folder = {.reader = reader, .path = path};
	cleanup(diagnostics_deinit) struct diagnostics first = {0};
	uint32_t index;
	int r = scan(&folder, problems);

	*ret_package = NULL;
	r = r ? r : read_off(&folder, overlay, ret_package);
	if (*ret_package) {
		r = add_all_beside(&folder, overlay, toolboxes);
		return r ? r : report_skipped(&folder, skipped);
	}
	if (r == 0 && overlay)
		r = origins_add(&folder.overlay, overlay, &index);
	r = r ? r : add_all_beside(&folder, overlay, toolboxes);
	r = r ? r : write_overlaid_head(&folder, overlay);
	r = r ? r : define_all(&folder, problems);
	r = r ? r : read_all(&folder, ret_package, &first);
	if (r == MANIFEST_E_REFUSED && first.n_errors > 0)
		r = read_rest(&folder, overlay, ret_package, problems);
	if (r == 0 && *ret_package)
		r = place_origins(&folder, *ret_package);
	if (r < 0)
		return r;
	return report_skipped(&folder, skipped) < 0 ? -ENOMEM : r;
}

/* Return whether @entry, with the path @path, is a folder or leads to a folder. */
static bool is_folder(const struct dirent *entry, const char *path)
{
	struct stat status;

	return entry->d_type == DT_DIR || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* Visit @folder. Return 0 or -ENOMEM. */
static int visit(const char *folder, const struct dropins_visitor *visitor, bool is_service)
{
	cleanup_folder DIR *entries = opendir(folder);
	const struct dirent *entry;
	unsigned int n_seen = 0;
	int r = 0;

	visitor->folder(visitor->data, folder);
	while (r == 0 && entries && n_seen++ < DROPIN_ENTRIES_MAX && (entry = readdir(entries))) {
		cleanup_free char *path = NULL;

		if (entry->d_type == DT_REG || entry->d_name[0] == '.')
			continue;
		path = file_path(folder, entry->d_name);
		if (!path)
			return -ENOMEM;
		if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
			visitor->link(visitor->data, path);
		if (!is_service && !dropin_is_left_out(entry->d_name) && is_folder(entry, path))
			r = visit(path, visitor, true);
	}
	return r;
}

int dropins_visit(const char *folder, const struct dropins_visitor *visitor)
{
	return visit(folder, visitor, false);
}
