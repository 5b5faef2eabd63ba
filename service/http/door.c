/* SPDX-License-Identifier: Apache-2.0 */
#include "http/door.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bus/account.h"
#include "bus/listener.h"
#include "core/request/door.h"
#include "core/state.h"
#include "http/connection/connection.h"
#include "http/connection/respond.h"
#include "http/connection/connections.h"
#include "http/events.h"
#include "http/forwarded.h"
#include "http/token_backoff.h"
#include "http/identity.h"
#include "http/mcp/endpoint.h"
#include "http/routes.h"
#include "http/streams.h"
#include "tls/server.h"
#include "util/clock.h"
#include "util/log.h"

/* The age for which a browser remembers the answer to a preflight, in seconds. */
#define PREFLIGHT_AGE "600"

struct http_door {
	struct door door;
	struct service *service;
	struct listener *listeners[CONFIG_HTTP_LISTEN_MAX];
	size_t n_listeners;
	uint16_t ports[CONFIG_HTTP_LISTEN_MAX]; /* the TCP listeners' */
	size_t n_ports;
	struct tls_server *tls; /* for TCP; or NULL */
	struct http_connections *connections;
	struct routes routes;
	struct mcp_endpoint *mcp;
	struct streams streams;
	struct event_streams events;
	struct token_backoff guesses;
	struct log_rate wrong_tokens;
};

/* ── one request ─────────────────────────────────────────────────────────────────────────────── */

/* Return whether a page of a site that is not ours may have sent the request; then the response is
 * sent. A page of ours may read the response (Fetch, CORS protocol). */
static bool refuse_page(const struct http_door *door, const struct http_request *request)
{
	struct http_connection *connection = request->connection;
	const struct http_reader *reader = http_connection_request(connection);
	const struct config_http *http = &door->service->config.http;
	unsigned int n_origins;
	const char *origin = http_field(reader, "Origin", &n_origins);

	/* No browser sends HTTP/1.0, which alone may lack Host. */
	bool has_host = !reader->is_old || *http_host(reader);

	if ((has_host && !identity_host_is_allowed(http, http_host(reader))) ||
		(request->host != http_host(reader) &&
			!identity_host_is_allowed(http, request->host))) {
		http_respond_error(connection, 403,
			"The Host of the request is not served here: use localhost, or one of "
			"http.allowed_hosts.");
		return true;
	}
	if (!origin)
		return false;
	if (n_origins > 1 ||
		!identity_origin_is_allowed(http, origin, door->ports, door->n_ports)) {
		http_respond_error(connection, 403,
			"Pages of the Origin of the request are not allowed here.");
		return true;
	}
	http_connection_add_field(connection, "Access-Control-Allow-Origin: ");
	http_connection_add_field(connection, origin);
	http_connection_add_field(
		connection, "\r\nAccess-Control-Expose-Headers: *\r\nVary: Origin\r\n");
	/* The wildcard does not include Authorization (Fetch, CORS-safelisted request-headers). */
	if (strcmp(http_method(reader), "OPTIONS") == 0)
		http_connection_add_field(connection,
			"Access-Control-Allow-Methods: GET, POST, DELETE\r\n"
			"Access-Control-Allow-Headers: *, Authorization\r\n"
			"Access-Control-Max-Age: " PREFLIGHT_AGE "\r\n");
	return false;
}

/* Return whether @type is JSON, with a charset of UTF-8 or without one. */
static bool is_json_type(const char *type)
{
	static const char json[] = "application/json";
	size_t size = sizeof(json) - 1;
	const char *parameter;

	if (strncasecmp(type, json, size) != 0)
		return false;
	parameter = type + size + strspn(type + size, " \t");
	if (*parameter == '\0')
		return true;
	if (*parameter++ != ';')
		return false;
	parameter += strspn(parameter, " \t");
	return strcasecmp(parameter, "charset=utf-8") == 0 ||
	       strcasecmp(parameter, "charset=\"utf-8\"") == 0;
}

/* Return whether the body of the request can be read; else the response is sent. */
static bool check_body(struct http_connection *connection)
{
	const struct http_reader *reader = http_connection_request(connection);
	const char *type = http_field(reader, "Content-Type", NULL);

	if (strcmp(http_method(reader), "POST") != 0)
		return true;
	if (type && !http_field(reader, "Content-Length", NULL) &&
		!http_field(reader, "Transfer-Encoding", NULL)) {
		http_respond_error(
			connection, 411, "The request has a Content-Type, but no Content-Length.");
		return false;
	}
	if (reader->body.size > 0 && (!type || !is_json_type(type))) {
		http_respond_error(
			connection, 415, "The Content-Type of a body must be application/json.");
		return false;
	}
	return true;
}

