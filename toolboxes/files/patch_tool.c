/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "patch_apply.h"
#include "patch_parse.h"

/*
 * apply_patch: changes of several files, all of them or none.
 *
 *   parse ─▶ plan: each operation changes files in memory, as the ones before have left them
 *                ─▶ change.c: the files that differ now, on the disk
 */

/* The most operations of one patch: each may have the folders of two files open. */
#define OPERATIONS_MAX 400

/* A file that the patch names, as the operations so far have left it. */
struct planned {
	struct change change;
	struct text before;
	struct text now;
	bool exists;
};

struct plan {
	const struct patch *patch;
	struct planned *files;
	size_t n_files;
	struct text *why;
};

static bool refuse_file(const struct plan *plan, const char *path, const char *words)
{
	text_add_name(plan->why, path);
	text_put(plan->why, words);
	return false;
}

/* Return the path that @part means, which the caller frees; NULL, and the words: it means none. */
static char *path_of(const struct plan *plan, struct part part)
{
	struct text path = {0};

	if (*part.bytes != '/') {
		text_put(&path, fence_first_writable());
		text_put(&path, "/");
	}
	text_add(&path, part.bytes, part.size);
	if (!path.has_failed && !memchr(part.bytes, '\0', part.size))
		return path.data;
	text_put(plan->why, path.has_failed ? "out of memory" : "a path has the character U+0000");
	text_free(&path);
	return NULL;
}

/* Find the file at @path, or read it. NULL, and the words: it may not be written, or not be read.
 * */
static struct planned *find_file(struct plan *plan, const char *path)
{
	struct planned *file = &plan->files[plan->n_files];
	struct text *why = plan->why;

	if (!fence_find(path, true, &file->change.place, why))
		return NULL;
	for (size_t i = 0; i < plan->n_files; i++)
		if (strcmp(plan->files[i].change.place.path, file->change.place.path) == 0)
			return &plan->files[i];
	plan->n_files++;
	file->change.mode = 0644;
	file->exists = file->change.place.exists;
	if (!change_read(&file->change.place, &file->before, &file->change.seen, why))
		return NULL;
	text_add(&file->now, text_string(&file->before), file->before.size);
	if (file->before.has_failed || file->now.has_failed) {
		text_put(why, "out of memory");
		return NULL;
	}
	return file;
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

static bool plan_add(
	struct plan *plan, const struct patch_operation *operation, struct planned *file)
{
	const struct patch_line *lines = plan->patch->lines + operation->first_line;

	text_free(&file->now);
	for (size_t i = 0; i < operation->n_lines; i++) {
		text_add(&file->now, lines[i].text.bytes, lines[i].text.size);
		text_put(&file->now, "\n");
	}
	file->exists = true;
	return !file->now.has_failed;
}

/* Let @to be what @file is now. */
static bool plan_move(struct plan *plan, struct planned *file, struct part part)
{
	char *path = path_of(plan, part);
	struct planned *to = path ? find_file(plan, path) : NULL;
	bool is_good = to != NULL;

	if (to && to != file && to->exists)
		is_good = refuse_file(plan, path, " exists: nothing is moved over it");
	if (is_good && to != file) {
		const struct stat *status = &file->change.seen.status;

		text_free(&to->now);
		to->now = file->now;
		to->exists = true;
		to->change.mode =
			file->change.seen.exists ? status->st_mode & 0777 : file->change.mode;
		file->now = (struct text){0};
		file->exists = false;
	}
	free(path);
	return is_good;
}

static bool plan_update(struct plan *plan, const struct patch_operation *operation,
	struct planned *file, const char *path)
{
	struct text after = {0};
	bool is_good = patch_apply(plan->patch, operation, path, &file->now, &after, plan->why);

