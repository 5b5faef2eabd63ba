/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "mcp/server/lazy.h"
#include "util/cleanup.h"
#include "util/digest.h"

/* Return the text of the member @key of @object, which the caller frees, or NULL. */
static char *dup_listed_member(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find_typed(tape, object, key, JSON_STRING);

	return value != JSON_NONE ? json_string_dup(tape, value, NULL) : NULL;
}

static bool is_taken(const char *id, const char *const *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return n_ids == 0;
}

static void free_parts(struct model_candidate *part)
{
	free((char *)part->toolbox_id);
	free((char *)part->name);
}

/* Read the tools of the list at @list, each with its token at @tokens. Return their number. */
static size_t read_listed_tools(const struct json_tape *tape, uint32_t list, const char *const *ids,
	size_t n_ids, struct model_candidate *parts, uint32_t *tokens)
{
	size_t n = 0;

	json_each(i, tape, list) {
		uint32_t meta =
			json_find_typed(tape, json_object_at(tape, i), "_meta", JSON_OBJECT);
		uint32_t source = json_find_typed(tape, meta, "toolboxd/source", JSON_OBJECT);
		uint32_t kind = json_find_typed(tape, source, "kind", JSON_STRING);

		parts[n] = (struct model_candidate){
			.toolbox_id = dup_listed_member(tape, source, "toolbox"),
			.name = dup_listed_member(tape, meta, "toolboxd/name"),
			.is_guest = json_is_text(tape, kind, "mcp"),
			.is_shared = true,
			.index = n,
		};
		if (parts[n].toolbox_id && parts[n].name &&
			is_taken(parts[n].toolbox_id, ids, n_ids))
			tokens[n++] = i;
		else
			free_parts(&parts[n]);
	}
	parts[n] = (struct model_candidate){0};
	return n;
}

/* Append the Tool at @token with the name @listed in place of its own. */
static void write_listed_tool(
	const struct json_tape *tape, uint32_t token, const char *listed, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, listed);
	json_each_key(key, tape, token) {
		if (json_is_text(tape, key, "name"))
			continue;
		json_write_member_copy(out, tape, key);
	}
	buffer_append_char(out, '}');
}

static void add_listed_tool(struct listed_tools *listed, const struct json_tape *tape,
	uint32_t token, size_t i, bool is_bare)
{
	const struct model_candidate *part = &listed->parts[i];
	uint32_t meta = json_find_typed(tape, token, "_meta", JSON_OBJECT);
	struct mcp_listed_tool tool = {
		.listed = is_bare ? part->name : listed->names[i],
		.toolbox_id = part->toolbox_id,
		.name = part->name,
		.has_content = json_find_present(tape, meta, "toolboxd/output") != JSON_NONE,
		.may_be_task = json_find_present(tape, meta, "toolboxd/task") != JSON_NONE,
		.must_be_task = json_is_text(
			tape, json_find_present(tape, meta, "toolboxd/task"), "required"),
	};

	write_listed_tool(tape, token, tool.listed, &listed->tools.text);
	mcp_tools_add(&listed->tools, &tool);
}

/* Read the list at @list of @tape into @listed, which is zeroed. Return 0 or -ENOMEM. */
static int read_served_list(struct listed_tools *listed, const struct json_tape *tape,
	uint32_t list, const char *const *ids, size_t n_ids, bool is_bare)
{
	size_t n = json_count(tape, list);
	cleanup_free uint32_t *tokens = calloc(n + 1, sizeof(*tokens));

	listed->parts = calloc(n + 1, sizeof(*listed->parts));
	listed->names = calloc(n + 1, sizeof(*listed->names));
	if (mcp_tools_begin(&listed->tools, n) < 0 || !tokens || !listed->parts || !listed->names)
		return -ENOMEM;
	n = read_listed_tools(tape, list, ids, n_ids, listed->parts, tokens);
	if (is_bare && model_names_share_same(listed->parts, n) < 0)
		return -ENOMEM;
	if (n_ids != 1 && model_names_write_whole(listed->parts, n, listed->names) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_listed_tool(listed, tape, tokens[i], i, n_ids == 1);
	return mcp_tools_end(&listed->tools);
}

int listed_tools_read(const struct json_tape *tape, const char *const *ids, size_t n_ids,
	bool is_bare, struct listed_tools *ret_listed)
{
	struct listed_tools listed = {0};
	uint32_t list = json_find_root(tape, "tools");
	int r;

	if (list == JSON_NONE || json_type_at(tape, list) != JSON_ARRAY)
		return -EPROTO;
	r = read_served_list(&listed, tape, list, ids, n_ids, is_bare);
	if (r < 0) {
		listed_tools_deinit(&listed);
		return r;
	}
	listed.tools.id = digest_bytes(DIGEST_SEED, listed.tools.text.data, listed.tools.text.size);
	*ret_listed = listed;
	return 0;
}

/* The toolboxes of a list, for mcp_lazy_make(). */
struct toolbox_lines {
	const struct json_tape *tape;
	struct buffer line; /* the last one */
};

static const char *find_line(void *data, const char *toolbox_id)
{
	struct toolbox_lines *lines = data;
	const struct json_tape *tape = lines->tape;
	uint32_t list = json_find_typed_at(tape, 0, "toolboxes", JSON_ARRAY);

	json_each_found(i, tape, list) {
		uint32_t text =
			json_find_typed(tape, json_object_at(tape, i), "description", JSON_STRING);

		if (text == JSON_NONE || !json_member_is(tape, i, "toolbox_id", toolbox_id))
			continue;
		buffer_reset(&lines->line);
		json_string_decode(tape, text, &lines->line);
		return buffer_terminate(&lines->line);
	}
	return NULL;
}

int listed_tools_make_lazy(struct listed_tools *listed, const struct json_tape *tape)
{
	struct toolbox_lines lines = {.tape = tape};
	int r = mcp_lazy_make(&listed->tools, find_line, &lines);

	buffer_deinit(&lines.line);
	if (r < 0)
		listed_tools_deinit(listed);
	return r;
}

/* Return whether the string at @name is `toolbox__name` of @tool. */
static bool is_qualified(
	const struct mcp_listed_tool *tool, const struct json_tape *tape, uint32_t name)
{
	char text[TOOLBOX_ID_BYTES + TOOL_NAME_BYTES + sizeof("__")];

	snprintf(text, sizeof(text), "%s__%s", tool->toolbox_id, tool->name);
	return json_is_text(tape, name, text);
}

const struct mcp_listed_tool *listed_tools_find_other(
	const struct listed_tools *listed, const struct json_tape *tape, uint32_t name)
{
	const struct mcp_listed_tool *found = NULL;

	for (size_t i = 0; i < listed->tools.n_items; i++) {
		const struct mcp_listed_tool *tool = &listed->tools.items[i];

		if (is_qualified(tool, tape, name))
			return tool;
		if (!json_is_text(tape, name, tool->name))
			continue;
		if (found)
			return NULL;
		found = tool;
	}
	return found;
}

bool listed_tools_have(const struct listed_tools *listed, const char *toolbox_id)
{
	for (size_t i = 0; i < listed->tools.n_items; i++)
		if (strcmp(listed->tools.items[i].toolbox_id, toolbox_id) == 0)
			return true;
	return false;
}

void listed_tools_deinit(struct listed_tools *listed)
{
	for (struct model_candidate *part = listed->parts; part && part->name; part++)
		free_parts(part);
	free(listed->parts);
	free(listed->names);
	mcp_tools_deinit(&listed->tools);
	*listed = (struct listed_tools){0};
}