static void respond_unauthorized(struct http_connection *connection)
{
	http_connection_add_field(connection, "WWW-Authenticate: Bearer\r\n");
	http_respond_error(connection, 401,
		"The request has no usable token: send Authorization: Bearer TOKEN.");
}

/* Respond 401: at once to a request without a token, and to a wrong one as http/token_backoff.h has
 * it. */
static void refuse_caller(struct http_door *door, struct http_connection *connection)
{
	const char *address = http_connection_peer(connection)->address;
	uint64_t delay_ms = 0;

	if (http_field(http_connection_request(connection), "Authorization", NULL)) {
		log_limited(&door->wrong_tokens, LOG_LEVEL_WARNING, "HTTP: a wrong token from %s",
			address);
		delay_ms = token_backoff_count(&door->guesses,
			http_peer_place(http_connection_peer(connection)), clock_now_ms());
	}
	if (delay_ms > 0)
		http_delay(connection, delay_ms, respond_unauthorized);
	else
		respond_unauthorized(connection);
}

/* Return whether the caller may use a route with this @access; else the response is sent.
 * @is_granted: it has a token, or needs none. */
static bool check_access(struct http_door *door, struct http_connection *connection,
	enum route_access access, const struct http_identity *identity, bool is_granted)
{
	const struct config_http *http = &door->service->config.http;
	bool needs_admin = access == ROUTE_ADMIN || (access == ROUTE_METRICS && http->needs_token);

	if (access == ROUTE_OPEN)
		return true;
	if (!is_granted) {
		refuse_caller(door, connection);
		return false;
	}
	if (needs_admin && !identity->is_admin) {
		http_respond_error(connection, 403,
			"This is for the operator: it takes an administrator's token, the Unix "
			"socket or the bus.");
		return false;
	}
	return true;
}

/* Return whether @request is served when all places are taken. */
static bool is_let_pass(const struct route *route, const struct http_request *request)
{
	return route->access == ROUTE_OPEN || request->identity->is_admin ||
	       http_connection_peer(request->connection)->is_unix;
}

/* Find out for whom the other end of @request has sent it, and by which name it was reached. */
static void find_client(const struct http_door *door, struct http_request *request)
{
	struct http_connection *connection = request->connection;
	const struct config_http *http = &door->service->config.http;
	const struct http_reader *reader = http_connection_request(connection);
	const struct http_peer *peer = http_connection_peer(connection);
	const char *host = forwarded_host(http, reader, peer);
	struct http_peer client;

	request->host = host ? host : http_host(reader);
	request->is_tls =
		http_connection_is_tls(connection) || forwarded_is_tls(http, reader, peer);
	forwarded_read_client(http, reader, peer, &client);
	http_connection_set_client(connection, &client);
}

static void take_request(void *data, struct http_connection *connection)
{
	struct http_door *door = data;
	const struct config_http *http = &door->service->config.http;
	const struct http_reader *reader = http_connection_request(connection);
	struct http_identity identity;
	struct http_request request = {
		.service = door->service,
		.connection = connection,
		.identity = &identity,
		.target = target_read(http_target(reader)),
	};
	const char *authorization;
	unsigned int n_tokens;
	const struct route *route;
	bool is_granted;

	find_client(door, &request);
	if (refuse_page(door, &request))
		return;
	authorization = http_field(reader, "Authorization", &n_tokens);
	is_granted = identity_read(http, n_tokens == 1 ? authorization : NULL,
		http_connection_peer(connection), &identity);
	account_set_holder(http_connection_account(connection), identity.holder);
	route = routes_find(http_method(reader), &request);
	if (route && check_access(door, connection, route->access, &identity, is_granted) &&
		http_connection_claim(connection, identity.token ? identity.source : NULL,
			is_let_pass(route, &request)) &&
		check_body(connection))
		routes_serve(&door->routes, route, &request);
}

/* ── the door ────────────────────────────────────────────────────────────────────────────────── */

static void take_connection(void *data, int fd)
{
	struct http_door *door = data;

	http_connections_accept(door->connections, fd, door->tls);
}

static void take_local_connection(void *data, int fd)
{
	struct http_door *door = data;

	http_connections_accept(door->connections, fd, NULL);
}

/* Read the files of TLS, if there are any. After a failure, which is logged, those before stay. */
static int load_tls(struct http_door *door)
{
	const struct config_http *http = &door->service->config.http;
	char reason[TLS_REASON_BYTES];
	struct tls_server *tls;
	int r;

	if (!http->tls_cert)
		return 0;
	r = tls_server_new(http->tls_cert, http->tls_key, &tls, reason);
	if (r < 0) {
		log_error("HTTP: TLS: %s%s", reason,
			door->tls ? "; the certificate in force stays" : "");
		return r;
	}
	tls_server_free(door->tls);
	door->tls = tls;
	if (tls_server_is_stale(tls, reason))
		log_warning("HTTP: TLS: %s", reason);
	return 0;
}

