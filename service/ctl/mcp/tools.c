/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/model_names.h"
#include "catalogue/package.h"
#include "json/writer.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/digest.h"

static int compare_listed(const void *a, const void *b)
{
	return strcmp(
		(*(struct mcp_tool *const *)a)->listed, (*(struct mcp_tool *const *)b)->listed);
}

static int compare_mcp_names(const void *a, const void *b)
{
	return strcmp((*(struct mcp_tool *const *)a)->name, (*(struct mcp_tool *const *)b)->name);
}

static char *dup_listed_member(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_type_at(tape, object) == JSON_OBJECT ? json_find(tape, object, key)
								   : JSON_NONE;

	return value != JSON_NONE && json_type_at(tape, value) == JSON_STRING
		       ? json_string_dup(tape, value, NULL)
		       : NULL;
}

/* Write the Tool at @token with the name @listed in place of its own. Return its text, or NULL. */
static char *write_mcp_tool(
	const struct json_tape *tape, uint32_t token, const char *listed, size_t *ret_size)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&out, "{\"name\":");
	json_write_text(&out, listed);
	json_each_key(key, tape, token) {
		if (json_string_equals(tape, key, "name", strlen("name")))
			continue;
		buffer_append_char(&out, ',');
		json_write_compact(&out, tape, key);
		buffer_append_char(&out, ':');
		json_write_compact(&out, tape, key + 1);
	}
	buffer_append_char(&out, '}');
	return buffer_take(&out, ret_size);
}

static bool is_taken(const char *id, const char *const *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return n_ids == 0;
}

static uint32_t find_list(const struct json_tape *tape)
{
	uint32_t list = json_find(tape, 0, "tools");

	return list != JSON_NONE && json_type_at(tape, list) == JSON_ARRAY ? list : JSON_NONE;
}

/* Read the tools of both lists, with the text of each, under its name alone, in @tokens. */
static int read_listed_tools(const struct json_tape *full, const struct json_tape *mcp,
	const char *const *ids, size_t n_ids, struct mcp_tools *tools, uint32_t *tokens)
{
	uint32_t i = json_first(full, find_list(full));
	uint32_t j = json_first(mcp, find_list(mcp));

	for (; i < json_end(full, find_list(full)); i = json_next(full, i), j = json_next(mcp, j)) {
		struct mcp_tool *tool = &tools->items[tools->n_items];

		*tool = (struct mcp_tool){dup_listed_member(full, i, "toolbox_id"),
			dup_listed_member(full, i, "name"), NULL,
			json_type_at(full, i) == JSON_OBJECT &&
				json_find(full, i, "output") != JSON_NONE};
		if (!tool->toolbox_id || !tool->name || json_type_at(mcp, j) != JSON_OBJECT ||
			!is_taken(tool->toolbox_id, ids, n_ids)) {
			free(tool->toolbox_id);
			free(tool->name);
			continue;
		}
		tokens[tools->n_items++] = j;
	}
	return 0;
}

/* Listings do not have the kind of a toolbox. */
static struct package package_of_all = {.kind = KIND_NATIVE};

/* Give each tool its name in the list: `toolbox__name`, or its own when @is_bare. 0 or -ENOMEM. */
static int name_tools(struct mcp_tools *tools, bool is_bare)
{
	size_t n = tools->n_items;
	cleanup_free struct tool *copies = calloc(n + 1, sizeof(*copies));
	cleanup_free struct toolbox *boxes = calloc(n + 1, sizeof(*boxes));
	cleanup_free const struct tool **pointers = calloc(n + 1, sizeof(*pointers));
	cleanup_free char(*names)[MODEL_NAME_BYTES] = calloc(n + 1, sizeof(*names));
	int r = copies && boxes && pointers && names ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++) {
		boxes[i].id = tools->items[i].toolbox_id;
		boxes[i].package = &package_of_all;
		copies[i] = (struct tool){.toolbox = &boxes[i], .name = tools->items[i].name};
		pointers[i] = &copies[i];
	}
	if (r == 0 && !is_bare)
		r = model_names_write_whole(pointers, n, names);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct mcp_tool *tool = &tools->items[i];

		tool->listed = strdup(is_bare ? tool->name : names[i]);
		r = tool->listed ? 0 : -ENOMEM;
	}
	return r;
}

