/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "http/mcp/sessions.h"
#include "http/streams.h"
#include "util/list.h"
#include "util/text/text_view.h"

/* Streams by which a client of MCP is notified of changes: GET of the legacy era, and
 * subscriptions/listen of the modern one. */
struct mcp_streams {
	struct streams *streams;       /* borrowed */
	struct mcp_sessions *sessions; /* borrowed */
	struct list list;
};

void mcp_streams_init(
	struct mcp_streams *mcp, struct streams *streams, struct mcp_sessions *sessions);

/* Respond to the GET @request with the stream of @session. */
void mcp_streams_open(
	struct mcp_streams *mcp, const struct http_request *request, struct mcp_session *session);

/* Respond to @request with the stream of a subscriptions/listen with the id @subscription, as JSON.
 * @wants_changes: it gets the notifications of other tools. */
void mcp_streams_listen(struct mcp_streams *mcp, const struct http_request *request,
	const struct text_view *subscription, bool wants_changes);

/* End the streams of @session. */
void mcp_streams_end(struct mcp_streams *mcp, const struct mcp_session *session);

/* Send one message on the stream of @connection. */
void mcp_stream_send(struct http_connection *connection, const struct buffer *message);

/* Notify all that want it that the tools are others now. */
void mcp_streams_report_changed(struct mcp_streams *mcp);