	if (is_good) {
		text_free(&file->now);
		file->now = after;
		after = (struct text){0};
	}
	text_free(&after);
	return is_good &&
	       (!operation->moves_to.bytes || plan_move(plan, file, operation->moves_to));
}

static bool plan_operation(struct plan *plan, const struct patch_operation *operation)
{
	char *path = path_of(plan, operation->path);
	struct planned *file = path ? find_file(plan, path) : NULL;
	bool is_good = file != NULL;

	if (is_good && operation->kind == PATCH_ADD && file->exists)
		is_good = refuse_file(plan, path,
			" exists: an added file is a new one; update it, or delete it first");
	else if (is_good && operation->kind != PATCH_ADD && !file->exists)
		is_good = refuse_file(plan, path, " does not exist");
	else if (is_good && operation->kind == PATCH_ADD)
		is_good = plan_add(plan, operation, file);
	else if (is_good && operation->kind == PATCH_UPDATE)
		is_good = plan_update(plan, operation, file, path);
	else if (is_good)
		file->exists = false;
	free(path);
	return is_good;
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether the file differs from what is on the disk. */
static bool is_changed(const struct planned *file)
{
	return file->exists != file->change.seen.exists ||
	       (file->exists && (file->now.size != file->before.size ||
					memcmp(text_string(&file->now), text_string(&file->before),
						file->now.size) != 0));
}

static bool make_changes(struct toolbox_call call, struct plan *plan)
{
	struct change *changes = calloc(plan->n_files + 1, sizeof(*changes));
	size_t n = 0;
	bool is_good;

	if (!changes)
		return refuse_file(plan, "", "out of memory");
	for (size_t i = 0; i < plan->n_files; i++) {
		struct planned *file = &plan->files[i];

		if (!is_changed(file))
			continue;
		file->change.text = &file->now;
		file->change.is_removed = !file->exists;
		changes[n++] = file->change;
	}
	is_good = change_make(call, changes, n, plan->why);
	free(changes);
	return is_good;
}

/* Append the paths of the operations of @kind, with the new path of a moved file. */
static void write_paths(
	const struct patch *patch, enum patch_kind kind, const char *mark, struct text *out)
{
	for (size_t i = 0; i < patch->n_operations; i++) {
		const struct patch_operation *operation = &patch->operations[i];
		struct part path =
			operation->moves_to.bytes ? operation->moves_to : operation->path;

		if (operation->kind != kind)
			continue;
		text_put(out, mark);
		text_add_lossy(out, path.bytes, path.size);
	}
}

static bool apply_all(
	struct toolbox_call call, const struct patch *patch, struct text *out, struct text *why)
{
	struct plan plan = {.patch = patch, .why = why};
	bool is_good = !fence_refuses_writes(call, why);

	if (patch->n_operations == 0 || patch->n_operations > OPERATIONS_MAX) {
		text_printf(why,
			patch->n_operations == 0 ? "No files were modified."
						 : "a patch has at most %d operations",
			OPERATIONS_MAX);
		return false;
	}
	/* Each operation names at most two files. */
	plan.files = calloc(2 * patch->n_operations + 1, sizeof(*plan.files));
	is_good = is_good && plan.files;
	for (size_t i = 0; is_good && i < patch->n_operations; i++)
		is_good = plan_operation(&plan, &patch->operations[i]);
	is_good = is_good && make_changes(call, &plan);
	text_put(out, "Success. Updated the following files:");
	write_paths(patch, PATCH_ADD, "\nA ", out);
	write_paths(patch, PATCH_UPDATE, "\nM ", out);
	write_paths(patch, PATCH_DELETE, "\nD ", out);
	for (size_t i = 0; i < plan.n_files; i++) {
		text_free(&plan.files[i].before);
		text_free(&plan.files[i].now);
	}
	free(plan.files);
	return is_good;
}

void apply_patch(struct toolbox_call call, void *data)
{
	struct patch patch = {0};
	struct text out = {0};
	struct text why = {0};
	const char *input = "";
	size_t size = 0;
	bool is_good;

	(void)data;
	toolbox_get_string(call, "input", &input, &size);
	is_good = patch_parse(input, size, &patch, &why) && apply_all(call, &patch, &out, &why);
	answer(call, "apply_patch", is_good, &out, &why);
	patch_free(&patch);
	text_free(&out);
	text_free(&why);
}
