/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct tls {
	SSL_CTX *context;
};

struct tls_session {
	SSL *ssl;
};

/* ── the certificate ─────────────────────────────────────────────────────────────────────────── */

const char *tls_failure(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	return reason ? reason : "unknown reason";
}

/* Choose `http/1.1` from what the client offers: names with their lengths before them. */
static int choose_protocol(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_size,
	const unsigned char *offered, unsigned int size, void *data)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *name;

	(void)ssl;
	(void)data;
	if (SSL_select_next_proto(&name, ret_size, ours, sizeof(ours) - 1, offered, size) !=
		OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*ret_name = name;
	return SSL_TLSEXT_ERR_OK;
}

/* No passphrase: OpenSSL would ask for it on the terminal. */
static int give_no_passphrase(char *bytes, int size, int is_writing, void *data)
{
	(void)bytes;
	(void)size;
	(void)is_writing;
	(void)data;
	return 0;
}

/* Refuse anything but a regular file, which could block, and a mode with one of the bits @forbidden. */
static int check_file(const char *path, mode_t forbidden, char ret_reason[TLS_REASON_BYTES])
{
	struct stat file;

	if (stat(path, &file) < 0) {
		snprintf(ret_reason, TLS_REASON_BYTES, "cannot read %s: %s", path, strerror(errno));
		return -errno;
	}
	if (!S_ISREG(file.st_mode)) {
		snprintf(ret_reason, TLS_REASON_BYTES, "%s is no regular file", path);
		return -EINVAL;
	}
	if (file.st_mode & forbidden) {
		snprintf(ret_reason, TLS_REASON_BYTES, "every user may read %s: chmod o= %s", path,
			path);
		return -EACCES;
	}
	return 0;
}

static int refuse_pem(const char *path, const char *expected, char ret_reason[TLS_REASON_BYTES])
{
	unsigned long error = ERR_peek_last_error();

	snprintf(ret_reason, TLS_REASON_BYTES, "%s is no %s in PEM: %s", path, expected,
		ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : tls_failure());
	return -EINVAL;
}

/* Return whether @error is that of a key which belongs to another certificate. */
static bool is_mismatch(unsigned long error)
{
	int reason = ERR_GET_REASON(error);

	return ERR_GET_LIB(error) == ERR_LIB_X509 &&
	       (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

static int load(SSL_CTX *context, const char *cert, const char *key, char reason[TLS_REASON_BYTES])
{
	int r = check_file(cert, 0, reason);

	if (r == 0)
		r = check_file(key, S_IROTH | S_IWOTH, reason);
	if (r < 0)
		return r;
	if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
		return refuse_pem(cert, "certificate", reason);
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1)
		return 0;
	if (!is_mismatch(ERR_peek_last_error()))
		return refuse_pem(key, "key without a passphrase", reason);
	snprintf(reason, TLS_REASON_BYTES, "%s is not the key of %s", key, cert);
	return -EINVAL;
}

int tls_new(
	const char *cert, const char *key, struct tls **ret_tls, char ret_reason[TLS_REASON_BYTES])
{
	cleanup(tls_cleanup) struct tls *tls = calloc(1, sizeof(*tls));
	int r;

	ERR_clear_error();
	snprintf(ret_reason, TLS_REASON_BYTES, "%s", strerror(ENOMEM));
	if (!tls)
		return -ENOMEM;
	tls->context = SSL_CTX_new(TLS_server_method());
	if (!tls->context)
		return -ENOMEM;
	SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
	/* The end of a message shows in HTTP itself: many clients end TLS without a word. */
	SSL_CTX_set_options(tls->context,
		SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					       SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_alpn_select_cb(tls->context, choose_protocol, NULL);
	SSL_CTX_set_default_passwd_cb(tls->context, give_no_passphrase);
	r = load(tls->context, cert, key, ret_reason);
	if (r == 0)
		*ret_tls = take_ptr(tls);
	return r;
}

bool tls_is_stale(const struct tls *tls, char ret_reason[TLS_REASON_BYTES])
{
	const X509 *certificate = SSL_CTX_get0_certificate(tls->context);
	const ASN1_TIME *end = X509_get0_notAfter(certificate);
	char text[64] = "";
	BIO *bio;

	if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
		snprintf(ret_reason, TLS_REASON_BYTES, "the certificate is not valid yet");
		return true;
	}
	if (X509_cmp_current_time(end) > 0)
		return false;
	bio = BIO_new(BIO_s_mem());
	if (bio && ASN1_TIME_print_ex(bio, end, ASN1_DTFLGS_ISO8601) == 1)
		BIO_read(bio, text, sizeof(text) - 1);
	BIO_free(bio);
	snprintf(ret_reason, TLS_REASON_BYTES, "the certificate expired on %s", text);
	return true;
}

void tls_free(struct tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->context);
	free(tls);
}

/* ── a session ───────────────────────────────────────────────────────────────────────────────── */

struct tls_session *tls_accept(struct tls *tls, int fd)
{
	struct tls_session *session = calloc(1, sizeof(*session));

	if (session)
		session->ssl = SSL_new(tls->context);
	if (!session || !session->ssl || SSL_set_fd(session->ssl, fd) != 1) {
		tls_session_free(session);
		return NULL;
	}
	SSL_set_accept_state(session->ssl);
	return session;
}

void tls_session_free(struct tls_session *session)
{
	if (!session)
		return;
	SSL_free(session->ssl);
	free(session);
}

/* Return @result, the one of an operation, as a socket would. */
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

ssize_t tls_read(struct tls_session *session, void *bytes, size_t size)
{
	ERR_clear_error();
	return result_of(session, SSL_read(session->ssl, bytes, int_of(size)));
}

int tls_peek(struct tls_session *session)
{
	char byte;

	ERR_clear_error();
	return (int)result_of(session, SSL_peek(session->ssl, &byte, sizeof(byte)));
}

ssize_t tls_write(struct tls_session *session, const void *bytes, size_t size)
{
	ERR_clear_error();
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
	ERR_clear_error();
	if (tls_is_ready(session))
		SSL_shutdown(session->ssl);
}
