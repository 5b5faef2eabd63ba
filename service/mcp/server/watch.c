/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"

int mcp_watch_begin(struct mcp_watch *watch, const struct json_tape *tape, uint32_t ids)
{
	if (json_count(tape, ids) == 0)
		return 0;
	watch->tasks = calloc(json_count(tape, ids), sizeof(*watch->tasks));
	if (!watch->tasks)
		return -ENOMEM;
	json_each(i, tape, ids) {
		struct text_view id = json_value_view(tape, i);

		/* No id needs an escape. */
		if (id.size != MCP_TASK_ID_CHARS + 2 ||
			strspn(id.text + 1, "0123456789abcdef") != MCP_TASK_ID_CHARS ||
			mcp_watch_find(watch, tape, i))
			continue;
		memcpy(watch->tasks[watch->n].id, id.text + 1, MCP_TASK_ID_CHARS);
		watch->n++;
	}
	return 0;
}

struct mcp_watched_task *mcp_watch_find(
	const struct mcp_watch *watch, const struct json_tape *tape, uint32_t id)
{
	for (size_t i = 0; i < watch->n; i++)
		if (json_is_text(tape, id, watch->tasks[i].id))
			return &watch->tasks[i];
	return NULL;
}

void mcp_watch_deinit(struct mcp_watch *watch)
{
	for (size_t i = 0; i < watch->n; i++)
		buffer_deinit(&watch->tasks[i].state);
	free(watch->tasks);
	*watch = (struct mcp_watch){0};
}
