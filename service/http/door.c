/* SPDX-License-Identifier: Apache-2.0 */
#include "http/door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bus/listener.h"
#include "core/door.h"
#include "core/state.h"
#include "http/connection.h"
#include "http/identity.h"
#include "http/mcp/endpoint.h"
#include "http/routes.h"
#include "request/field.h"
#include "util/log.h"

/* The age for which a browser remembers the answer to a preflight, in seconds. */
#define PREFLIGHT_AGE "600"

#define SOURCE_BYTES 64

struct http_door {
	struct door door;
	struct service *service;
	uint16_t port;
	struct listener *listener;
	struct http_connections *connections;
	struct routes routes;
	struct mcp_endpoint *mcp;
};

/* ── one request ─────────────────────────────────────────────────────────────────────────────── */

/* Return whether a page of a site that is not ours may have sent the request; then the response is sent. A page
 * of ours may read the response (Fetch, CORS protocol). */
static bool refuse_page(const struct http_door *door, struct http_connection *connection)
{
	const struct http_reader *reader = http_connection_request(connection);
	unsigned int n_origins;
	const char *origin = http_field(reader, "Origin", &n_origins);

	if (!identity_host_is_local(http_host(reader))) {
		http_respond_error(connection, 403,
			"The Host of the request is no name of this device: use localhost.");
		return true;
	}
	if (!origin)
		return false;
	if (n_origins > 1 || !identity_origin_is_ours(origin, door->port)) {
		http_respond_error(connection, 403,
			"Pages of the Origin of the request are not allowed here.");
		return true;
	}
	http_connection_add_field(connection, "Access-Control-Allow-Origin: ");
	http_connection_add_field(connection, origin);
	http_connection_add_field(connection, "\r\nVary: Origin\r\n");
	if (strcmp(http_method(reader), "OPTIONS") == 0)
		http_connection_add_field(connection,
			"Access-Control-Allow-Methods: GET, POST, DELETE\r\n"
			"Access-Control-Allow-Headers: Authorization, Content-Type, Session-Id\r\n"
			"Access-Control-Max-Age: " PREFLIGHT_AGE "\r\n");
	return false;
}

/* Return whether @type is JSON, and its charset, if it has one, is UTF-8. */
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

static void take_request(void *data, struct http_connection *connection)
{
	struct http_door *door = data;
	const struct http_reader *reader = http_connection_request(connection);
	char source[SOURCE_BYTES];
	const struct http_identity identity = {.source = source};
	struct http_request request = {
		.service = door->service,
		.connection = connection,
		.identity = &identity,
		.target = target_read(http_target(reader)),
	};
	const struct route *route;

	snprintf(source, sizeof(source), "http:%s", http_connection_address(connection));
	if (refuse_page(door, connection))
		return;
	route = routes_find(http_method(reader), &request);
	if (!route)
		return;
	if (route->access == ROUTE_ADMIN && !identity.is_admin)
		http_respond_error(
			connection, 403, "This is for the operator: use the bus (toolboxctl).");
	else if (check_body(connection))
		route->serve(&door->routes, &request);
}

/* ── the door ────────────────────────────────────────────────────────────────────────────────── */

static void take_connection(void *data, int fd)
{
	struct http_door *door = data;

	http_connections_accept(door->connections, fd);
}

static struct http_bounds read_bounds(const struct config *config)
{
	return (struct http_bounds){
		.request =
			{
				.line_bytes = HTTP_HEADER_BYTES,
				.header_bytes = HTTP_HEADER_BYTES,
				.body_bytes = config->limits.args_bytes + HTTP_BODY_BYTES,
			},
		.connections = HTTP_CONNECTIONS,
		.per_address = HTTP_PER_ADDRESS,
		.first_byte_ms = HTTP_FIRST_BYTE_MS,
		.request_ms = HTTP_REQUEST_MS,
		.idle_ms = HTTP_IDLE_MS,
	};
}

static void follow_configuration(struct door *base)
{
	struct http_door *door = container_of(base, struct http_door, door);
	const struct http_bounds bounds = read_bounds(&door->service->config);

	http_connections_set_bounds(door->connections, &bounds);
}

static void report_changed(struct door *base)
{
	mcp_endpoint_report_changed(container_of(base, struct http_door, door)->mcp);
}

static void stop_listening(struct door *base)
{
	struct http_door *door = container_of(base, struct http_door, door);

	listener_free(take_ptr(door->listener));
	http_connections_stop(door->connections);
}

static bool is_drained(const struct door *base)
{
	const struct http_door *door = container_of(base, const struct http_door, door);

	return http_connections_pending(door->connections) == 0;
}

static int begin_door(struct http_door *door, struct loop *loop, struct bus_address *address)
{
	static const struct http_connection_handler handler = {.request = take_request};
	const struct http_bounds bounds = read_bounds(&door->service->config);
	int r = http_connections_new(
		loop, door->service->bus, &bounds, &handler, door, &door->connections);

	if (r == 0)
		r = mcp_endpoint_new(loop, door->service, &door->mcp);
	if (r == 0)
		r = listener_new(loop, address, take_connection, door, &door->listener);
	door->port = address->port;
	door->routes.mcp = door->mcp;
	return r;
}

int http_door_new(struct loop *loop, struct service *service, struct bus_address *address,
	struct http_door **ret_door)
{
	static const struct door_operations operations = {
		.configured = follow_configuration,
		.changed = report_changed,
		.stop = stop_listening,
		.is_drained = is_drained,
	};
	cleanup(http_door_cleanup) struct http_door *door = calloc(1, sizeof(*door));
	bool is_v6 = strchr(address->host, ':') != NULL;
	int r;

	if (!door)
		return -ENOMEM;
	door->door.operations = &operations;
	door->service = service;
	door->routes.service = service;
	documents_init(&door->routes.documents);
	r = begin_door(door, loop, address);
	if (r < 0)
		return r;
	service_set_door(service, &door->door);
	log_info("Listening on http://%s%s%s:%u", is_v6 ? "[" : "", address->host, is_v6 ? "]" : "",
		address->port);
	*ret_door = take_ptr(door);
	return 0;
}

void http_door_free(struct http_door *door)
{
	if (!door)
		return;
	service_set_door(door->service, NULL);
	listener_free(door->listener);
	http_connections_free(door->connections);
	mcp_endpoint_free(door->mcp);
	documents_deinit(&door->routes.documents);
	free(door);
}
