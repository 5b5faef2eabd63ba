/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "http/bytes.h"
#include "http/head.h"
#include "http/peer.h"
#include "loop/loop.h"
#include "request/reader.h"
#include "util/buffer.h"

/*
 * The connections of HTTP clients: each has one request at a time (RFC 9112).
 *
 *   accept ──▶ IDLE ──first byte──▶ READING ──request──▶ WAITING ──http_respond──▶ WRITING ──┐
 *               ▲ 10 s, then 75 s     30 s                  │                                │
 *               │                                           └─ http_stream_begin ─▶ STREAMING│
 *               └────────────── kept alive ─────────────────────────────────┬────────────────┘
 *                                                                           ▼
 *                refused, `Connection: close`, or pipelined ───────────▶ LINGERING ──▶ closed
 *
 *   IDLE, READING ── refused ──▶ WAITING, for its response alone
 *   each state ── the peer is gone, or too much waits for it ──▶ DOOMED, closed in the next turn
 *
 * A peer that closes, or only its half, ends the connection: a request that waits is given up
 * (http_waiter.gone). A connection that finds no place takes that of one that is quiet
 * (http/places.h); when none is, its request is read, and answered with 503 unless the door lets it
 * pass.
 *
 * In TLS the handshake is a part of IDLE, and a refusal before it is a close. Handshakes together
 * take a quarter of the loop: further ones wait. A request in clear is refused in clear.
 *
 * The bytes of bodies and responses are charged to the account of the connection (bus/account.h).
 * http/outgoing.h has the bytes that are not sent yet.
 */
struct http_connections;
struct http_connection;
struct tls_server;

/* The limits of `http.limits` (contract.md, Limits). */
struct http_bounds {
	struct http_limits request;
	unsigned int connections;
	unsigned int per_holder;
	uint64_t first_byte_ms;
	uint64_t request_ms; /* a whole request, from its first byte */
	uint64_t idle_ms;
};

struct http_connection_handler {
	/* Take a complete request. Respond at once, or call http_wait(). */
	void (*request)(void *data, struct http_connection *connection);
};

/* One who waits for the answer to a request. */
struct http_waiter {
	/* The peer of the connection is gone: forget the connection. */
	void (*gone)(void *data);
	void *data;
};

/* Create the set of connections, whose accounts are those of @bus; @handler is copied. Return 0 or
 * a negative errno. */
int http_connections_new(struct loop *loop, struct bus *bus, const struct http_bounds *bounds,
	const struct http_connection_handler *handler, void *data,
	struct http_connections **ret_connections);

/* Close all connections and free @connections, which may be NULL. */
void http_connections_free(struct http_connections *connections);

/* Have new bounds from now on. */
void http_connections_set_bounds(
	struct http_connections *connections, const struct http_bounds *bounds);

/* Take over the new connection @fd, which is non-blocking and close-on-exec; it speaks TLS unless
 * @tls is NULL. */
void http_connections_accept(struct http_connections *connections, int fd, struct tls_server *tls);

/* End every connection after its response; close those that are idle. */
void http_connections_stop(struct http_connections *connections);

/* Return how many have a response that is not sent yet. */
unsigned int http_connections_pending(const struct http_connections *connections);

/* Return the request, valid until the response is complete. */
const struct http_reader *http_connection_request(const struct http_connection *connection);

/* Move the body of the request to @out, which is empty; it is charged until the response. */
void http_connection_take_body(struct http_connection *connection, struct buffer *out);

/* Return the client of the request: the other end, unless http_connection_set_client() named
 * another one since. */
const struct http_peer *http_connection_peer(const struct http_connection *connection);

/* Name the client of the request that a proxy passes on, until the next request. */
void http_connection_set_client(struct http_connection *connection, const struct http_peer *client);

bool http_connection_is_tls(const struct http_connection *connection);

/* Note that the request shows the token of the source @token, unless that is NULL. Return whether
 * it may be served: there is a place, or it @is_let_pass and there is a spare one; else the
 * response is sent. */
bool http_connection_claim(struct http_connection *connection, const char *token, bool is_let_pass);

/* Return the account, which the connection owns. */
struct account *http_connection_account(const struct http_connection *connection);

/* Add a header line, ended by CR LF, to the next response. */
void http_connection_add_field(struct http_connection *connection, const char *line);

/* Call @respond with the connection after @delay_ms, unless the peer goes away before. */
void http_delay(struct http_connection *connection, uint64_t delay_ms,
	void (*respond)(struct http_connection *connection));

/* Wait for the answer: @waiter, which is copied, is called if the peer goes away before. */
void http_wait(struct http_connection *connection, const struct http_waiter *waiter);

/* Send @response with the bytes of @body from @at on, which is taken over. The body of an answer to
 * HEAD is not sent. The connection may be gone afterwards. */
void http_respond(struct http_connection *connection, const struct http_response *response,
	struct buffer *body, size_t at);

/* As http_respond(), with a reference of its own to @bytes. */
void http_respond_bytes(struct http_connection *connection, const struct http_response *response,
	struct http_bytes *bytes);

/* Send the error @status with the JSON object {"error": @text, "code": its code}. @text: a printf
 * format. */
void http_respond_error(struct http_connection *connection, unsigned int status, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* Begin a stream of server-sent events, as the response. That to HEAD is ended before anything is
 * written to it. */
void http_stream_begin(struct http_connection *connection);

/* Send @text as the next part of it, or queue it. Return the bytes that are queued. */
size_t http_stream_write(struct http_connection *connection, const char *text, size_t size);

/* Return the bytes that are queued. */
size_t http_stream_queued(const struct http_connection *connection);

/* End the response; the connection may be gone afterwards. */
void http_stream_end(struct http_connection *connection);
