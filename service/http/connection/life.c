/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/life.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/assert.h"
#include "util/cleanup.h"

/* After the last response, a connection lingers so long. A socket that is closed with unread bytes
 * resets the connection, and the peer may lose the response (RFC 9112 §9.6). */
#define LINGER_MS 1000

void connection_move(struct http_connection *connection, enum connection_state to)
{
	connection->state = connection_state_move(connection->state, to);
}

void connection_watch(struct http_connection *connection, uint32_t events)
{
	if (connection->events == events)
		return;
	connection->events = events;
	loop_source_set_events(connection->source, events);
}

void connection_set_pending(struct http_connection *connection, bool is_pending)
{
	if (connection->is_pending == is_pending)
		return;
	connection->is_pending = is_pending;
	check(is_pending || connection->connections->n_pending > 0);
	connection->connections->n_pending += is_pending ? 1 : -1u;
}

static void charge_held(struct http_connection *connection)
{
	check(connection->held == 0 || connection->account);
	account_release(connection->account, connection->held);
	connection->held = 0;
}

void connection_charge_sent(struct http_connection *connection)
{
	account_unqueue(connection->account, connection->queued);
	connection->queued = 0;
}

/* Free what the request and its response hold. */
static void drop_exchange(struct http_connection *connection)
{
	charge_held(connection);
	connection_charge_sent(connection);
	connection_set_pending(connection, false);
	buffer_reset(&connection->fields);
	http_outgoing_reset(&connection->outgoing);
	connection->waiter = (struct http_waiter){0};
}

void connection_free(struct http_connection *connection)
{
	struct http_waiter waiter = connection->waiter;

	connection->waiter = (struct http_waiter){0};
	if (waiter.gone)
		waiter.gone(waiter.data);
	drop_exchange(connection);
	http_places_leave(&connection->connections->places, &connection->place);
	loop_source_free(connection->source);
	loop_timer_deinit(&connection->timer);
	http_reader_deinit(&connection->reader);
	buffer_deinit(&connection->fields);
	http_outgoing_deinit(&connection->outgoing);
	account_close(connection->account);
	tls_session_free(connection->tls);
	close(connection->fd);
	free(connection);
}

void connection_doom(struct http_connection *connection)
{
	if (connection->state == CONNECTION_DOOMED)
		return;
	connection_move(connection, CONNECTION_DOOMED);
	connection_watch(connection, 0);
	loop_timer_arm(&connection->timer, 0);
}

void connection_await(struct http_connection *connection, uint64_t wait_ms)
{
	struct http_connections *connections = connection->connections;
	struct http_limits limits;

	drop_exchange(connection);
	limits = connections->bounds.request;
	if (limits.body_bytes > account_book_held_max(connection->account->book))
		limits.body_bytes = account_book_held_max(connection->account->book);
	http_reader_begin(&connection->reader, &limits);
	connection->client = connection->peer;
	connection->is_kept = connection->has_continued = connection->is_ended = false;
	http_places_rest(&connections->places, &connection->place);
	connection_watch(connection, EPOLLIN | EPOLLRDHUP);
	loop_timer_arm(&connection->timer, wait_ms);
}

static void become_idle(struct http_connection *connection)
{
	connection_move(connection, CONNECTION_IDLE);
	connection_await(connection, connection->connections->bounds.idle_ms);
}

static void begin_lingering(struct http_connection *connection)
{
	if (connection->tls)
		tls_finish(connection->tls);
	if (shutdown(connection->fd, SHUT_WR) < 0) {
		connection_doom(connection);
		return;
	}
	drop_exchange(connection);
	connection_move(connection, CONNECTION_LINGERING);
	http_places_rest(&connection->connections->places, &connection->place);
	connection_watch(connection, EPOLLIN);
	loop_timer_arm(&connection->timer, LINGER_MS);
}

void connection_end_response(struct http_connection *connection)
{
	if (connection->is_kept && !connection->connections->is_stopping)
		become_idle(connection);
	else
		begin_lingering(connection);
}
