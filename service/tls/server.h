/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "tls/session.h"
#include "util/cleanup.h"

/*
 * The accepting side of TLS, with a certificate and its key, of `http.tls`. They are replaced when
 * the files are read again; a session keeps its first certificate. A client that offers other
 * protocols alone than `http/1.1` is refused.
 */
struct tls_server;

/* Read the certificate, with its chain of signing certificates, and its key: PEM files at the
 * absolute paths @cert and @key. A key readable for every user is refused. Return 0, or a negative
 * errno with @ret_reason a text for a person. */
int tls_server_new(const char *cert, const char *key, struct tls_server **ret_server,
	char ret_reason[TLS_REASON_BYTES]);

/* Return whether the certificate is not valid now, and write in @ret_reason why. */
bool tls_server_is_stale(const struct tls_server *server, char ret_reason[TLS_REASON_BYTES]);

/* Free @server, which may be NULL; its sessions go on. */
void tls_server_free(struct tls_server *server);

CLEANUP_DEFINE(tls_server, struct tls_server *, tls_server_free)

/* Begin a session on the socket @fd, which stays the caller's; NULL without memory. */
struct tls_session *tls_accept(struct tls_server *server, int fd);
