/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "http/connection.h"
#include "loop/loop.h"
#include "util/list.h"
#include "util/text_view.h"

/*
 * Streams that stay open, by which a client of MCP is notified of changes: GET of the legacy era, and
 * subscriptions/listen of the modern one. A comment every MCP_STREAM_ALIVE_MS keeps proxies from closing them.
 */
#define MCP_STREAM_ALIVE_MS 15000

struct mcp_streams {
	struct list list;
	size_t n;
	struct loop_timer alive;
};

/* Return 0 or -ENOMEM. */
int mcp_streams_init(struct mcp_streams *streams, struct loop *loop);

/* Forget all streams. Takes a zeroed struct. */
void mcp_streams_deinit(struct mcp_streams *streams);

/* Respond on @connection with a stream. @subscription: the id of subscriptions/listen, as JSON (copied), or absent.
 * @wants_changes: it gets the notifications of other tools. The response is 503 when there are
 * @max already. */
void mcp_streams_open(struct mcp_streams *streams, struct http_connection *connection,
	const struct text_view *subscription, bool wants_changes, size_t max);

/* Send one message on the stream of @connection. */
void mcp_stream_send(struct http_connection *connection, const struct buffer *message);

/* Notify all that want it that the tools are others now. */
void mcp_streams_report_changed(struct mcp_streams *streams);
