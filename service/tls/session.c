/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/session.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

#include "tls/inside.h"

SSL_CTX *tls_context_new(const SSL_METHOD *method)
{
	SSL_CTX *context = SSL_CTX_new(method);

	if (!context)
		return NULL;
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	/* The end of a message shows in HTTP and in a websocket: many peers end TLS without a
	 * word. */
	SSL_CTX_set_options(context,
		SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	return context;
}

struct tls_session *tls_session_new(SSL_CTX *context, int fd)
{
	struct tls_session *session = calloc(1, sizeof(*session));

	if (session)
		session->ssl = SSL_new(context);
	if (!session || !session->ssl || SSL_set_fd(session->ssl, fd) != 1) {
		tls_session_free(session);
		return NULL;
	}
	return session;
}

void tls_session_free(struct tls_session *session)
{
	if (!session)
		return;
	SSL_free(session->ssl);
	free(session);
}

/* OpenSSL reports the failures of the thread, whatever they belong to. */
static void begin_operation(void)
{
	ERR_clear_error();
	errno = 0;
}

/* Return @result of an operation as a socket would. */
static ssize_t result_of(struct tls_session *session, int result)
{
	if (result > 0)
		return result;
	switch (SSL_get_error(session->ssl, result)) {
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_SYSCALL:
		errno = errno ? errno : ECONNRESET;
		return -1;
	default:
		errno = EPROTO;
		return -1;
	}
}

static int int_of(size_t size)
{
	return size > INT_MAX ? INT_MAX : (int)size;
}

int tls_handshake(struct tls_session *session)
{
	ssize_t result;

	begin_operation();
	result = result_of(session, SSL_do_handshake(session->ssl));
	if (result == 0)
		errno = ECONNRESET;
	return result > 0 ? 0 : -1;
}

ssize_t tls_read(struct tls_session *session, void *bytes, size_t size)
{
	begin_operation();
	return result_of(session, SSL_read(session->ssl, bytes, int_of(size)));
}

int tls_peek(struct tls_session *session)
{
	char byte;

	begin_operation();
	return (int)result_of(session, SSL_peek(session->ssl, &byte, sizeof(byte)));
}

ssize_t tls_write(struct tls_session *session, const void *bytes, size_t size)
{
	begin_operation();
	return result_of(session, SSL_write(session->ssl, bytes, int_of(size)));
}

bool tls_has_begun(const struct tls_session *session)
{
	return SSL_in_before(session->ssl) == 0;
}

bool tls_is_ready(const struct tls_session *session)
{
	return SSL_is_init_finished(session->ssl) == 1;
}

bool tls_wants_write(const struct tls_session *session)
{
	return SSL_want_write(session->ssl);
}

void tls_finish(struct tls_session *session)
{
	begin_operation();
	if (tls_is_ready(session))
		SSL_shutdown(session->ssl);
}

const char *tls_last_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	return reason ? reason : "unknown reason";
}

void tls_describe_failure(const struct tls_session *session, char ret_reason[TLS_REASON_BYTES])
{
	long verdict = SSL_get_verify_result(session->ssl);

	if (verdict == X509_V_OK)
		snprintf(ret_reason, TLS_REASON_BYTES, "%s", tls_last_reason());
	else
		snprintf(ret_reason, TLS_REASON_BYTES, "its certificate is not trusted: %s",
			X509_verify_cert_error_string(verdict));
}
