/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls/inside.h"

struct tls_client {
	SSL_CTX *context;
};

static const unsigned char protocols[] = "\x08http/1.1";

struct tls_client *tls_client_new(char ret_reason[TLS_REASON_BYTES])
{
	cleanup(tls_client_cleanup) struct tls_client *client = calloc(1, sizeof(*client));

	ERR_clear_error();
	snprintf(ret_reason, TLS_REASON_BYTES, "%s", strerror(ENOMEM));
	if (client)
		client->context = tls_context_new(TLS_client_method());
	if (!client || !client->context || SSL_CTX_set_default_verify_paths(client->context) != 1 ||
		SSL_CTX_set_alpn_protos(client->context, protocols, sizeof(protocols) - 1) != 0)
		return NULL;
	SSL_CTX_set_verify(client->context, SSL_VERIFY_PEER, NULL);
	return take_ptr(client);
}

void tls_client_free(struct tls_client *client)
{
	if (!client)
		return;
	SSL_CTX_free(client->context);
	free(client);
}

/* As network_read_address(), which the module cannot call: it has nothing of the daemon. */
static bool is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Let @ssl ask for @host, and take only certificates valid for this name. An address is not asked
 * for (RFC 6066 §3). */
static bool expect_host(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM *expected = SSL_get0_param(ssl);

	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(expected, host) == 1;
	X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(expected, host, 0) == 1 &&
	       SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct tls_session *tls_connect(struct tls_client *client, int fd, const char *host)
{
	struct tls_session *session = tls_session_new(client->context, fd);

	if (!session)
		return NULL;
	SSL_set_connect_state(session->ssl);
	if (expect_host(session->ssl, host))
		return session;
	tls_session_free(session);
	return NULL;
}
