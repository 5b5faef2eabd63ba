/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/cleanup.h"

/*
 * TLS 1.2 and 1.3 on the connections of HTTP clients, by OpenSSL.
 *
 *   struct tls           a certificate and its key, of `http.tls`; replaced when they are read again
 *   struct tls_session   one connection; it keeps the certificate that it began with
 *
 * A session reads and writes like the socket below it: what cannot go on now fails with EAGAIN. The handshake is
 * part of the first reads. The only protocol in TLS is `http/1.1` (ALPN, RFC 7301): a client that offers others
 * alone is refused. Renegotiation is off.
 */
struct tls;
struct tls_session;

/* The bytes of a reason, with its NUL. */
#define TLS_REASON_BYTES 512

/* Read the certificate, with those that signed it, and its key: PEM files at the absolute paths @cert and @key. A
 * key that every user may read is refused. Return 0, or a negative errno with @ret_reason a text for a person. */
int tls_new(
	const char *cert, const char *key, struct tls **ret_tls, char ret_reason[TLS_REASON_BYTES]);

/* Return whether the certificate is not valid now, and write in @ret_reason why. */
bool tls_is_stale(const struct tls *tls, char ret_reason[TLS_REASON_BYTES]);

/* Free @tls, which may be NULL; its sessions go on. */
void tls_free(struct tls *tls);

CLEANUP_DEFINE(tls, struct tls *, tls_free)

/* Begin a session on the socket @fd, which stays the caller's; NULL without memory. */
struct tls_session *tls_accept(struct tls *tls, int fd);

/* End the session, without a word to the peer. Takes NULL. */
void tls_session_free(struct tls_session *session);

/* Read up to @size bytes. Return their number, 0 at the end, or -1 with errno: EAGAIN, or EPROTO with
 * tls_failure(). */
ssize_t tls_read(struct tls_session *session, void *bytes, size_t size);

/* Look whether there is something to read: 1, or as tls_read(). */
int tls_peek(struct tls_session *session);

/* Write up to @size bytes, which may be less. Return their number, or -1 with errno. After EAGAIN the next bytes
 * have to begin with the same ones. */
ssize_t tls_write(struct tls_session *session, const void *bytes, size_t size);

/* Return whether anything was read. */
bool tls_has_begun(const struct tls_session *session);

/* Return whether the handshake is complete. */
bool tls_is_ready(const struct tls_session *session);

/* Return whether the last read waits until it can write. */
bool tls_wants_write(const struct tls_session *session);

/* Announce to the peer that no more bytes follow. */
void tls_finish(struct tls_session *session);

/* Return the reason of the last EPROTO on this thread, a text in English, valid until the next call. */
const char *tls_failure(void);
