/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/tape.h"
#include "mcp/error.h"

/*
 * Tasks of the clients of a server (mcp/task.h), over the jobs of its door:
 *
 *   tasks/get, /update, /cancel ─▶ ask_job ─▶ role.answer ─▶ respond
 *
 *   subscriptions/listen, with ids of tasks:
 *
 *     ids ─▶ ask_job, for each ─▶ role.answer ── the last answer ─▶ acknowledged: those that
 *                                        │                                the client may see
 *                                        └─ its state is kept until then ─▶ notifications/tasks
 *     a job has ended ─▶ role.report ────────────────────────────────▶ notifications/tasks
 */

struct mcp_exchange;
struct mcp_message;

/* Read params.taskId, and for tasks/update params.inputResponses, of @message. Return 0, or
 * MCP_E_REFUSED with @ret_error filled. */
int mcp_tasks_read(struct mcp_message *message, struct mcp_error *ret_error);

/* Read the ids of tasks in the @filter of @message, a listen; as mcp_tasks_read(). */
int mcp_tasks_read_ids(struct mcp_message *message, uint32_t filter, struct mcp_error *ret_error);

/* Serve @exchange, a request about a task. */
void mcp_tasks_serve(struct mcp_exchange *exchange);

/* Keep the ids of @exchange, a listen. Return 0 or -ENOMEM. */
int mcp_tasks_keep_ids(struct mcp_exchange *exchange);

/* Ask the door about the tasks of the listener @exchange; again after a time without the
 * service. Without tasks the listen is acknowledged at once. */
void mcp_tasks_watch(struct mcp_exchange *exchange);
