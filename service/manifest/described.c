/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "json/member.h"
#include "json/writer.h"
#include "manifest/entry.h"
#include "manifest/reader.h"
#include "manifest/tool.h"
#include "util/assert.h"
#include "util/stringify.h"

/*
 * Reads the tools described by hosts as manifests of these tools. The description of a host is
 * checked like the text of an author.
 *
 *   plugin   {"tools": […], "validating": [0, …]}                  the toolbox's own tools, and
 *                                                                  which of them have a validate
 *   python   {"toolboxes": [{"toolbox_id", "entry_point",          a member for each; `tools` is
 *                            "tools": […]}, …],                    null where it was left out
 *             "failed": [{"toolbox_id", "error"}, …]}
 */

/* The most toolboxes of one manifest. */
#define MEMBERS_MAX 1000

/* Read a description as a manifest around it, into the tape and bytes of the reader.
 */
static int read_described(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct toolbox *toolbox, struct diagnostics *problems)
{
	struct buffer *bytes = &reader->bytes;
	int r;

	buffer_reset(bytes);
	buffer_append_string(bytes, "{\"kind\":\"plugin\",\"library\":\"-\",\"tools\":");
	json_write_compact(bytes, described, tools);
	buffer_append_char(bytes, '}');
	r = buffer_status(bytes);
	r = r ? r
	      : json_tape_read(&reader->tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/tools",
			"must be nested at most %d levels deep; it is deeper", JSON_DEPTH_DEFAULT);
	r = r ? r : manifest_check_shape(reader, problems);
	if (r)
		return r < 0 ? r : 0;
	return manifest_read_tools(
		reader, &reader->tape, json_find(&reader->tape, 0, "tools"), toolbox, problems);
}

/* 0, MANIFEST_E_REFUSED, or -ENOMEM. */
static int take_entries(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct toolbox *toolbox, struct diagnostics *problems)
{
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	int r = read_described(reader, described, tools, toolbox, &found);

	if (r == 0 && found.n_errors == 0)
		return 0;
	toolbox_drop_tools(toolbox, NULL);
	/* Their lines belong to no file. */
	for (size_t i = 0; i < found.n_items; i++)
		diagnostics_add(problems, found.items[i].severity, 0, found.items[i].pointer,
			"in its description: %s", found.items[i].text);
	return r < 0 ? r : MANIFEST_E_REFUSED;
}

/* Note the tools named by the array at @list, by their places. Returns 0, or MANIFEST_E_REFUSED. */
static int take_validating(const struct json_tape *described, uint32_t list,
	struct toolbox *toolbox, struct diagnostics *problems)
{
	json_each_found(at, described, list) {
		uint64_t place = UINT64_MAX;

		if (json_type_at(described, at) == JSON_NUMBER)
			json_number_u64(described, at, &place);
		if (place >= toolbox->n_tools) {
			diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/validating",
				"its host names a tool that is not there");
			return MANIFEST_E_REFUSED;
		}
		toolbox->tools[place].validates = true;
	}
	return 0;
}

int manifest_take_tools(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct package *package, struct diagnostics *problems)
{
	int r;

	check(package->n_toolboxes == 1);
	r = take_entries(reader, described, tools, package->toolboxes[0], problems);
	if (r == 0)
		r = take_validating(described, json_find(described, 0, "validating"),
			package->toolboxes[0], problems);
	return r ? r : package_prepare(package);
}

/* ── several toolboxes ───────────────────────────────────────────────────────────────────────── */

void member_toolboxes_deinit(struct member_toolboxes *members)
{
	for (size_t i = 0; i < members->n_items; i++) {
		free(members->items[i].id);
		diagnostics_deinit(&members->items[i].problems);
		skipped_list_deinit(&members->items[i].skipped);
	}
	free(members->items);
	*members = (struct member_toolboxes){0};
}

/* The member @key of the entry at @object, which the caller frees; NULL for a value other than a
 * string without U+0000, or (*ret_error) without memory. */
static char *dup_text(
	const struct json_tape *described, uint32_t object, const char *key, int *ret_error)
{
	uint32_t token = json_find_typed_at(described, object, key, JSON_STRING);
	cleanup_free char *text = NULL;
	size_t size;

	if (token == JSON_NONE)
		return NULL;
	text = json_string_dup(described, token, &size);
	if (!text)
		*ret_error = -ENOMEM;
	return text && strlen(text) == size ? take_ptr(text) : NULL;
}

/* Add the tool at @at to @toolbox, or report it in @skipped. 0 or a negative errno. */
static int take_tool(struct manifest_reader *reader, const struct json_tape *described, uint32_t at,
	struct toolbox *toolbox, struct skipped_list *skipped)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r = 0;
	cleanup_free char *name = dup_text(described, at, "name", &r);

	json_write_compact(&text, described, at);
	r = r ? r : buffer_status(&text);
	if (r == 0 && name && !manifest_is_tool_name(name, strlen(name)))
		return skipped_list_add(skipped, name,
			"its name must begin with a letter or '_' and hold at most " STRINGIFY(
				TOOL_NAME_BYTES) " letters, digits, '_' or '-'");
	r = r ? r
	      : manifest_add_entry(
			reader, (struct text_view){text.data, text.size}, toolbox, NULL, &reason);
	if (r == 0)
		toolbox->tools[toolbox->n_tools - 1].validates = true;
	return r == MANIFEST_E_REFUSED ? skipped_list_add(skipped, name, reason.data) : r;
}

/* The tools with names of other tools. */
struct twins {
	bool *is_dropped;
	struct skipped_list *skipped;
};