static struct http_bounds read_bounds(const struct config_http_limits *limits)
{
	return (struct http_bounds){
		.request =
			{
				.line_bytes = limits->header_bytes,
				.header_bytes = limits->header_bytes,
				.body_bytes = limits->body_bytes,
			},
		.connections = limits->connections,
		.per_holder = limits->per_address,
		.first_byte_ms = limits->first_byte_s * MS_PER_S,
		.request_ms = limits->request_s * MS_PER_S,
		.idle_ms = limits->idle_s * MS_PER_S,
	};
}

static void follow_configuration(struct door *base)
{
	struct http_door *door = container_of(base, struct http_door, door);
	const struct http_bounds bounds = read_bounds(&door->service->config.http.limits);

	http_connections_set_bounds(door->connections, &bounds);
	load_tls(door);
	streams_recheck(&door->streams, &door->service->config.http);
	mcp_endpoint_follow_configuration(door->mcp);
}

static void hear(struct door *base, const char *topic, const char *text, size_t size)
{
	struct http_door *door = container_of(base, struct http_door, door);

	if (strcmp(topic, "ovos.tools.job.completed") == 0) {
		mcp_endpoint_report_job(door->mcp, text, size);
		return;
	}
	event_streams_hear(&door->events, topic, text, size);
	if (strcmp(topic, "ovos.tools.changed") == 0)
		mcp_endpoint_report_changed(door->mcp);
}

static void close_listeners(struct http_door *door)
{
	while (door->n_listeners > 0)
		listener_free(door->listeners[--door->n_listeners]);
}

static void stop_listening(struct door *base)
{
	struct http_door *door = container_of(base, struct http_door, door);

	close_listeners(door);
	streams_end(&door->streams);
	http_connections_stop(door->connections);
}

static bool is_drained(const struct door *base)
{
	const struct http_door *door = container_of(base, const struct http_door, door);

	return http_connections_pending(door->connections) == 0;
}

/* Listen at @address, and write there the port that was taken. */
static int open_listener(
	struct http_door *door, struct loop *loop, struct config_http_address *address)
{
	struct listener **listener = &door->listeners[door->n_listeners];
	struct bus_address taken = {.port = address->port};
	int r;

	if (*address->path)
		return listener_new_unix(
			loop, address->path, take_local_connection, door, listener);
	memcpy(taken.host, address->host, sizeof(taken.host));
	r = listener_new(loop, &taken, take_connection, door, listener);
	if (r == 0)
		door->ports[door->n_ports++] = address->port = taken.port;
	return r;
}

/* Listen at @wanted. A failure is logged. */
static int listen_at(
	struct http_door *door, struct loop *loop, const struct config_http_address *wanted)
{
	struct config_http_address address = *wanted;
	cleanup(buffer_deinit) struct buffer url = {0};
	int r = open_listener(door, loop, &address);

	if (r == 0)
		door->n_listeners++;
	config_http_address_write(&door->service->config.http, &address, &url);
	if (!buffer_terminate(&url))
		return -ENOMEM;
	if (r < 0)
		log_error("Cannot listen on %s: %s", url.data, strerror(-r));
	else
		log_info("Listening on %s", url.data);
	return r;
}

int http_door_new(struct loop *loop, struct service *service, struct http_door **ret_door)
{
	static const struct door_operations operations = {
		.configured = follow_configuration,
		.heard = hear,
		.stop = stop_listening,
		.is_drained = is_drained,
	};
	static const struct http_connection_handler handler = {.request = take_request};
	const struct config_http *http = &service->config.http;
	const struct http_bounds bounds = read_bounds(&http->limits);
	cleanup(http_door_cleanup) struct http_door *door = calloc(1, sizeof(*door));
	int r;

	if (!door)
		return -ENOMEM;
	door->door.operations = &operations;
	door->service = service;
	streams_init(&door->streams);
	r = http_connections_new(loop, service->bus, &bounds, &handler, door, &door->connections);
	if (r == 0)
		r = mcp_endpoint_new(service, &door->streams, &door->mcp);
	event_streams_init(&door->events, &door->streams, service);
	if (r == 0)
		r = load_tls(door);
	routes_init(&door->routes, service, door->mcp, &door->events);
	for (size_t i = 0; r == 0 && i < http->n_addresses; i++)
		r = listen_at(door, loop, &http->addresses[i]);
	if (r < 0)
		return r;
	service_set_door(service, &door->door);
	*ret_door = take_ptr(door);
	return 0;
}

void http_door_free(struct http_door *door)
{
	if (!door)
		return;
	service_set_door(door->service, NULL);
	close_listeners(door);
	http_connections_free(door->connections);
	streams_deinit(&door->streams);
	mcp_endpoint_free(door->mcp);
	tls_server_free(door->tls);
	routes_deinit(&door->routes);
	free(door);
}
