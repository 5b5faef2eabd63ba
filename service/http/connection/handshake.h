/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "http/connection/fields.h"

/* TLS of a connection, if used. All handshakes together have a quarter of the loop. */

/* Return whether the handshake has to wait, since earlier ones took more than their part of the
 * loop. */
bool handshake_delay(struct http_connection *connection);

/* Return whether the peer begins with something else than TLS; then it has its response, in
 * clear. */
bool handshake_refuse_clear(struct http_connection *connection);

/* Receive from TLS. Before the handshake is complete, this goes on with it. Return as recv(). */
ssize_t handshake_receive(struct http_connection *connection, char *bytes, size_t size);
