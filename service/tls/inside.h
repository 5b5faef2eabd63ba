/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <openssl/ssl.h>

#include "tls/session.h"

/* The parts common to a server and a client. Only this folder includes it. */

struct tls_session {
	SSL *ssl;
};

/* Return a context of @method with the rules of both sides; NULL without memory. */
SSL_CTX *tls_context_new(const SSL_METHOD *method);

/* Begin a session on the socket @fd, which stays the caller's; NULL without memory. */
struct tls_session *tls_session_new(SSL_CTX *context, int fd);

/* Return the reason of the first failure reported by OpenSSL for this thread: a constant text in
 * English. */
const char *tls_last_reason(void);
