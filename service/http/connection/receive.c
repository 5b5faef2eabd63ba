/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/receive.h"

#include <sys/socket.h>

#include "http/connection/life.h"
#include "http/connection/respond.h"
#include "util/assert.h"

static enum refusal_kind refusal_of(unsigned int status)
{
	switch (status) {
	case 408:
		return REFUSAL_LATE;
	case 413:
	case 414:
	case 431:
		return REFUSAL_LARGE;
	case 503:
		return REFUSAL_CROWDED;
	default:
		return REFUSAL_MALFORMED;
	}
}

void connection_refuse(struct http_connection *connection, unsigned int status, const char *reason)
{
	log_limited(&connection->connections->refusals[refusal_of(status)], LOG_LEVEL_WARNING,
		"HTTP: refused a request from %s (%u): %s", connection->client.address, status,
		reason);
	connection_move(connection, CONNECTION_WAITING);
	connection->is_kept = false;
	http_respond_error(connection, status, "%s", reason);
}

/* Charge the bytes of the body that have come, for which there was room. */
static void charge_body(struct http_connection *connection)
{
	size_t size = connection->reader.body.size;
	bool has_room;

	if (size <= connection->held)
		return;
	has_room = account_hold(connection->account, size - connection->held);
	check(has_room);
	connection->held = size;
}

static bool is_in_body(const struct http_reader *reader)
{
	return reader->state == HTTP_SIZED || reader->state == HTTP_CHUNK_SIZE;
}

/* Answer `Expect: 100-continue` (RFC 9110 §10.1.1) once, before the body; in HTTP/1.0 it is
 * ignored. Return false after a refusal. */
static bool heed_expectation(struct http_connection *connection)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const struct http_reader *reader = &connection->reader;

	if (connection->has_continued || reader->is_old || !is_in_body(reader) ||
		reader->body.size > 0 || !http_field(reader, "Expect", NULL))
		return true;
	if (!http_field_has(reader, "Expect", "100-continue")) {
		connection_refuse(
			connection, 417, "The only expectation that is known is 100-continue.");
		return false;
	}
	connection->has_continued = true;
	/* The socket's buffer is empty. A peer whose network fails gets no answer anyway. */
	if ((connection->tls ? tls_write(connection->tls, line, sizeof(line) - 1)
			     : send(connection->fd, line, sizeof(line) - 1, MSG_NOSIGNAL)) < 0) {
		connection_doom(connection);
		return false;
	}
	return true;
}

static void finish_request(struct http_connection *connection, bool has_more)
{
	const struct http_reader *reader = &connection->reader;

	if (reader->state == HTTP_REFUSED) {
		connection_refuse(connection, reader->status, reader->reason);
		return;
	}
	connection_move(connection, CONNECTION_WAITING);
	loop_timer_disarm(&connection->timer);
	connection->is_kept =
		!has_more && !reader->is_old && !http_field_has(reader, "Connection", "close");
	connection->connections->handler.request(connection->connections->data, connection);
}

void connection_feed(struct http_connection *connection, const char *bytes, size_t size)
{
	struct http_reader *reader = &connection->reader;
	size_t used;

	reader->room = connection->held + account_room(connection->account);
	used = http_reader_feed(reader, bytes, size);

	if (connection->state == CONNECTION_IDLE) {
		connection_move(connection, CONNECTION_READING);
		loop_timer_arm(&connection->timer, connection->connections->bounds.request_ms);
	}
	http_places_rest(&connection->connections->places, &connection->place);
	charge_body(connection);
	if (http_reader_is_over(reader))
		finish_request(connection, used < size);
	else
		heed_expectation(connection);
}
