/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/definition.h"
#include "util/assert.h"
#include "util/cleanup.h"

static void free_list(struct mcp_list *list)
{
	if (!list)
		return;
	free(list->toolbox_id);
	free(list->texts);
	free(list->tools);
	buffer_deinit(&list->text);
	free(list);
}

CLEANUP_DEFINE(mcp_list, struct mcp_list *, free_list)

static void drop_first(struct mcp_lists *lists)
{
	check(lists->n > 0);
	free_list(container_of(list_take_first(&lists->list), struct mcp_list, link));
	lists->n--;
}

void mcp_lists_init(struct mcp_lists *lists)
{
	*lists = (struct mcp_lists){0};
	list_init(&lists->list);
}

void mcp_lists_deinit(struct mcp_lists *lists)
{
	while (lists->n > 0)
		drop_first(lists);
}

static int compare_mcp_tools(const void *a, const void *b)
{
	return strcmp(((const struct mcp_tool *)a)->name, ((const struct mcp_tool *)b)->name);
}

/* Append @tool with its @name to @list. The text of its definition is an offset so far. */
static void add_tool(struct mcp_list *list, const struct tool *tool, const char *name)
{
	struct mcp_tool *entry = &list->tools[list->n_tools];
	struct text_view *text = &list->texts[list->n_tools];
	size_t start = list->text.size;

	entry->tool = tool;
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	definition_write(tool, DEFINITION_MCP, entry->name, &list->text);
	text->size = list->text.size - start;
	list->n_tools++;
}

static void add_texts(struct mcp_list *list)
{
	const char *at = list->text.data;

	for (size_t i = 0; i < list->n_tools; i++) {
		list->texts[i].text = at;
		at += list->texts[i].size;
	}
	qsort(list->tools, list->n_tools, sizeof(*list->tools), compare_mcp_tools);
}

static struct mcp_list *make_list(const struct catalogue *view, const char *toolbox_id)
{
	cleanup(mcp_list_cleanup) struct mcp_list *list = calloc(1, sizeof(*list));
	size_t n_tools = catalogue_n_tools(view);
	cleanup_free const struct tool **tools = calloc(n_tools + 1, sizeof(*tools));
	cleanup_free struct model_candidate *candidates = calloc(n_tools + 1, sizeof(*candidates));
	cleanup_free char(*names)[MODEL_NAME_BYTES] = calloc(n_tools + 1, sizeof(*names));
	size_t n = 0;

	if (!list || !tools || !candidates || !names)
		return NULL;
	list_init(&list->link);
	list->serial = catalogue_serial(view);
	list->toolbox_id = toolbox_id ? strdup(toolbox_id) : NULL;
	list->texts = calloc(n_tools + 1, sizeof(*list->texts));
	list->tools = calloc(n_tools + 1, sizeof(*list->tools));
	if ((toolbox_id && !list->toolbox_id) || !list->texts || !list->tools)
		return NULL;
	for (size_t i = 0; i < n_tools; i++) {
		const struct tool *tool = catalogue_tool(view, i);

		if (toolbox_id && strcmp(tool->toolbox->id, toolbox_id) != 0)
			continue;
		candidates[n] = model_names_candidate(tool, n, true);
		tools[n++] = tool;
	}
	if (!toolbox_id && model_names_write_whole(candidates, n, names) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		add_tool(list, tools[i], toolbox_id ? tools[i]->name : names[i]);
	if (buffer_status(&list->text) < 0)
		return NULL;
	add_texts(list);
	return take_ptr(list);
}

static bool is_of(const struct mcp_list *list, const char *toolbox_id)
{
	return toolbox_id ? list->toolbox_id && strcmp(list->toolbox_id, toolbox_id) == 0
			  : !list->toolbox_id;
}

const struct mcp_list *mcp_lists_find(
	struct mcp_lists *lists, const struct catalogue *view, const char *toolbox_id)
{
	struct mcp_list *list;

	list_for_each(link, &lists->list) {
		list = container_of(link, struct mcp_list, link);
		if (list->serial == catalogue_serial(view) && is_of(list, toolbox_id)) {
			list_remove(&list->link);
			list_append(&lists->list, &list->link);
			return list;
		}
	}
	list = make_list(view, toolbox_id);
	if (!list)
		return NULL;
	if (lists->n == MCP_LISTS_MAX)
		drop_first(lists);
	list_append(&lists->list, &list->link);
	lists->n++;
	return list;
}

const struct tool *mcp_list_find(const struct mcp_list *list, const char *name)
{
	struct mcp_tool key;
	const struct mcp_tool *found;

	if (strlen(name) > MODEL_NAME_BYTES_MAX)
		return NULL;
	memcpy(key.name, name, strlen(name) + 1);
	found = bsearch(&key, list->tools, list->n_tools, sizeof(*list->tools), compare_mcp_tools);
	return found ? found->tool : NULL;
}
