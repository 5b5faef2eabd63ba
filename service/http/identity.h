/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/http.h"
#include "http/connection/peer.h"

/*
 * The caller of a request, and whether a page in a browser has sent it.
 *
 * A browser lets any page send requests to any address. Such a page cannot choose two headers:
 *
 *   Origin   the site of the page. A program other than a browser sends none.
 *   Host     the name by which the client reached us. A page whose own domain name was made to
 *            resolve to this device (DNS rebinding) sends that name.
 *
 * So both have to be allowed ones; without a configuration, names of this device: localhost,
 * 127.0.0.0/8 or [::1].
 *
 * The caller is `http:NAME` by its token, where tokens are needed; else `http:ADDRESS`. On a Unix
 * socket it is the user of the peer, `uid:1000`, as the kernel reports it.
 */

/* The caller of a request, as the door knows it. */
struct http_identity {
	char source[HTTP_TOKEN_NAME_CHARS + sizeof("http:")];
	const char *holder;  /* the source by a token, else the peer's; borrowed */
	const char *profile; /* which narrows its rights; NULL: none; of the configuration */
	bool is_admin;
	const struct http_token *token; /* in the configuration; NULL: none was needed */
};

/* The rights of an admitted caller, for a later check. */
struct http_rights {
	unsigned char token[HTTP_TOKEN_DIGEST_BYTES];
	uint64_t profile; /* digest of its name; 0: none */
	bool has_token;
	bool is_admin;
	bool is_unix;
};

/* Return whether @host, a name or address with or without a port, means this device. */
bool identity_host_is_local(const char *host);

/* Return whether @origin belongs to a page served by this device itself on @port, in TLS or not. */
bool identity_origin_is_ours(const char *origin, uint16_t port, bool is_tls);

/* Return whether @host, the Host of a request, is allowed by @http: the host of `public_url`, or
 * one of `allowed_hosts`; without these, a name of this device or of `listen`. */
bool identity_host_is_allowed(const struct config_http *http, const char *host);

/* Return whether @origin is allowed by @http: the origin of `public_url`, or one of
 * `allowed_origins`; without these, an origin of this device on one of the @n_ports ports at
 * @ports. */
bool identity_origin_is_allowed(
	const struct config_http *http, const char *origin, const uint16_t *ports, size_t n_ports);

/* Find the caller of a request from @peer with the field @authorization (NULL: no such field).
 * Return whether it may have the tools: it shows a token of @http, or needs none. Every token is
 * compared, whichever is right. */
bool identity_read(const struct config_http *http, const char *authorization,
	const struct http_peer *peer, struct http_identity *ret_identity);

/* Return the rights of the caller @identity at @peer. */
struct http_rights identity_rights(
	const struct http_identity *identity, const struct http_peer *peer);

/* Return a hash of the token of @rights, or 0. */
uint64_t identity_hash_token(const struct http_rights *rights);

/* Return whether @http still gives a caller @rights: neither more nor less. */
bool identity_rights_hold(const struct config_http *http, const struct http_rights *rights);
