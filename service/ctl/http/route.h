/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The request of HTTP for a request of the bus (contract.md, HTTP), and back.
 *
 *   ovos.tools.invoke {"name": "add", "call_id": "7", "args": {…}}
 *                               │              │          │
 *             POST /v1/tools/add?call_id=7     └──────────┴──▶ the body
 *
 * The body of a response is the data of the response on the bus.
 */
struct route_request {
	const char *method;
	struct buffer target; /* NUL-terminated; begins with '/' */
	struct buffer body;   /* JSON; empty: none */
	bool has_effect;      /* a tool runs: no request is sent a second time */
	bool wants_events;    /* the response may be a stream of them */
	bool is_watch;        /* the stream stays: it has the events of all calls */
};

void route_request_deinit(struct route_request *request);

/* Write the request for @topic with the data @data, the text of an object, into @ret_request, which
 * is zeroed. Return 0, -ENOENT without a route, -ENOMEM, or -EINVAL when @data is not an object. */
int route_write(const char *topic, const struct buffer *data, struct route_request *ret_request);

/* Set @out to the data of the response with the media type @type (may be NULL) and the body @body.
 * A list of text becomes its member `text`. */
void route_read(const char *type, const struct text_view *body, struct buffer *out);
