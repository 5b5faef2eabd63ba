/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/bus.h"
#include "http/connection/connection.h"
#include "http/connection/handler.h"
#include "loop/loop.h"

/*
 * The set of connections: who enters, who gives way, and how all of them end.
 *
 *   accept ─▶ a place (http/connection/places.h) ─▶ request ─▶ claim ─▶ handler
 */
struct http_connections;
struct tls_server;

/* Create the set of connections, with the accounts of @bus; @handler is copied. Return 0 or a
 * negative errno. */
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

/* End every connection after its response; close idle ones. */
void http_connections_stop(struct http_connections *connections);

/* Return how many have an unsent response. */
unsigned int http_connections_pending(const struct http_connections *connections);

/* Note that the request shows the token of the source @token (NULL: none). Return whether it may be
 * served: there is a place, or it @is_let_pass and there is a spare place; else the response is
 * sent. */
bool http_connection_claim(struct http_connection *connection, const char *token, bool is_let_pass);
