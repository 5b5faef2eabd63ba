/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "manifest/manifest_inside.h"
#include "manifest/manifest_tool.h"

/*
 * What hosts tell of their tools, read as the manifests that would have said it: whatever a host
 * says is checked as what an author writes.
 *
 *   plugin   {"tools": […]}                                        the toolbox's own tools
 *   python   {"toolboxes": [{"toolbox_id", "tools": […]}, …],      a part for each
 *             "failed": [{"toolbox_id", "error"}, …]}
 */

/* Of one manifest. */
#define PARTS_MAX 1000

/* Read what is told as the manifest that would have said it: in the tape and bytes of the reader.
 */
static int read_told(struct manifest_reader *reader, const struct json_tape *told, uint32_t tools,
	struct toolbox *toolbox, struct problems *problems)
{
	struct buffer *bytes = &reader->bytes;
	int r;

	buffer_reset(bytes);
	buffer_append_string(bytes, "{\"kind\":\"plugin\",\"library\":\"-\",\"tools\":");
	json_write_compact(bytes, told, tools);
	buffer_append_char(bytes, '}');
	r = buffer_status(bytes);
	r = r ? r
	      : json_tape_read(&reader->tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		problems_add_line(problems, PROBLEM_ERROR, 0, "/tools",
			"must be nested at most %d levels deep; it is deeper", JSON_DEPTH_DEFAULT);
	r = r ? r : manifest_check_shape(reader, problems);
	if (r)
		return r < 0 ? r : 0;
	return manifest_read_tools(
		reader, &reader->tape, json_find(&reader->tape, 0, "tools"), toolbox, problems);
}

/* 0, MANIFEST_E_REFUSED, or -ENOMEM. */
static int take(struct manifest_reader *reader, const struct json_tape *told, uint32_t tools,
	struct toolbox *toolbox, struct problems *problems)
{
	cleanup(problems_deinit) struct problems found = {0};
	int r = read_told(reader, told, tools, toolbox, &found);

	if (r == 0 && found.n_errors == 0)
		return 0;
	toolbox_drop_tools(toolbox);
	/* Their lines are those of no file. */
	for (size_t i = 0; i < found.n_items; i++)
		problems_add_line(problems, found.items[i].severity, 0, found.items[i].pointer,
			"in the table that it tells: %s", found.items[i].text);
	return r < 0 ? r : MANIFEST_E_REFUSED;
}

int manifest_take_tools(struct manifest_reader *reader, const struct json_tape *told,
	uint32_t tools, struct toolbox *toolbox, struct problems *problems)
{
	int r = take(reader, told, tools, toolbox, problems);

	return r ? r : toolbox_prepare(toolbox);
}

/* ── several toolboxes ───────────────────────────────────────────────────────────────────────── */

void parts_deinit(struct parts *parts)
{
	for (size_t i = 0; i < parts->n_items; i++) {
		free(parts->items[i].id);
		toolbox_unref(parts->items[i].toolbox);
		problems_deinit(&parts->items[i].problems);
		absence_list_deinit(&parts->items[i].absences);
	}
	free(parts->items);
	*parts = (struct parts){0};
}

/* The member @key of the entry at @object, which the caller frees; NULL when it is no string that C
 * can hold, or (*ret_error) without memory. */
static char *dup_text(
	const struct json_tape *told, uint32_t object, const char *key, int *ret_error)
{
	uint32_t token = json_type_at(told, object) == JSON_OBJECT ? json_find(told, object, key)
								   : JSON_NONE;
	cleanup_free char *text = NULL;
	size_t size;

	if (token == JSON_NONE || json_type_at(told, token) != JSON_STRING)
		return NULL;
	text = json_string_dup(told, token, &size);
	if (!text)
		*ret_error = -ENOMEM;
	return text && strlen(text) == size ? take_ptr(text) : NULL;
}

/* The entries of the array @tools whose names can be a tool's, as an array; the others are told. */
static int write_named(const struct json_tape *told, uint32_t tools, struct absence_list *absences,
	struct buffer *out)
{
	size_t n_written = 0;
	int r = 0;

	buffer_append_char(out, '[');
	for (uint32_t at = json_first(told, tools); r == 0 && at < json_end(told, tools);
		at = json_next(told, at)) {
		cleanup_free char *name = dup_text(told, at, "name", &r);

		if (name && !manifest_is_tool_name(name, strlen(name))) {
			r = absence_list_add(absences, name,
				"its name must begin with a letter or '_' and hold at most 64 "
				"letters, digits, '_' or '-'");
			continue;
		}
		buffer_append_string(out, n_written++ > 0 ? "," : "");
		json_write_compact(out, told, at);
	}
	buffer_append_char(out, ']');
	if (r == 0 && n_written == 0)
		r = absence_list_add(absences, NULL, "it has no tools");
	return r;
}

/* Read the entries of the array @tools into @part. 0 or -ENOMEM. */
static int read_part(struct manifest_reader *reader, const struct json_tape *told, uint32_t tools,
	struct part *part)
{
	cleanup(json_tape_cleanup) struct json_tape named = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = write_named(told, tools, &part->absences, &text);

