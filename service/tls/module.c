/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/functions.h"

extern const struct tls_functions toolboxd_tls;

__attribute__((visibility("default"))) const struct tls_functions toolboxd_tls = {
	.version = TOOLBOXD_VERSION,
	.accept = tls_accept,
	.client_free = tls_client_free,
	.client_new = tls_client_new,
	.connect = tls_connect,
	.describe_failure = tls_describe_failure,
	.finish = tls_finish,
	.handshake = tls_handshake,
	.has_begun = tls_has_begun,
	.is_ready = tls_is_ready,
	.peek = tls_peek,
	.read = tls_read,
	.server_free = tls_server_free,
	.server_is_stale = tls_server_is_stale,
	.server_new = tls_server_new,
	.session_free = tls_session_free,
	.wants_write = tls_wants_write,
	.write = tls_write,
};
