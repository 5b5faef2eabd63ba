/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/handshake.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "http/connection/life.h"
#include "http/connection/receive.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* The first byte of a connection that begins TLS: a handshake record (RFC 8446 §5.1). */
#define TLS_HANDSHAKE 22

/* Handshakes of TLS have this part of the loop: a quarter. */
#define HANDSHAKES_FACTOR 4

static void go_on_with_handshake(struct http_connection *connection)
{
	connection_watch(connection, EPOLLIN | EPOLLRDHUP);
	loop_timer_arm(&connection->timer, connection->connections->bounds.first_byte_ms);
}

bool handshake_delay(struct http_connection *connection)
{
	uint64_t wait_ns =
		debt_wait_ns(&connection->connections->handshakes, clock_now_ns(), DEBT_CREDIT_NS);

	if (wait_ns == 0)
		return false;
	connection_watch(connection, EPOLLRDHUP);
	connection->late = go_on_with_handshake;
	loop_timer_arm(&connection->timer, wait_ns / NS_PER_MS + 1);
	return true;
}

bool handshake_refuse_clear(struct http_connection *connection)
{
	unsigned char first;

	if (tls_has_begun(connection->tls) || recv(connection->fd, &first, 1, MSG_PEEK) != 1 ||
		first == TLS_HANDSHAKE)
		return false;
	tls_session_free(take_ptr(connection->tls));
	connection_refuse(connection, 400, "This address speaks TLS: use https://.");
	return true;
}

ssize_t handshake_receive(struct http_connection *connection, char *bytes, size_t size)
{
	bool was_ready = tls_is_ready(connection->tls);
	uint64_t start_ns = was_ready ? 0 : clock_thread_ns();
	ssize_t n = tls_read(connection->tls, bytes, size);
	int error = errno;
	char reason[TLS_REASON_BYTES];

	if (!was_ready)
		debt_charge_plain(&connection->connections->handshakes, clock_now_ns(),
			clock_thread_ns() - start_ns, HANDSHAKES_FACTOR);
	if (n < 0 && error == EPROTO) {
		tls_describe_failure(connection->tls, reason);
		log_limited(&connection->connections->refusals[REFUSAL_TLS], LOG_LEVEL_WARNING,
			"HTTP: TLS with %s failed: %s", connection->client.address, reason);
	}
	connection_watch(
		connection, (tls_wants_write(connection->tls) ? EPOLLOUT : EPOLLIN) | EPOLLRDHUP);
	errno = error;
	return n;
}
