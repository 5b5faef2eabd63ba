/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * TLS 1.2 and 1.3 on one connection, by OpenSSL: in a module of our own, loaded when the first
 * client or server is made (front.c).
 *
 *   tls/server ─ tls_accept ──┐
 *                             ├─▶ struct tls_session ─▶ bytes
 *   tls/client ─ tls_connect ─┘
 *
 * A session reads and writes like the socket below it: an operation that cannot go on now fails
 * with EAGAIN. The handshake is part of the first operations. The only protocol in TLS is
 * `http/1.1` (ALPN, RFC 7301). Renegotiation is off. The process ignores SIGPIPE.
 */
struct tls_session;

/* The bytes of a reason, with its NUL. */
#define TLS_REASON_BYTES 512

/* The most bytes of one record (RFC 8446 §5.1). A read into so much room leaves nothing in the
 * session unannounced by a readable socket. */
#define TLS_RECORD_BYTES (16u << 10)

/* End the session, without a word to the peer. Takes NULL. */
void tls_session_free(struct tls_session *session);

/* Go on with the handshake. Return 0 when it is complete, or -1 with errno: EAGAIN, or EPROTO with
 * tls_describe_failure(). */
int tls_handshake(struct tls_session *session);

/* Read up to @size bytes. Return their number, 0 at the end, or -1 with errno: EAGAIN, or EPROTO
 * with tls_describe_failure(). */
ssize_t tls_read(struct tls_session *session, void *bytes, size_t size);

/* Look whether there is something to read: 1, or as tls_read(). */
int tls_peek(struct tls_session *session);

/* Write up to @size bytes, which may be less. Return their number, or -1 with errno. After EAGAIN
 * the next bytes have to begin with the same bytes. */
ssize_t tls_write(struct tls_session *session, const void *bytes, size_t size);

/* Return whether anything was read. */
bool tls_has_begun(const struct tls_session *session);

/* Return whether the handshake is complete. */
bool tls_is_ready(const struct tls_session *session);

/* Return whether the last operation waits until it can write. */
bool tls_wants_write(const struct tls_session *session);

/* Announce the end of the bytes to the peer. */
void tls_finish(struct tls_session *session);

/* Write the reason of the last EPROTO of @session, a text in English. To be called at once. */
void tls_describe_failure(const struct tls_session *session, char ret_reason[TLS_REASON_BYTES]);