	r = r ? r : buffer_status(&text);
	r = r ? r : json_tape_read(&named, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0 || json_count(&named, 0) == 0)
		return r;
	r = take(reader, &named, 0, part->toolbox, &part->problems);
	if (r == MANIFEST_E_REFUSED)
		toolbox_unref(take_ptr(part->toolbox));
	return r < 0 ? r : 0;
}

/* One that works, as its host says. 0 or -ENOMEM. */
static int take_part(struct manifest_reader *reader, const struct json_tape *told, uint32_t at,
	struct toolbox *host, struct part *part)
{
	uint32_t tools =
		json_type_at(told, at) == JSON_OBJECT ? json_find(told, at, "tools") : JSON_NONE;
	cleanup_free char *entry_point = NULL;
	int r = 0;

	part->id = dup_text(told, at, "toolbox_id", &r);
	entry_point = dup_text(told, at, "entry_point", &r);
	if (r < 0)
		return r;
	if (!part->id || tools == JSON_NONE || json_type_at(told, tools) != JSON_ARRAY) {
		problems_add_line(&part->problems, PROBLEM_ERROR, 0, "",
			"its host tells no toolbox_id, or no tools");
		return 0;
	}
	if (!manifest_is_id(part->id))
		return absence_list_add(&part->absences, NULL,
			"its id must be 1 to 128 letters, digits, '_' or '-'");
	part->toolbox = toolbox_new_part(host, part->id, entry_point);
	return part->toolbox ? read_part(reader, told, tools, part) : -ENOMEM;
}

/* One that has failed, as its host says. 0 or -ENOMEM. */
static int take_failed(const struct json_tape *told, uint32_t at, struct part *part)
{
	cleanup_free char *error = NULL;
	int r = 0;

	part->id = dup_text(told, at, "toolbox_id", &r);
	error = dup_text(told, at, "error", &r);
	problems_add_line(&part->problems, PROBLEM_ERROR, 0, "", "%s",
		error ? error : "its host does not say what is wrong");
	return r;
}

/* The array @key of what was told; JSON_NONE, and it is a problem, when there is none. */
static uint32_t find_list(const struct json_tape *told, const char *key, struct problems *problems)
{
	uint32_t list = json_type_at(told, 0) == JSON_OBJECT ? json_find(told, 0, key) : JSON_NONE;

	if (list != JSON_NONE && json_type_at(told, list) == JSON_ARRAY)
		return list;
	problems_add_line(problems, PROBLEM_ERROR, 0, "", "its host tells no array \"%s\"", key);
	return JSON_NONE;
}

/* 0 or -ENOMEM. */
static int take_all(struct manifest_reader *reader, const struct json_tape *told, uint32_t working,
	uint32_t failed, struct toolbox *host, struct parts *parts)
{
	int r = 0;

	for (uint32_t at = json_first(told, working); r == 0 && at < json_end(told, working);
		at = json_next(told, at))
		r = take_part(reader, told, at, host, &parts->items[parts->n_items++]);
	for (uint32_t at = json_first(told, failed); r == 0 && at < json_end(told, failed);
		at = json_next(told, at))
		r = take_failed(told, at, &parts->items[parts->n_items++]);
	return r;
}

static int join(struct toolbox *host, const struct parts *parts)
{
	cleanup_free struct toolbox **toolboxes = calloc(parts->n_items + 1, sizeof(*toolboxes));

	if (!toolboxes)
		return -ENOMEM;
	for (size_t i = 0; i < parts->n_items; i++)
		toolboxes[i] = parts->items[i].toolbox;
	return toolbox_join_parts(host, toolboxes, parts->n_items);
}

int manifest_take_parts(struct manifest_reader *reader, const struct json_tape *told,
	struct toolbox *host, struct parts *ret_parts, struct problems *problems)
{
	uint32_t working = find_list(told, "toolboxes", problems);
	uint32_t failed = find_list(told, "failed", problems);
	size_t n_parts;
	int r;

	*ret_parts = (struct parts){0};
	if (working == JSON_NONE || failed == JSON_NONE)
		return MANIFEST_E_REFUSED;
	n_parts = (size_t)json_count(told, working) + json_count(told, failed);
	if (n_parts > PARTS_MAX) {
		problems_add_line(problems, PROBLEM_ERROR, 0, "",
			"its host tells %zu toolboxes; there is room for %d", n_parts, PARTS_MAX);
		return MANIFEST_E_REFUSED;
	}
	ret_parts->items = calloc(n_parts + 1, sizeof(*ret_parts->items));
	if (!ret_parts->items)
		return -ENOMEM;
	r = take_all(reader, told, working, failed, host, ret_parts);
	return r ? r : join(host, ret_parts);
}
