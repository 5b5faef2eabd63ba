/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "core/request/address.h"
#include "http/exchange.h"
#include "http/mcp/sessions.h"
#include "http/mcp/sync.h"
#include "http/mcp/tools.h"
#include "http/streams.h"
#include "mcp/server/engine.h"
#include "util/pace.h"

/*
 * One request of MCP over HTTP, from its POST (legacy: also the GET of a stream) to the end of its
 * response. It is three things at once: a request in flight, the address of the answer to its call,
 * and a stream of events.
 *
 *   connection ◀── response, or events ── struct rpc ◀─ answer, progress ── the service
 *        └── the peer is gone ──▶ modern: its call is cancelled; legacy: it goes on
 */

struct mcp_endpoint {
	struct service *service;
	struct streams *streams; /* borrowed */
	struct mcp_engine engine;
	struct mcp_sessions sessions;
	struct mcp_sync sync; /* brings the ends of sessions to the disk */
	struct mcp_lists lists;
	enum config_mcp_names names; /* as clients know them */
};

struct rpc {
	struct mcp_exchange exchange;
	struct address address;
	struct stream stream; /* when it listens */
	struct mcp_endpoint *endpoint;
	const struct http_request *http;    /* valid until it is served */
	const char *toolbox_id;             /* that its path names, or NULL; likewise */
	struct mcp_session *joined;         /* its session, or NULL; likewise */
	struct http_connection *connection; /* NULL: it is gone, or has its response */
	struct pace pace;                   /* for reports of progress */
	struct http_caller caller;          /* if it calls a tool */
	int64_t reading_ns; /* time for a long message; 0: it is short. While the time is measured:
	                     * minus the beginning */
	bool is_waiting;    /* the connection has a reference */
	bool is_stream;     /* its call is answered by a stream of events */
	char session[HEX_ID_CHARS + 1]; /* the name of its session, legacy */
};

/* The door of MCP over HTTP. */
extern const struct mcp_door rpc_door;

/* Make the request for @http, with one reference in its address; NULL without memory. */
struct rpc *rpc_new(struct mcp_endpoint *endpoint, const struct http_request *http);

/* End the time of a long message, unless it has ended. */
void rpc_end_reading(struct rpc *rpc);

/* Return the time for sessions. */
struct mcp_time rpc_now(void);

/* Respond to @rpc with a stream. Return whether it is open. */
bool rpc_open_stream(struct rpc *rpc);
