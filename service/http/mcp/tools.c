/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/definition.h"
#include "catalogue/model_names.h"
#include "mcp/server/lazy.h"
#include "util/assert.h"
#include "util/cleanup.h"

/* The list of one view: `tools.id` is the serial number of the view, which has the texts of the
 * tools. */
struct tool_list {
	struct list link;
	char *toolbox_id; /* NULL: the tools of all */
	enum config_mcp_names how;
	struct mcp_tools tools;
	char (*names)[MODEL_NAME_BYTES];
};

static void free_list(struct tool_list *list)
{
	if (!list)
		return;
	mcp_tools_deinit(&list->tools);
	free(list->toolbox_id);
	free(list->names);
	free(list);
}

CLEANUP_DEFINE(tool_list, struct tool_list *, free_list)

static void drop_first(struct mcp_lists *lists)
{
	check(lists->n > 0);
	free_list(container_of(list_take_first(&lists->list), struct tool_list, link));
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

static void add_tool(struct tool_list *list, const struct tool *tool, const char *listed)
{
	definition_write(tool, DEFINITION_MCP, listed, &list->tools.text);
	mcp_tools_add(&list->tools, &(struct mcp_listed_tool){
					    .listed = listed,
					    .toolbox_id = tool->toolbox->id,
					    .name = tool->name,
					    .schema = tool->argument_schema,
					    .has_content = tool->has_content,
					    .may_be_task = tool_may_be_task(tool),
					    .must_be_task = tool->task == TOOL_TASK_REQUIRED,
				    });
}

/* Write the names of the @n tools @candidates, of all toolboxes, to @list. Return 0 or -ENOMEM. */
static int name_all(struct tool_list *list, struct model_candidate *candidates, size_t n)
{
	int r = 0;

	if (list->how == CONFIG_MCP_NAMES_BARE)
		r = model_names_share_same(candidates, n);
	return r ? r : model_names_write_whole(candidates, n, list->names);
}

/* Add the tools of @view that @list has. Return 0 or -ENOMEM. */
static int add_view_tools(struct tool_list *list, const struct catalogue *view)
{
	size_t n_most = catalogue_n_tools(view);
	cleanup_free const struct tool **tools = calloc(n_most + 1, sizeof(*tools));
	cleanup_free struct model_candidate *candidates = calloc(n_most + 1, sizeof(*candidates));
	size_t n = 0;

	list->names = calloc(n_most + 1, sizeof(*list->names));
	if (mcp_tools_begin(&list->tools, n_most) < 0 || !tools || !candidates || !list->names)
		return -ENOMEM;
	for (size_t i = 0; i < n_most; i++) {
		const struct tool *tool = catalogue_tool(view, i);

		if (list->toolbox_id && strcmp(tool->toolbox->id, list->toolbox_id) != 0)
			continue;
		candidates[n] = model_names_candidate(tool, n, true);
		tools[n++] = tool;
	}
	if (!list->toolbox_id && name_all(list, candidates, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_tool(list, tools[i], list->toolbox_id ? tools[i]->name : list->names[i]);
	return mcp_tools_end(&list->tools);
}

static struct tool_list *make_list(
	const struct catalogue *view, enum config_mcp_names how, const char *toolbox_id)
{
	cleanup(tool_list_cleanup) struct tool_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list_init(&list->link);
	list->how = how;
	list->toolbox_id = toolbox_id ? strdup(toolbox_id) : NULL;
	if ((toolbox_id && !list->toolbox_id) || add_view_tools(list, view) < 0)
		return NULL;
	list->tools.id = catalogue_serial(view);
	return take_ptr(list);
}

static bool is_list_of(const struct tool_list *list, const struct catalogue *view,
	enum config_mcp_names how, const char *toolbox_id)
{
	if (list->tools.id != catalogue_serial(view))
		return false;
	return toolbox_id ? list->toolbox_id && strcmp(list->toolbox_id, toolbox_id) == 0
			  : !list->toolbox_id && list->how == how;
}

/* Return the list of @view, @names and @toolbox_id, kept or made; NULL without memory. */
static struct tool_list *find_list(struct mcp_lists *lists, const struct catalogue *view,
	enum config_mcp_names names, const char *toolbox_id)
{
	struct tool_list *list;

	list_for_each(link, &lists->list) {
		list = container_of(link, struct tool_list, link);
		if (is_list_of(list, view, names, toolbox_id)) {
			list_remove(&list->link);
			list_append(&lists->list, &list->link);
			return list;
		}
	}
	list = make_list(view, names, toolbox_id);
	if (!list)
		return NULL;
	if (lists->n == MCP_LISTS_MAX)
		drop_first(lists);
	list_append(&lists->list, &list->link);
	lists->n++;
	return list;
}

/* Describe a toolbox of the view @data (mcp_about_function). */
static const char *describe_toolbox(void *data, const char *toolbox_id)
{
	const struct catalogue *view = data;
	long at = catalogue_find_toolbox(view, toolbox_id, strlen(toolbox_id));

	return at < 0 ? NULL : catalogue_toolbox(view, (size_t)at, NULL, NULL)->description;
}

const struct mcp_tools *mcp_lists_find(struct mcp_lists *lists, const struct catalogue *view,
	const struct config_http *http, const char *toolbox_id)
{
	struct tool_list *list = find_list(lists, view, http->mcp_names, toolbox_id);
	bool is_lazy = list && list->tools.n_items > http->lazy_over;

	if (is_lazy && !list->tools.lazy[MCP_SEARCH_TOOLS].text &&
		mcp_lazy_make(&list->tools, describe_toolbox, (void *)view) < 0)
		return NULL;
	if (list)
		list->tools.is_lazy = is_lazy;
	return list ? &list->tools : NULL;
}
