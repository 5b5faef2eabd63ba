/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/text/text.h"

/* The texts are offsets until the list is complete: a buffer that grows moves its bytes. */

int mcp_tools_begin(struct mcp_tools *tools, size_t n_most)
{
	tools->items = calloc(n_most + 1, sizeof(*tools->items));
	tools->texts = calloc(n_most + 1, sizeof(*tools->texts));
	return tools->items && tools->texts ? 0 : -ENOMEM;
}

void mcp_tools_add(struct mcp_tools *tools, const struct mcp_listed_tool *tool)
{
	struct text_view *text = &tools->texts[tools->n_items];

	text->size = tools->text.size;
	tools->items[tools->n_items] = *tool;
	tools->items[tools->n_items].index = tools->n_items;
	tools->n_items++;
}

int mcp_tools_end(struct mcp_tools *tools)
{
	size_t start = 0;

	if (buffer_status(&tools->text) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < tools->n_items; i++) {
		size_t end = tools->texts[i].size;

		tools->texts[i] = (struct text_view){tools->text.data + start, end - start};
		start = end;
	}
	qsort(tools->items, tools->n_items, sizeof(*tools->items), text_compare);
	return 0;
}

const struct mcp_listed_tool *mcp_tools_find(
	const struct mcp_tools *tools, const struct json_tape *tape, uint32_t name)
{
	size_t size;
	cleanup_free char *text = json_string_dup(tape, name, &size);
	struct mcp_listed_tool wanted = {.listed = text};

	if (!text || strlen(text) != size)
		return NULL;
	return bsearch(&wanted, tools->items, tools->n_items, sizeof(*tools->items), text_compare);
}

void mcp_tools_deinit(struct mcp_tools *tools)
{
	free(tools->items);
	free(tools->texts);
	buffer_deinit(&tools->text);
	buffer_deinit(&tools->lazy_text);
	*tools = (struct mcp_tools){0};
}
