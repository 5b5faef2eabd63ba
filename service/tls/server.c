/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/server.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tls/inside.h"

struct tls_server {
	SSL_CTX *context;
};

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

/* Refuse anything but a regular file, which could block, and a mode with one of the bits
 * @forbidden. */
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
		ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : tls_last_reason());
	return -EINVAL;
}

/* Return whether @error means a key of another certificate. */
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

int tls_server_new(const char *cert, const char *key, struct tls_server **ret_server,
	char ret_reason[TLS_REASON_BYTES])
{
	cleanup(tls_server_cleanup) struct tls_server *server = calloc(1, sizeof(*server));
	int r;

	ERR_clear_error();
	snprintf(ret_reason, TLS_REASON_BYTES, "%s", strerror(ENOMEM));
	if (!server)
		return -ENOMEM;
	server->context = tls_context_new(TLS_server_method());
	if (!server->context)
		return -ENOMEM;
	SSL_CTX_set_alpn_select_cb(server->context, choose_protocol, NULL);
	SSL_CTX_set_default_passwd_cb(server->context, give_no_passphrase);
	r = load(server->context, cert, key, ret_reason);
	if (r == 0)
		*ret_server = take_ptr(server);
	return r;
}

bool tls_server_is_stale(const struct tls_server *server, char ret_reason[TLS_REASON_BYTES])
{
	const X509 *certificate = SSL_CTX_get0_certificate(server->context);
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

void tls_server_free(struct tls_server *server)
{
	if (!server)
		return;
	SSL_CTX_free(server->context);
	free(server);
}

struct tls_session *tls_accept(struct tls_server *server, int fd)
{
	struct tls_session *session = tls_session_new(server->context, fd);

	if (session)
		SSL_set_accept_state(session->ssl);
	return session;
}
