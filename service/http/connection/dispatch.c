/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/dispatch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "http/connection/handshake.h"
#include "http/connection/life.h"
#include "http/connection/receive.h"
#include "http/connection/respond.h"
#include "http/connection/stream.h"

/* Bytes of one read. */
#define READ_BYTES (64u << 10)

/* The most bytes that are discarded after the last response. */
#define LINGER_BYTES (256u << 10)

/* The peer has sent more than its request: it is not read, and the connection ends with the
 * response. */
static void take_pipelined(struct http_connection *connection)
{
	connection->is_kept = false;
	connection_watch(connection, connection->events & ~(uint32_t)EPOLLIN);
}

/* Return whether there is a request's byte to read while the response is due. In TLS the event may
 * be about something else; a peer that has ended TLS is gone. */
static bool has_byte(struct http_connection *connection)
{
	int r = connection->tls ? tls_peek(connection->tls) : 1;

	if (r == 0 || (r < 0 && errno != EAGAIN))
		connection_doom(connection);
	return r == 1;
}

static void send_on(struct http_connection *connection)
{
	if (connection->state == CONNECTION_STREAMING)
		connection_stream_on(connection);
	else if (connection_write_on(connection))
		connection_end_response(connection);
}

static void linger_on(struct http_connection *connection)
{
	char bytes[READ_BYTES];
	ssize_t size = recv(connection->fd, bytes, sizeof(bytes), 0);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	connection->discarded += size > 0 ? (size_t)size : 0;
	if (size <= 0 || connection->discarded > LINGER_BYTES)
		connection_doom(connection);
}

void connection_read_on(struct http_connection *connection)
{
	char bytes[READ_BYTES];
	ssize_t size;

	if (connection->tls && !tls_is_ready(connection->tls) &&
		(handshake_delay(connection) || handshake_refuse_clear(connection)))
		return;
	size = connection->tls ? handshake_receive(connection, bytes, sizeof(bytes))
			       : recv(connection->fd, bytes, sizeof(bytes), 0);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0)
		connection_doom(connection);
	else
		connection_feed(connection, bytes, (size_t)size);
}

static bool is_sending(const struct http_connection *connection)
{
	return connection->state == CONNECTION_WRITING || connection->state == CONNECTION_STREAMING;
}

static void on_readable(struct http_connection *connection)
{
	switch (connection->state) {
	case CONNECTION_WAITING:
	case CONNECTION_STREAMING:
		if (has_byte(connection))
			take_pipelined(connection);
		break;
	case CONNECTION_WRITING:
		/* An event that was fetched before the response began. The bytes are read after the
		 * response. */
		break;
	case CONNECTION_LINGERING:
		linger_on(connection);
		break;
	default:
		connection_read_on(connection);
	}
}

void connection_on_events(void *data, uint32_t events)
{
	struct http_connection *connection = data;

	if (connection->state == CONNECTION_DOOMED)
		return;
	if ((events & EPOLLOUT) && is_sending(connection))
		send_on(connection);
	else if (events & (EPOLLIN | EPOLLOUT))
		on_readable(connection);
	/* A peer with its half closed has gone: earlier requests may have been served. */
	if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) &&
		(connection->state == CONNECTION_WAITING ||
			connection->state == CONNECTION_STREAMING || !(events & EPOLLIN)))
		connection_doom(connection);
	if (connection->state == CONNECTION_DOOMED)
		connection_free(connection);
}

void connection_on_time(void *data)
{
	struct http_connection *connection = data;
	void (*go_on)(struct http_connection * connection) = connection->late;

	connection->late = NULL;
	if (connection->state != CONNECTION_DOOMED && go_on) {
		go_on(connection);
		return;
	}
	if (connection->state == CONNECTION_READING) {
		connection_refuse(connection, 408, "The request did not arrive in time.");
		return;
	}
	connection_free(connection);
}
