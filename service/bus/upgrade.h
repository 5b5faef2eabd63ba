/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "request/reader.h"
#include "request/response.h"
#include "util/buffer.h"

/*
 * The opening handshake of a websocket, from the server's side (RFC 6455 §4.2).
 *
 *   request ─▶ upgrade_check ─▶ upgrade_write ─▶ libwebsockets, which answers and upgrades
 *
 * libwebsockets reads a request written by us: nothing of the peer's but its key.
 */

/* Return whether @request asks for a websocket of version 13; else fill @ret_refusal. Extensions
 * and subprotocols are not granted. */
bool upgrade_check(const struct http_reader *request, struct http_refusal *ret_refusal);

/* Append the request of a handshake with the key of @request, granted by upgrade_check(), to the
 * host @host. */
void upgrade_write(const struct http_reader *request, const char *host, struct buffer *out);
