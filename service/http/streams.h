/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "http/exchange.h"
#include "http/identity.h"
#include "loop/loop.h"
#include "util/list.h"

/*
 * Open streams of server-sent events: of /v1/events (http/events.h) and of MCP
 * (http/mcp/rpc.h), `http.limits.streams` together. One holder (http_identity.holder) may have
 * half of the rest, and some streams are left for administrators. A revoked token ends its streams.
 */

/* The part of the streams for administrators alone: an eighth. */
#define STREAMS_ADMIN_SHARE 8

struct streams {
	struct list list;
	size_t n;
};

/* The member of each kind of stream. */
struct stream {
	struct list link;
	struct streams *streams;
	struct http_connection *connection;
	void (*free)(struct stream *stream);
	void (*finish)(struct stream *stream); /* sends the last event when we end it; or NULL */
	struct http_rights rights;
	char holder[HTTP_TOKEN_NAME_CHARS + sizeof("http:")];
};

void streams_init(struct streams *streams);

/* Free all streams. */
void streams_deinit(struct streams *streams);

/* Return whether @request may have another stream. */
bool streams_have_room(const struct streams *streams, const struct http_request *request);

/* Respond to @request with @stream, zeroed but for `free`, which is called at its end, and
 * `finish`; or with 503 when there are too many streams, or @stream is NULL. Return whether it is
 * open; else @stream is freed. */
bool streams_open(
	struct streams *streams, struct stream *stream, const struct http_request *request);

/* Send the event @event with the data @text on @stream. */
void stream_send(struct stream *stream, const char *event, const char *text, size_t size);

/* Return the bytes waiting for the reader of @stream. */
size_t stream_queued(const struct stream *stream);

/* End and free @stream. */
void stream_end(struct stream *stream);

/* End all streams. */
void streams_end(struct streams *streams);

/* End the streams of callers not let in by @http any more. */
void streams_recheck(struct streams *streams, const struct config_http *http);