/* Drop @twin. 0 or -ENOMEM. */
static int drop_twin(void *data, const struct tool *twin, const struct tool *before)
{
	const struct twins *twins = data;

	(void)before;
	twins->is_dropped[twin->index] = true;
	return skipped_list_add(twins->skipped, twin->name, "an earlier tool has its name");
}

static int drop_twins(struct toolbox *toolbox, struct skipped_list *skipped)
{
	cleanup_free bool *is_dropped = calloc(toolbox->n_tools + 1, sizeof(*is_dropped));
	struct twins twins = {is_dropped, skipped};
	int r = is_dropped ? manifest_each_twin(toolbox, drop_twin, &twins) : -ENOMEM;

	if (r == 0)
		toolbox_drop_tools(toolbox, is_dropped);
	return r;
}

/* Read the entries of the array @tools into @toolbox; a mistake in one costs this tool. 0,
 * MANIFEST_E_REFUSED with the problems of @member, or a negative errno. */
static int read_member(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct toolbox *toolbox, struct member_toolbox *member)
{
	uint64_t end_ns = 0;
	int r = 0;

	json_each_while(r == 0, at, described, tools) {
		r = take_tool(reader, described, at, toolbox, &member->skipped);
		if (r || !manifest_entries_are_late(reader, &end_ns))
			continue;
		diagnostics_add(&member->problems, DIAGNOSTIC_ERROR, 0, "/tools",
			"reading the tools takes longer than %llu ms: give some of them to "
			"another toolbox",
			(unsigned long long)reader->most_ms);
		return MANIFEST_E_REFUSED;
	}
	r = r ? r : drop_twins(toolbox, &member->skipped);
	if (r == 0 && toolbox->n_tools == 0)
		r = skipped_list_add(&member->skipped, NULL, "it has no tools");
	return r;
}

/* Add a working toolbox (according to its host) to @package: without tools when it is left out. 0
 * or -ENOMEM. */
static int take_member(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t at, struct package *package, const struct member_toolboxes *members,
	struct member_toolbox *member)
{
	cleanup(toolbox_cleanup) struct toolbox *toolbox = NULL;
	uint32_t tools = json_find_typed_at(described, at, "tools", JSON_ARRAY);
	cleanup_free char *entry_point = NULL;
	bool is_left_out;
	int r = 0;

	member->id = dup_text(described, at, "toolbox_id", &r);
	entry_point = dup_text(described, at, "entry_point", &r);
	if (r < 0)
		return r;
	is_left_out = member->id && members->is_left_out &&
		      members->is_left_out(
			      members->data, member->id, entry_point ? entry_point : member->id);
	if (!member->id || (!is_left_out && tools == JSON_NONE)) {
		diagnostics_add(&member->problems, DIAGNOSTIC_ERROR, 0, "",
			"its host describes no toolbox_id, or no tools");
		return 0;
	}
	if (!manifest_is_id(member->id))
		return skipped_list_add(&member->skipped, NULL,
			"its id must be 1 to " STRINGIFY(
				TOOLBOX_ID_BYTES) " letters, digits, '_' or '-'");
	toolbox = toolbox_new(package, member->id, entry_point ? entry_point : member->id);
	if (!toolbox)
		return -ENOMEM;
	r = is_left_out ? 0 : read_member(reader, described, tools, toolbox, member);
	if (r != 0)
		return r < 0 ? r : 0;
	if (package_add(package, toolbox) < 0)
		return -ENOMEM;
	member->toolbox = take_ptr(toolbox);
	return 0;
}

/* Record a failed toolbox (according to its host). 0 or -ENOMEM. */
static int take_failed(
	const struct json_tape *described, uint32_t at, struct member_toolbox *member)
{
	cleanup_free char *error = NULL;
	int r = 0;

	member->id = dup_text(described, at, "toolbox_id", &r);
	error = dup_text(described, at, "error", &r);
	diagnostics_add(&member->problems, DIAGNOSTIC_ERROR, 0, "", "%s",
		error ? error : "its host gives no reason");
	return r;
}

/* The array @key of the description; JSON_NONE, and a problem, without such an array. */
static uint32_t find_list(
	const struct json_tape *described, const char *key, struct diagnostics *problems)
{
	uint32_t list = json_find_typed_at(described, 0, key, JSON_ARRAY);

	if (list != JSON_NONE)
		return list;
	diagnostics_add(
		problems, DIAGNOSTIC_ERROR, 0, "", "its host describes no array \"%s\"", key);
	return JSON_NONE;
}

/* 0 or -ENOMEM. */
static int take_all(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t working, uint32_t failed, struct package *package,
	struct member_toolboxes *members)
{
	int r = 0;

	json_each_while(r == 0, at, described, working)
		r = take_member(reader, described, at, package, members,
			&members->items[members->n_items++]);
	json_each_while(r == 0, at, described, failed)
		r = take_failed(described, at, &members->items[members->n_items++]);
	return r;
}

int manifest_take_members(struct manifest_reader *reader, const struct json_tape *described,
	struct package *package, struct member_toolboxes *members, struct diagnostics *problems)
{
	uint32_t working = find_list(described, "toolboxes", problems);
	uint32_t failed = find_list(described, "failed", problems);
	size_t n_members;
	int r;

	if (working == JSON_NONE || failed == JSON_NONE)
		return MANIFEST_E_REFUSED;
	n_members = (size_t)json_count(described, working) + json_count(described, failed);
	if (n_members > MEMBERS_MAX) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
			"its host describes %zu toolboxes; %d are allowed", n_members, MEMBERS_MAX);
		return MANIFEST_E_REFUSED;
	}
	members->items = calloc(n_members + 1, sizeof(*members->items));
	if (!members->items)
		return -ENOMEM;
	r = take_all(reader, described, working, failed, package, members);
	return r ? r : package_prepare(package);
}
