/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tls/session.h"
#include "util/cleanup.h"

/*
 * The connecting side of TLS. The certificate of the server must be valid for the requested name,
 * and signed, directly or not, by one of the system's certificates. OpenSSL finds the system's
 * certificates; SSL_CERT_FILE and SSL_CERT_DIR of the environment name others.
 */
struct tls_client;

/* Read the certificates of the system. NULL without memory or the module of TLS, with @ret_reason a
 * text for a person. */
struct tls_client *tls_client_new(char ret_reason[TLS_REASON_BYTES]);

/* Free @client, which may be NULL; its sessions go on. */
void tls_client_free(struct tls_client *client);

CLEANUP_DEFINE(tls_client, struct tls_client *, tls_client_free)

/* Begin a session with the server @host, a name or an address without brackets, on the connected
 * socket @fd, which stays the caller's; NULL without memory. */
struct tls_session *tls_connect(struct tls_client *client, int fd, const char *host);
