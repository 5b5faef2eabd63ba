/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/http.h"
#include "http/connection/peer.h"
#include "request/reader.h"

/*
 * The client of a request that a proxy passes on, as the proxy reports it:
 *
 *   client 203.0.113.9 ──▶ proxy 10.0.0.2 ──▶ proxy 127.0.0.1 ──▶ toolboxd
 *                          X-Forwarded-For: 203.0.113.9, 10.0.0.2
 *
 * Anybody can send such a line. So the list is believed from the right, as far as its addresses are
 * in `http.trusted_proxies`: the first other address is the client. Lines of other senders are
 * ignored, and `Forwarded` (RFC 7239) always: a proxy that writes the lines above passes
 * `Forwarded` on unchanged.
 */

/* Set *@ret_client to the client of @request, which @peer has sent; to @peer unless that is a
 * trusted proxy. An element that is no address ends the list. */
void forwarded_read_client(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer, struct http_peer *ret_client);

/* Return the name by which the client of @request reached the proxy @peer: the value of
 * X-Forwarded-Host. NULL: there is none, or @peer is not trusted; "": it is malformed, or there are
 * several. */
const char *forwarded_host(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer);

/* Return whether the proxy @peer, which is trusted, was reached by TLS (X-Forwarded-Proto). */
bool forwarded_is_tls(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer);
