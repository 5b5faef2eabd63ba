/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "http/streams.h"
#include "util/list.h"
#include "util/text_view.h"

/* Streams by which a client of MCP is notified of changes: GET of the legacy era, and subscriptions/listen of the
 * modern one. */
struct mcp_streams {
	struct streams *streams; /* borrowed */
	struct list list;
};

void mcp_streams_init(struct mcp_streams *mcp, struct streams *streams);

/* Respond to @request with a stream. @subscription: the id of subscriptions/listen, as JSON (copied), or absent.
 * @wants_changes: it gets the notifications of other tools. */
void mcp_streams_open(struct mcp_streams *mcp, const struct http_request *request,
	const struct text_view *subscription, bool wants_changes);

/* Send one message on the stream of @connection. */
void mcp_stream_send(struct http_connection *connection, const struct buffer *message);

/* Notify all that want it that the tools are others now. */
void mcp_streams_report_changed(struct mcp_streams *mcp);
