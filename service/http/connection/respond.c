/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/respond.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>

#include "http/connection/fields.h"
#include "http/connection/life.h"
#include "json/writer.h"
#include "request/response.h"
#include "util/assert.h"

/* The time without any progress after which a peer that does not read its response is given up. */
#define STALL_MS 30000

bool connection_write_on(struct http_connection *connection)
{
	while (http_outgoing_left(&connection->outgoing) > 0) {
		ssize_t size =
			http_outgoing_send(&connection->outgoing, connection->fd, connection->tls);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN) {
			if (!loop_timer_is_armed(&connection->timer))
				loop_timer_arm(&connection->timer, STALL_MS);
			connection_watch(connection, EPOLLOUT | EPOLLRDHUP);
			return false;
		}
		if (size < 0) {
			connection_doom(connection);
			return false;
		}
		loop_timer_arm(&connection->timer, STALL_MS);
	}
	return true;
}

void connection_charge_queued(struct http_connection *connection, size_t size)
{
	const struct account_book *book = connection->account->book;
	struct http_connection *most = connection;

	account_queue(connection->account, size);
	connection->queued += size;
	if (account_book_used(book) <= book->bytes_max)
		return;
	list_each(
		struct http_connection, other, &connection->connections->places.list, place.link) {
		if (other->queued > most->queued)
			most = other;
	}
	if (most->state != CONNECTION_DOOMED)
		connection_doom(most);
}

void connection_begin_head(
	struct http_connection *connection, const struct http_response *response, bool has_body)
{
	struct buffer *head = &connection->outgoing.head;

	connection->is_kept = connection->is_kept && !connection->connections->is_stopping;
	http_head_begin(head, response, has_body, connection->is_kept);
	buffer_append_buffer(head, &connection->fields);
	if (response->fields)
		buffer_append_buffer(head, response->fields);
}

bool connection_is_head(const struct http_connection *connection)
{
	return connection->reader.state == HTTP_DONE &&
	       strcmp(http_method(&connection->reader), "HEAD") == 0;
}

/* Send the head of @response and its body of @size bytes, of which @charged are charged. */
static void send_response(struct http_connection *connection, const struct http_response *response,
	size_t size, size_t charged)
{
	struct buffer *head = &connection->outgoing.head;
	bool has_body = response->status != 204 && response->status != 304;

	connection_begin_head(connection, response, has_body && size > 0);
	if (has_body)
		buffer_printf(head, "Content-Length: %zu\r\n", size);
	buffer_append_string(head, "\r\n");
	if (buffer_status(head) < 0) {
		connection_doom(connection);
		return;
	}
	if (!has_body || connection_is_head(connection))
		http_outgoing_omit_body(&connection->outgoing);
	connection_move(connection, CONNECTION_WRITING);
	connection_set_pending(connection, true);
	if (charged > 0)
		connection_charge_queued(connection, charged);
	if (connection->state != CONNECTION_DOOMED && connection_write_on(connection))
		connection_end_response(connection);
}

void http_respond(struct http_connection *connection, const struct http_response *response,
	struct buffer *body, size_t at)
{
	size_t size = body->size - at;

	check(connection->state == CONNECTION_WAITING);
	connection->waiter = (struct http_waiter){0};
	if (buffer_status(body) < 0) {
		buffer_deinit(body);
		connection_doom(connection);
		return;
	}
	http_outgoing_take(&connection->outgoing, body, at);
	send_response(connection, response, size, size);
}

void http_respond_bytes(struct http_connection *connection, const struct http_response *response,
	struct http_bytes *bytes)
{
	check(connection->state == CONNECTION_WAITING);
	connection->waiter = (struct http_waiter){0};
	http_outgoing_share(&connection->outgoing, bytes);
	send_response(connection, response, bytes->size, 0);
}

void http_respond_error(
	struct http_connection *connection, unsigned int status, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer body = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	buffer_append_string(&body, "{\"error\":");
	json_write_bytes_lossy(&body, buffer_text(&text), text.size);
	buffer_printf(&body, ",\"code\":\"%s\"}", http_status_code(status));
	if (status == 503)
		http_connection_add_field(connection, "Retry-After: 1\r\n");
	http_respond(connection, &(struct http_response){.status = status}, &body, 0);
}

void http_connection_add_field(struct http_connection *connection, const char *line)
{
	buffer_append_string(&connection->fields, line);
}

void http_delay(struct http_connection *connection, uint64_t delay_ms,
	void (*respond)(struct http_connection *connection))
{
	check(connection->state == CONNECTION_WAITING);
	check(respond && !connection->late);
	connection->late = respond;
	loop_timer_arm(&connection->timer, delay_ms);
}

void http_wait(struct http_connection *connection, const struct http_waiter *waiter)
{
	check(connection->state == CONNECTION_WAITING);
	check(!connection->waiter.gone);
	connection->waiter = *waiter;
}
