/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/model_names.h"
#include "json/member.h"
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

/* Return the text of the member @key of @object, which the caller frees, or NULL. */
static char *dup_listed_member(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find_typed(tape, object, key, JSON_STRING);

	return value != JSON_NONE ? json_string_dup(tape, value, NULL) : NULL;
}

/* Read the tools of the list at @list, each under its name alone, with the text of each at @tokens,
 * and its parts for its name in the list at @candidates. */
static void read_listed_tools(const struct json_tape *tape, uint32_t list, const char *const *ids,
	size_t n_ids, struct mcp_tools *tools, uint32_t *tokens, struct model_candidate *candidates)
{
	json_each(i, tape, list) {
		struct mcp_tool *tool = &tools->items[tools->n_items];
		uint32_t meta = json_find_typed(tape, i, "_meta", JSON_OBJECT);
		uint32_t source = json_find_typed(tape, meta, "toolboxd/source", JSON_OBJECT);
		uint32_t kind = json_find_typed(tape, source, "kind", JSON_STRING);

		*tool = (struct mcp_tool){
			.toolbox_id = dup_listed_member(tape, source, "toolbox"),
			.name = dup_listed_member(tape, meta, "toolboxd/name"),
			.has_content =
				json_find_present(tape, meta, "toolboxd/output") != JSON_NONE,
		};
		if (!tool->toolbox_id || !tool->name || !is_taken(tool->toolbox_id, ids, n_ids)) {
			free(tool->toolbox_id);
			free(tool->name);
			continue;
		}
		candidates[tools->n_items] = (struct model_candidate){
			.toolbox_id = tool->toolbox_id,
			.name = tool->name,
			.is_guest = kind != JSON_NONE && json_is_text(tape, kind, "mcp"),
			.is_shared = true,
			.index = tools->n_items,
		};
		tokens[tools->n_items++] = i;
	}
}

/* Give each tool its name in the list: `toolbox__name`, or its own when @is_bare. 0 or -ENOMEM. */
static int name_tools(
	struct mcp_tools *tools, const struct model_candidate *candidates, bool is_bare)
{
	size_t n = tools->n_items;
	cleanup_free char(*names)[MODEL_NAME_BYTES] = calloc(n + 1, sizeof(*names));
	int r = names ? 0 : -ENOMEM;

	if (r == 0 && !is_bare)
		r = model_names_write_whole(candidates, n, names);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct mcp_tool *tool = &tools->items[i];

		tool->listed = strdup(is_bare ? tool->name : names[i]);
		r = tool->listed ? 0 : -ENOMEM;
	}
	return r;
}

static int write_texts(
	struct mcp_tools *tools, const struct json_tape *tape, const uint32_t *tokens)
{
	tools->digest = DIGEST_SEED;
	for (size_t i = 0; i < tools->n_items; i++) {
		struct text_view *text = &tools->texts[i];

		text->text = write_mcp_tool(tape, tokens[i], tools->items[i].listed, &text->size);
		if (!text->text)
			return -ENOMEM;
		tools->digest = digest_bytes(tools->digest, text->text, text->size);
		tools->by_listed[i] = tools->by_name[i] = &tools->items[i];
	}
	qsort(tools->by_listed, tools->n_items, sizeof(*tools->by_listed), compare_listed);
	qsort(tools->by_name, tools->n_items, sizeof(*tools->by_name), compare_mcp_names);
	return 0;
}

int mcp_tools_make(const struct json_tape *tape, const char *const *ids, size_t n_ids,
	struct mcp_tools *ret_tools)
{
	struct mcp_tools tools = {0};
	cleanup_free struct model_candidate *candidates = NULL;
	cleanup_free uint32_t *tokens = NULL;
	uint32_t list = json_find_root(tape, "tools");
	size_t n;
	int r;

	if (list == JSON_NONE || json_type_at(tape, list) != JSON_ARRAY)
		return -EPROTO;
	n = json_count(tape, list);
	candidates = calloc(n + 1, sizeof(*candidates));
	tokens = calloc(n + 1, sizeof(*tokens));
	tools.items = calloc(n + 1, sizeof(*tools.items));
	tools.texts = calloc(n + 1, sizeof(*tools.texts));
	tools.by_listed = calloc(n + 1, sizeof(struct mcp_tool *));
	tools.by_name = calloc(n + 1, sizeof(struct mcp_tool *));
	r = candidates && tokens && tools.items && tools.texts && tools.by_listed && tools.by_name
		    ? 0
		    : -ENOMEM;
	if (r == 0)
		read_listed_tools(tape, list, ids, n_ids, &tools, tokens, candidates);
	r = r ? r : name_tools(&tools, candidates, n_ids == 1);
	r = r ? r : write_texts(&tools, tape, tokens);
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
