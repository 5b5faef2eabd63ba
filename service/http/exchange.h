/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/request/address.h"
#include "core/request/request_text.h"
#include "core/state.h"
#include "http/connection/connection.h"
#include "http/connection/stream.h"
#include "http/connection/respond.h"
#include "http/identity.h"
#include "http/target.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * An exchange: a request served by the service as on the bus, from its parts to the response.
 *
 *   route ─▶ topic ──────────────────┐
 *   path, query ─▶ {"name": "add"} ──┼─▶ request_text ─┬─▶ topics ─▶ … ─▶ answer ─▶ response
 *   body, as it came ────────────────┘                 │           │
 *   token or peer, Session-Id ─▶ address ──────────────┘           └─ progress ─▶ events
 *
 * The response is 200, or the status of the answer's code, with its data as the body; or a stream
 * of events, if the caller wants events. When the peer goes away, its call is cancelled.
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

/* Return the catalogue of the tools permitted to the caller of @request in @session, narrowed
 * further by @profile. Both may be absent. */
const struct catalogue *exchange_view(const struct http_request *request,
	const struct text_view *session, const struct text_view *profile);

/* Append the URL of `/` for the client of @request, without a slash at its end: `http.public_url`,
 * else a URL of the name by which it has reached us. Return false, with the response sent, when it
 * gave no name. */
bool exchange_write_base(const struct http_request *request, struct buffer *out);

/* Return the session named by the header Session-Id; absent: none. */
struct text_view exchange_session(const struct http_request *request);

/* The caller of a request, from here to its answer. */
struct http_caller {
	struct http_rights rights;
	struct buffer texts; /* to which its address points, as to @trace */
	struct buffer trace; /* see core/request/trace.h */
};

/* Name the caller of @request in @session, which may be absent, in @address, with the trace in the
 * headers. @caller is zeroed, and lives as long. Return 0 or -ENOMEM. */
int exchange_name_caller(const struct http_request *request, const struct text_view *session,
	struct http_caller *caller, struct address *address);

/* Return whether the configuration in force still gives @caller its rights. */
bool exchange_caller_is_granted(const struct service *service, const struct http_caller *caller);

/* Submit @text for @request; the answer goes to @address. Return the result of
 * topics_take_request(). */
int exchange_submit(const struct http_request *request, struct address *address,
	const struct request_text *text);

/* The data of a request, an object without its last brace: @data is empty at first. */

/* Append a member with a text of UTF-8; none for an absent text. */
void exchange_member(struct buffer *data, const char *key, const struct text_view *text);

/* Append the member @key with the JSON text @json. */
void exchange_value(struct buffer *data, const char *key, const struct text_view *json);

/* Close @data, and return its text. */
struct text_view exchange_close(struct buffer *data);

/* Append the member @key with the value of @name in the query, as a text; none for an absent value.
 * Return false, with the response sent, for a malformed value. */
bool exchange_query(
	const struct http_request *request, struct buffer *data, const char *key, const char *name);

/* Append the member @key with the segment of the path; as exchange_query(). */
bool exchange_segment(const struct http_request *request, struct buffer *data, const char *key);

/* Append the members @keys (NULL-terminated) of the body of @request, an object; skip absent ones.
 * Return false, with the response sent, when the body is not an object. */
bool exchange_body_members(
	const struct http_request *request, struct buffer *data, const char *const *keys);

/* Return whether the client of @request may have long work done (core/request/checks.h); else the
 * response is sent. */
bool exchange_admit_long(const struct http_request *request);

/* Charge the client of @request, with the account @account, with work of @spent_ns in the loop. */
void exchange_charge(
	const struct http_request *request, struct account *account, uint64_t spent_ns);

/* Close @data, and serve @request as one for @topic: the response follows. */
void exchange_serve(const struct http_request *request, const char *topic, struct buffer *data);

/* As exchange_serve(), for a call: the body of @request, unless it is empty, is the value of
 * `args`. @wants_events: the response is a stream of events, if the request is not refused at
 * once. */
void exchange_call(const struct http_request *request, const char *topic, struct buffer *data,
	bool wants_events);

/* Serve @request as one for @topic whose data are its body, an object. */
void exchange_body(const struct http_request *request, const char *topic);

/* Send one event of the stream of @connection (HTML, Server-sent events, 9.2.6): @event is its
 * name, @text its data. Without memory it is lost. */
void exchange_send_event(
	struct http_connection *connection, const char *event, const char *text, size_t size);
