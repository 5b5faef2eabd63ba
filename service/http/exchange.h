/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/state.h"
#include "http/connection.h"
#include "http/identity.h"
#include "http/target.h"
#include "util/buffer.h"
#include "util/text_view.h"

/*
 * An exchange: a request that the service serves as one of the bus, from its frame to the response.
 *
 *   exchange_begin    {"type": …, "context": {"source": …, "session": …}, "data": {
 *   members …         "name": "add", "args": the body, as it came
 *   exchange_serve    }} ──▶ topics ──▶ … ──▶ answer ──▶ 200 or the status of its code, its data as the body
 *                                        │
 *                                        └─ progress ──▶ events of a stream, if the caller wants those
 *
 * The peer goes away: its call is cancelled.
 */

/* A request of HTTP on its way through the routes. */
struct http_request {
	struct service *service;
	struct http_connection *connection;
	const struct http_identity *identity;
	const char *host; /* the name by which the client has reached us, or the proxy before us */
	bool is_tls;      /* by TLS */
	struct target target;
	struct text_view segment; /* the one in the place of `{}` in its route, still encoded */
};

/* Return the catalogue of the tools that the caller of @request may use in @session, narrowed
 * further by @profile. Both may be absent. */
const struct catalogue *exchange_view(const struct http_request *request,
	const struct text_view *session, const struct text_view *profile);

/* Append the URL of `/` for the client of @request, without a slash at its end: `http.public_url`,
 * else that of the name by which it has reached us. Return false, with the response sent, when it
 * gave no name. */
bool exchange_write_base(const struct http_request *request, struct buffer *out);

/* Return the session that the header Session-Id names; absent: none. */
struct text_view exchange_session(const struct http_request *request);

/* Begin the frame of a request for @topic by the caller of @request in @session, which may be
 * absent. */
void exchange_begin_in(const struct http_request *request, const struct text_view *session,
	const char *topic, struct buffer *frame);

/* As exchange_begin_in(), in the session of exchange_session(). */
void exchange_begin(const struct http_request *request, const char *topic, struct buffer *frame);

/* Submit @frame, which is complete, for @request; the answer goes to @address. @args: see
 * topics_take_request(), whose result is returned. */
int exchange_submit(const struct http_request *request, struct address *address,
	const struct buffer *frame, const struct text_view *args);

/* Append a member with a text, which is UTF-8; none when it is absent. */
void exchange_member(struct buffer *frame, const char *key, const struct text_view *text);

/* Append the member @key with the JSON text @json. */
void exchange_value(struct buffer *frame, const char *key, const struct text_view *json);

/* Append the member @key with the value of @name in the query, as a text; none when it is absent.
 * Return false, with the response sent, when that is malformed. */
bool exchange_query(const struct http_request *request, struct buffer *frame, const char *key,
	const char *name);

/* Append the member @key with the segment of the path; as exchange_query(). */
bool exchange_segment(const struct http_request *request, struct buffer *frame, const char *key);

/* Append the members @keys (NULL-terminated) of the body of @request, which is an object; none that
 * is absent. Return false, with the response sent, when it is no object. */
bool exchange_body_members(
	const struct http_request *request, struct buffer *frame, const char *const *keys);

/* Close @frame, and serve it: the response to @request follows. @has_args: the body of the request,
 * unless it is empty, is the value of `args`. @wants_events: the response is a stream of events, if
 * the request is not refused at once. */
void exchange_serve(
	const struct http_request *request, struct buffer *frame, bool has_args, bool wants_events);

/* Append one event of a stream (HTML, Server-sent events, 9.2.6): @event is its name, @text its
 * data. */
void exchange_write_event(struct buffer *out, const char *event, const char *text, size_t size);
