/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/stream.h"

#include <sys/epoll.h>

#include "http/connection/fields.h"
#include "http/connection/life.h"
#include "http/connection/respond.h"
#include "util/assert.h"

/* The head of a stream that answers a body waits for the first event, or so long: Caddy 2.6 drops a
 * response whose head comes before Caddy has seen the end of the body. */
#define STREAM_HEAD_MS 20

void connection_stream_on(struct http_connection *connection)
{
	connection->late = NULL;
	if (!connection_write_on(connection))
		return;
	connection_charge_sent(connection);
	http_outgoing_reset(&connection->outgoing);
	loop_timer_disarm(&connection->timer);
	if (connection->is_ended)
		connection_end_response(connection);
	else
		connection_watch(connection, EPOLLRDHUP | (connection->is_kept ? EPOLLIN : 0));
}

static bool has_chunks(const struct http_connection *connection)
{
	return !connection->reader.is_old;
}

void http_stream_begin(struct http_connection *connection)
{
	static const struct http_response response = {.status = 200, .type = "text/event-stream"};

	check(connection->state == CONNECTION_WAITING);
	connection_begin_head(connection, &response, true);
	/* A proxy that gathers the stream would keep its events back. */
	buffer_append_string(&connection->outgoing.head, "X-Accel-Buffering: no\r\n");
	if (has_chunks(connection))
		buffer_append_string(&connection->outgoing.head, "Transfer-Encoding: chunked\r\n");
	buffer_append_string(&connection->outgoing.head, "\r\n");
	connection_move(connection, CONNECTION_STREAMING);
	if (!loop_timer_is_armed(&connection->connections->alive))
		loop_timer_arm(&connection->connections->alive, STREAM_ALIVE_MS);
	if (connection->held > 0) {
		connection->late = connection_stream_on;
		loop_timer_arm(&connection->timer, STREAM_HEAD_MS);
	} else {
		connection_stream_on(connection);
	}
}

size_t http_stream_write(struct http_connection *connection, const char *text, size_t size)
{
	struct buffer *queue = &connection->outgoing.head;
	size_t before = queue->size;

	if (connection->state != CONNECTION_STREAMING || connection->is_ended || size == 0)
		return 0;
	if (has_chunks(connection))
		buffer_printf(queue, "%zx\r\n", size);
	buffer_append(queue, text, size);
	if (has_chunks(connection))
		buffer_append_string(queue, "\r\n");
	if (buffer_status(queue) < 0) {
		connection_doom(connection);
		return 0;
	}
	connection_charge_queued(connection, queue->size - before);
	if (connection->state != CONNECTION_STREAMING)
		return 0;
	if (!(connection->events & EPOLLOUT))
		connection_stream_on(connection);
	return http_outgoing_left(&connection->outgoing);
}

size_t http_stream_queued(const struct http_connection *connection)
{
	return http_outgoing_left(&connection->outgoing);
}

void http_stream_end(struct http_connection *connection)
{
	connection->waiter = (struct http_waiter){0};
	if (connection->state != CONNECTION_STREAMING || connection->is_ended)
		return;
	connection->is_ended = true;
	if (!connection_is_head(connection) && has_chunks(connection))
		buffer_append_string(&connection->outgoing.head, "0\r\n\r\n");
	if (buffer_status(&connection->outgoing.head) < 0)
		connection_doom(connection);
	else if (!(connection->events & EPOLLOUT))
		connection_stream_on(connection);
}

bool connection_keep_alive(struct http_connection *connection)
{
	static const char comment[] = ":\n\n";

	if (connection->state != CONNECTION_STREAMING)
		return false;
	/* A reader with unread bytes needs none. */
	if (http_stream_queued(connection) == 0)
		http_stream_write(connection, comment, sizeof(comment) - 1);
	return true;
}
