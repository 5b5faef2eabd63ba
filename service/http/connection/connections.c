/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/connections.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http/connection/dispatch.h"
#include "http/connection/fields.h"
#include "http/connection/life.h"
#include "http/connection/respond.h"
#include "http/connection/stream.h"
#include "tls/server.h"
#include "util/assert.h"
#include "util/list.h"

/* Write a comment to each stream that needs one. */
static void keep_streams_alive(void *data)
{
	struct http_connections *connections = data;
	bool has_stream = false;

	list_each(struct http_connection, connection, &connections->places.list, place.link)
		has_stream = connection_keep_alive(connection) || has_stream;
	if (has_stream)
		loop_timer_arm(&connections->alive, STREAM_ALIVE_MS);
}

/* Return whether the next move is the peer's, or only a refusal is due that is delayed. */
static bool is_quiet(const struct http_connection *connection)
{
	switch (connection->state) {
	case CONNECTION_IDLE:
	case CONNECTION_READING:
	case CONNECTION_LINGERING:
		return true;
	default:
		return connection->state == CONNECTION_WAITING && connection->late;
	}
}

/* Close the connection with @place if it is quiet. */
static bool give_way(struct http_place *place)
{
	struct http_connection *connection = container_of(place, struct http_connection, place);

	if (!is_quiet(connection))
		return false;
	connection_free(connection);
	return true;
}

static void log_crowded(struct http_connections *connections, const char *address)
{
	log_limited(&connections->refusals[REFUSAL_CROWDED], LOG_LEVEL_WARNING,
		"HTTP: refused a request from %s: there are too many connections", address);
}

static int begin_connection(struct http_connection *connection)
{
	struct loop *loop = connection->connections->loop;
	int r = loop_timer_init(&connection->timer, loop, connection_on_time, connection);

	if (r == 0)
		r = loop_add_fd(loop, connection->fd, EPOLLIN | EPOLLRDHUP, connection_on_events,
			connection, &connection->source);
	connection->events = EPOLLIN | EPOLLRDHUP;
	connection->account = bus_account_new(connection->connections->bus);
	return r == 0 && !connection->account ? -ENOMEM : r;
}

void http_connections_accept(struct http_connections *connections, int fd, struct tls_server *tls)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->connections = connections;
	http_peer_read(fd, &connection->peer);
	if (!http_places_enter(
		    &connections->places, &connection->place, http_peer_place(&connection->peer))) {
		log_crowded(connections, connection->peer.address);
		free(connection);
		close(fd);
		return;
	}
	bus_socket_setup(fd);
	if (tls)
		connection->tls = tls_accept(tls, fd);
	if ((tls && !connection->tls) || begin_connection(connection) < 0) {
		connection_free(connection);
		return;
	}
	connection_await(connection, connections->bounds.first_byte_ms);
	/* The request is often there already, and then the connection is no longer quiet. */
	if (!tls)
		connection_read_on(connection);
}

bool http_connection_claim(struct http_connection *connection, const char *token, bool is_let_pass)
{
	const char *holder = token ? token : http_peer_place(&connection->client);
	struct http_connections *connections = connection->connections;

	account_set_debtor(connection->account, holder);
	if (http_places_claim(&connections->places, &connection->place, holder))
		return true;
	connection->is_kept = false;
	if (is_let_pass && http_places_may_spare(&connections->places, holder))
		return true;
	log_crowded(connections, connection->client.address);
	http_respond_error(connection, 503, "There are too many connections: try again later.");
	return false;
}

void http_connections_stop(struct http_connections *connections)
{
	connections->is_stopping = true;
	list_each(struct http_connection, connection, &connections->places.list, place.link) {
		if (connection->state == CONNECTION_IDLE)
			connection_free(connection);
	}
}

unsigned int http_connections_pending(const struct http_connections *connections)
{
	return connections->n_pending;
}

void http_connections_set_bounds(
	struct http_connections *connections, const struct http_bounds *bounds)
{
	connections->bounds = *bounds;
	connections->places.max = bounds->connections;
	connections->places.per_holder = bounds->per_holder;
}

int http_connections_new(struct loop *loop, struct bus *bus, const struct http_bounds *bounds,
	const struct http_connection_handler *handler, void *data,
	struct http_connections **ret_connections)
{
	struct http_connections *connections = calloc(1, sizeof(*connections));
	int r;

	check(handler->request);
	if (!connections)
		return -ENOMEM;
	*connections = (struct http_connections){
		.loop = loop,
		.bus = bus,
		.handler = *handler,
		.data = data,
	};
	http_places_init(&connections->places, give_way);
	http_connections_set_bounds(connections, bounds);
	r = loop_timer_init(&connections->alive, loop, keep_streams_alive, connections);
	if (r < 0)
		free(connections);
	else
		*ret_connections = connections;
	return r;
}

void http_connections_free(struct http_connections *connections)
{
	if (!connections)
		return;
	while (!list_is_empty(&connections->places.list))
		connection_free(container_of(
			connections->places.list.next, struct http_connection, place.link));
	loop_timer_deinit(&connections->alive);
	free(connections);
}
