/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tls/client.h"
#include "tls/server.h"

/* The file of the module, and the name of its struct tls_functions. */
#define TLS_MODULE "toolboxd-tls.so"
#define TLS_SYMBOL "toolboxd_tls"

/* The functions of the module. */
struct tls_functions {
	const char *version; /* TOOLBOXD_VERSION; the first member in every version */
	__typeof__(&tls_accept) accept;
	__typeof__(&tls_client_free) client_free;
	__typeof__(&tls_client_new) client_new;
	__typeof__(&tls_connect) connect;
	__typeof__(&tls_describe_failure) describe_failure;
	__typeof__(&tls_finish) finish;
	__typeof__(&tls_handshake) handshake;
	__typeof__(&tls_has_begun) has_begun;
	__typeof__(&tls_is_ready) is_ready;
	__typeof__(&tls_peek) peek;
	__typeof__(&tls_read) read;
	__typeof__(&tls_server_free) server_free;
	__typeof__(&tls_server_is_stale) server_is_stale;
	__typeof__(&tls_server_new) server_new;
	__typeof__(&tls_session_free) session_free;
	__typeof__(&tls_wants_write) wants_write;
	__typeof__(&tls_write) write;
};
