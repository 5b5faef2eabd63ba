/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcp/message.h"
#include "util/buffer.h"

/* The responses made without a tool. Each is one line of JSON. */

/* The server as its clients see it. */
struct mcp_server {
	const char *version;
	bool is_private; /* its lists depend on the credentials of the client */
	bool has_tasks;  /* its calls may be tasks (mcp/task.h) */
};

/* The time for a client to keep a list. */
#define MCP_TTL_MS 60000

/* Begin the response to @message: the object `result` is open, without a member. */
void mcp_result_begin(struct buffer *out, const struct mcp_message *message);

/* Append the members of each result in the era of @message, and close the response. */
void mcp_result_end(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server);

/* As mcp_result_end(), with the members @meta of `_meta`: JSON text, or "". */
void mcp_result_end_meta(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const char *meta);

/* As mcp_result_end(), with the resultType @type. */
void mcp_result_end_typed(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const char *type);

/* As mcp_result_end(), for a result to keep for a while. */
void mcp_result_end_kept(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server);

/* Append the response to initialize, server/discover and ping. */
void mcp_write_initialize(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server);
void mcp_write_discover(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server);
void mcp_write_pong(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server);