static int write_texts(struct mcp_tools *tools, const struct json_tape *mcp, const uint32_t *tokens)
{
	tools->digest = DIGEST_SEED;
	for (size_t i = 0; i < tools->n_items; i++) {
		struct text_view *text = &tools->texts[i];

		text->text = write_mcp_tool(mcp, tokens[i], tools->items[i].listed, &text->size);
		if (!text->text)
			return -ENOMEM;
		tools->digest = digest_bytes(tools->digest, text->text, text->size);
		tools->by_listed[i] = tools->by_name[i] = &tools->items[i];
	}
	qsort(tools->by_listed, tools->n_items, sizeof(*tools->by_listed), compare_listed);
	qsort(tools->by_name, tools->n_items, sizeof(*tools->by_name), compare_mcp_names);
	return 0;
}

int mcp_tools_make(const struct json_tape *full, const struct json_tape *mcp,
	const char *const *ids, size_t n_ids, struct mcp_tools *ret_tools)
{
	struct mcp_tools tools = {0};
	cleanup_free uint32_t *tokens = NULL;
	size_t n;
	int r = 0;

	if (find_list(full) == JSON_NONE || find_list(mcp) == JSON_NONE)
		return -EAGAIN;
	n = json_count(full, find_list(full));
	if (json_count(mcp, find_list(mcp)) != n)
		return -EAGAIN;
	tokens = calloc(n + 1, sizeof(*tokens));
	tools.items = calloc(n + 1, sizeof(*tools.items));
	tools.texts = calloc(n + 1, sizeof(*tools.texts));
	tools.by_listed = calloc(n + 1, sizeof(struct mcp_tool *));
	tools.by_name = calloc(n + 1, sizeof(struct mcp_tool *));
	if (!tokens || !tools.items || !tools.texts || !tools.by_listed || !tools.by_name)
		r = -ENOMEM;
	r = r ? r : read_listed_tools(full, mcp, ids, n_ids, &tools, tokens);
	r = r ? r : name_tools(&tools, n_ids == 1);
	r = r ? r : write_texts(&tools, mcp, tokens);
	if (r == 0)
		*ret_tools = tools;
	else
		mcp_tools_deinit(&tools);
	return r;
}

/* Return the only one of @sorted that @compare calls equal to @wanted, or NULL. */
static const struct mcp_tool *find_unique(struct mcp_tool *const *sorted, size_t n,
	const struct mcp_tool *wanted, int (*compare)(const void *, const void *))
{
	struct mcp_tool *const *found =
		n > 0 ? bsearch(&wanted, sorted, n, sizeof(*sorted), compare) : NULL;

	if (!found || (found > sorted && compare(found - 1, &wanted) == 0) ||
		(found + 1 < sorted + n && compare(found + 1, &wanted) == 0))
		return NULL;
	return *found;
}

const struct mcp_tool *mcp_tools_find(
	const struct mcp_tools *tools, const struct json_tape *tape, uint32_t name)
{
	size_t size;
	cleanup_free char *text = json_string_dup(tape, name, &size);
	struct mcp_tool wanted = {.name = text, .listed = text};
	const struct mcp_tool *tool;

	if (!text || strlen(text) != size)
		return NULL;
	tool = find_unique(tools->by_listed, tools->n_items, &wanted, compare_listed);
	return tool ? tool
		    : find_unique(tools->by_name, tools->n_items, &wanted, compare_mcp_names);
}

void mcp_tools_deinit(struct mcp_tools *tools)
{
	for (size_t i = 0; tools->items && i < tools->n_items; i++) {
		free(tools->items[i].toolbox_id);
		free(tools->items[i].name);
		free(tools->items[i].listed);
		free((char *)tools->texts[i].text);
	}
	free(tools->items);
	free(tools->texts);
	free(tools->by_listed);
	free(tools->by_name);
	*tools = (struct mcp_tools){0};
}
