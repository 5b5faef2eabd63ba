/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "http/connection/peer.h"
#include "request/reader.h"

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
 * A peer that closes, or only its half, ends the connection: a waiting request is given up (struct
 * http_waiter). A connection without a place takes the place of a quiet connection
 * (http/connection/places.h). When no connection is quiet, the request is read, and answered with
 * 503 unless the door lets it pass.
 *
 * In TLS the handshake is a part of IDLE, and a refusal before it is a close. Handshakes together
 * take a quarter of the loop: further ones wait. A request in clear is refused in clear.
 *
 * The bytes of bodies and responses are charged to the account of the connection (bus/account.h).
 * http/connection/outgoing.h has the unsent bytes.
 *
 * http/connection/fields.h has the files of this folder in their order.
 */
struct http_connection;

/* Return the request, valid until the response is complete. */
const struct http_reader *http_connection_request(const struct http_connection *connection);

/* Move the body of the request to the empty @out; it is charged until the response. */
void http_connection_take_body(struct http_connection *connection, struct buffer *out);

/* Return the client of the request: the other end, unless http_connection_set_client() named
 * another one since. */
const struct http_peer *http_connection_peer(const struct http_connection *connection);

/* Name the client of a request passed on by a proxy, until the next request. */
void http_connection_set_client(struct http_connection *connection, const struct http_peer *client);

bool http_connection_is_tls(const struct http_connection *connection);

/* Return the account, owned by the connection. */
struct account *http_connection_account(const struct http_connection *connection);
