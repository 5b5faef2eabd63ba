/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "mcp/version.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The messages to a server. Each is one line of JSON, and those with an id expect a response:
 *
 *   modern   each has `_meta` with the revision, and with our name and capabilities, which are none
 *   legacy   only the requests of calls have `_meta`, with their progressToken
 */
struct mcp_request {
	uint64_t id;
	enum mcp_era era;
	const char *client_version; /* the version of this program */
	struct text_view trace;     /* members of JSON for `_meta` of a call; absent: none */
};

void mcp_request_discover(struct buffer *out, const struct mcp_request *request);

/* Ask for the latest legacy revision. */
void mcp_request_initialize(struct buffer *out, const struct mcp_request *request);

/* Notify the server that the handshake of the legacy era is done. */
void mcp_request_initialized(struct buffer *out);

/* @cursor: of the page, as JSON; absent: the first page. */
void mcp_request_list(
	struct buffer *out, const struct mcp_request *request, struct text_view cursor);

/* Send what every server answers at once: `ping`, or server/discover, as the modern era has no
 * `ping`. Return its method. */
const char *mcp_request_ping(struct buffer *out, const struct mcp_request *request);

/* Subscribe to changes of the list of tools. */
void mcp_request_listen(struct buffer *out, const struct mcp_request *request);

/* Call the tool @name with @arguments, an object as checked JSON. The id is the progressToken,
 * too. */
void mcp_request_call(struct buffer *out, const struct mcp_request *request, struct text_view name,
	struct text_view arguments);

/* Send a request with the members of @params, an object as checked JSON, and with the id as
 * progressToken. */
void mcp_request_ask(struct buffer *out, const struct mcp_request *request, const char *method,
	struct text_view params);

/* Notify the server that the response to the request @id is not wanted any more. */
void mcp_request_cancelled(struct buffer *out, uint64_t id, const char *reason);
