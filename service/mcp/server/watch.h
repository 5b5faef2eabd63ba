/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/tape.h"
#include "util/buffer.h"

/* The tasks of a listener (mcp/server/tasks.h). */

/* The tasks of one subscriptions/listen. */
#define MCP_WATCHED_MAX 32

/* The characters of an id; any other text is no id of a task. */
#define MCP_TASK_ID_CHARS 32

struct mcp_watched_task {
	char id[MCP_TASK_ID_CHARS + 1];
	bool is_seen;        /* the client may see it */
	struct buffer state; /* the job, until the listen is acknowledged */
};

/* A member of each exchange, zeroed unless it listens. */
struct mcp_watch {
	struct mcp_watched_task *tasks;
	size_t n;
	size_t n_asked; /* answers still to come */
	bool is_acknowledged;
};

/* Keep the ids in the array of strings at @ids, each once; skip a text that is no id. Return 0 or
 * -ENOMEM. */
int mcp_watch_begin(struct mcp_watch *watch, const struct json_tape *tape, uint32_t ids);

/* Return the task whose id is at @id, or NULL. */
struct mcp_watched_task *mcp_watch_find(
	const struct mcp_watch *watch, const struct json_tape *tape, uint32_t id);

/* Free the members of @watch. */
void mcp_watch_deinit(struct mcp_watch *watch);
