/* SPDX-License-Identifier: Apache-2.0 */
#include "http/routes.h"

#include <string.h>

#include "catalogue/definition.h"
#include "core/listing/listing.h"
#include "http/events.h"
#include "http/mcp/endpoint.h"
#include "http/openapi.h"
#include "http/utcp.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* ── the tools ───────────────────────────────────────────────────────────────────────────────── */

/* The key of a listing: the format, and the toolbox, if any. */
struct listing_key {
	enum definition_format format;
	const struct buffer *toolbox_id;
};

static void write_listing(
	const struct catalogue *view, const char *key, void *data, struct buffer *out)
{
	const struct listing_key *listing = data;
	const char *id = listing->toolbox_id->data;

	(void)key;
	if (listing->format == DEFINITION_MARKDOWN) {
		listing_write_markdown(view, id, listing->toolbox_id->size, out);
		return;
	}
	buffer_append_string(out, "{\"tools\":");
	listing_write(view, id, listing->toolbox_id->size, listing->format, out);
	buffer_append_char(out, '}');
}

/* Decode the value of @name in the query of @request into @out, which stays empty without memory
 * being taken when there is none. Return false after the response 400. */
static bool decode_query(const struct http_request *request, const char *name, struct buffer *out)
{
	struct text_view value;

	target_find(&request->target, name, &value);
	if (!value.text)
		return true;
	buffer_reserve(out, value.size + 1);
	if (target_decode(&value, true, out))
		return true;
	http_respond_error(request->connection, 400,
		"ValueError: Bad request: '%s' in the query must be UTF-8, with every %% followed "
		"by two hexadecimal digits",
		name);
	return false;
}

/* Respond to a format that there is not as on the bus. */
static void refuse_format(const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (exchange_query(request, &data, "format", "format"))
		exchange_serve(request, "ovos.tools.list", &data);
}

/* Append the member @key of the query: a number, or else a text, which is refused. Return false
 * after the response. */
static bool add_number(const struct http_request *request, struct buffer *data, const char *key)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct text_view value;

	target_find(&request->target, key, &value);
	if (value.size == 0 || json_tape_read(&tape, value.text, value.size, 1, NULL) != 0 ||
		json_type_at(&tape, 0) != JSON_NUMBER)
		return exchange_query(request, data, key, key);
	exchange_value(data, key, &value);
	return true;
}

static bool has_flag(const struct http_request *request, const char *name)
{
	struct text_view value;

	target_find(&request->target, name, &value);
	return value.size == 1 && *value.text == '1';
}

/* Append what a list and a search have of the query. Definitions are compact unless the query has a
 * format. Return false after the response. */
static bool add_listing(const struct http_request *request, struct buffer *data)
{
	struct text_view format;

	target_find(&request->target, "format", &format);
	if (!format.text)
		exchange_member(data, "format", &TEXT_VIEW("compact"));
	return exchange_query(request, data, "format", "format") &&
	       exchange_query(request, data, "toolbox_id", "toolbox_id") &&
	       exchange_query(request, data, "profile", "profile");
}

/* Respond to a list with the toolboxes, which is not kept. */
static void serve_toolboxes(const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	exchange_value(&data, "toolboxes", &TEXT_VIEW("true"));
	if (add_listing(request, &data))
		exchange_serve(request, "ovos.tools.list", &data);
}

/* Respond to a search by `q`. */
static void serve_search(const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (exchange_query(request, &data, "query", "q") && add_listing(request, &data) &&
		add_number(request, &data, "limit"))
		exchange_serve(request, "ovos.tools.search", &data);
}

static void serve_list(struct routes *routes, const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer format = {0};
	cleanup(buffer_deinit) struct buffer profile = {0};
	cleanup(buffer_deinit) struct buffer toolbox_id = {0};
	cleanup(buffer_deinit) struct buffer key = {0};
	struct listing_key listing = {DEFINITION_COMPACT, &toolbox_id};
	struct text_view session = exchange_session(request);
	struct text_view query;
	int found = DEFINITION_COMPACT;

	target_find(&request->target, "q", &query);
	if (query.text) {
		serve_search(request);
		return;
	}
	if (has_flag(request, "toolboxes")) {
		serve_toolboxes(request);
		return;
	}
	if (!decode_query(request, "format", &format) ||
		!decode_query(request, "profile", &profile) ||
		!decode_query(request, "toolbox_id", &toolbox_id))
		return;
	if (format.data)
		found = definition_format_from_name(format.data, format.size);
	if (found < 0) {
		refuse_format(request);
		return;
	}
	listing.format = (enum definition_format)found;
	buffer_printf(&key, "tools %d ", found);
	buffer_append_buffer(&key, &toolbox_id);
	if (toolbox_id.data)
		buffer_append_string(&key, " ");
	if (!buffer_terminate(&key)) {
		http_respond_error(request->connection, 503, "Out of memory.");
		return;
	}
	documents_respond(&routes->documents, request,
		exchange_view(request, &session, &(struct text_view){profile.data, profile.size}),
		key.data, found == DEFINITION_MARKDOWN ? "text/markdown; charset=utf-8" : NULL,
		write_listing, &listing);
}

/* A document has whole URLs, below @base. */
struct whole {
	const char *base;
	bool needs_token;
};

static void write_openapi(
	const struct catalogue *view, const char *key, void *data, struct buffer *out)
{
	const struct whole *whole = data;

	(void)key;
	openapi_write(view, whole->base, whole->needs_token, out);
}

static void write_utcp(
	const struct catalogue *view, const char *key, void *data, struct buffer *out)
{
	const struct whole *whole = data;

	(void)key;
	utcp_write(view, whole->base, whole->needs_token, out);
}

/* Respond with the document @name, which @write makes. */
static void serve_whole(struct routes *routes, const struct http_request *request, const char *name,
	document_function write)
{
	struct text_view session = exchange_session(request);
	struct whole whole = {.needs_token = request->service->config.http.needs_token};
	cleanup(buffer_deinit) struct buffer base = {0};
	cleanup(buffer_deinit) struct buffer key = {0};

	if (!exchange_write_base(request, &base))
		return;
	buffer_printf(&key, "%s %d ", name, whole.needs_token);
	buffer_append_buffer(&key, &base);
	if (!buffer_terminate(&base) || !buffer_terminate(&key)) {
		http_respond_error(request->connection, 503, "Out of memory.");
		return;
	}
	whole.base = base.data;
	documents_respond(&routes->documents, request,
		exchange_view(request, &session, &(struct text_view){0}), key.data, NULL, write,
		&whole);
}

static void serve_openapi(struct routes *routes, const struct http_request *request)
{
	serve_whole(routes, request, "openapi", write_openapi);
}

static void serve_utcp(struct routes *routes, const struct http_request *request)
{
	serve_whole(routes, request, "utcp", write_utcp);
}

static void serve_get(struct routes *routes, const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	(void)routes;
	if (exchange_segment(request, &data, "name") &&
		exchange_query(request, &data, "toolbox_id", "toolbox_id") &&
		exchange_query(request, &data, "profile", "profile")) {
		if (has_flag(request, "deadline"))
			exchange_value(&data, "deadline", &TEXT_VIEW("true"));
		exchange_serve(request, "ovos.tools.get", &data);
	}
}

static void serve_call(struct routes *routes, const struct http_request *request)
{
	const struct http_reader *reader = http_connection_request(request->connection);
	bool is_dry = has_flag(request, "dry_run");
	bool is_background = !is_dry && has_flag(request, "background");
	bool wants_events = !is_dry && !is_background && http_accepts(reader, "text/event-stream");
	cleanup(buffer_deinit) struct buffer data = {0};

	(void)routes;
	if (!exchange_segment(request, &data, "name") ||
		!exchange_query(request, &data, "toolbox_id", "toolbox_id") ||
		!exchange_query(request, &data, "profile", "profile") ||
		!exchange_query(request, &data, "call_id", "call_id") ||
		!add_number(request, &data, "timeout_ms"))
		return;
	if (is_background)
		exchange_value(&data, "background", &TEXT_VIEW("true"));
	exchange_call(
		request, is_dry ? "ovos.tools.validate" : "ovos.tools.invoke", &data, wants_events);
}

static void serve_batch(struct routes *routes, const struct http_request *request)
{
	(void)routes;
	exchange_body(request, "ovos.tools.invoke");
}

/* ── operating ───────────────────────────────────────────────────────────────────────────────── */

static void serve_health(struct routes *routes, const struct http_request *request)
{
	const struct service *service = routes->service;
	bool is_ready = service->reload.is_ready && !service->calls.is_stopping;
	cleanup(buffer_deinit) struct buffer body = {0};

	if (!is_ready) {
		buffer_printf(&body, "{\"status\":\"%s\"}",
			service->calls.is_stopping ? "stopping" : "starting");
		http_respond(request->connection, &(struct http_response){.status = 503}, &body, 0);
		return;
	}
	buffer_append_string(&body, "{\"status\":\"ok\"}");
	http_respond(request->connection, &(struct http_response){.status = 200}, &body, 0);
}

static void serve_decision(struct routes *routes, const struct http_request *request)
{
	static const char *const keys[] = {"decision", "reason", NULL};
	cleanup(buffer_deinit) struct buffer data = {0};

	(void)routes;
	if (exchange_segment(request, &data, "id") && exchange_body_members(request, &data, keys))
		exchange_serve(request, "ovos.tools.approval.respond", &data);
}

/* Metrics are made once in this time: ten thousand series take several milliseconds. */
#define METRICS_MS 1000

/* Return whether the caller may use every tool. */
static bool sees_all(const struct http_request *request)
{
	struct text_view session = exchange_session(request);

	return offer_shows_all(
		&request->service->offer, exchange_view(request, &session, &(struct text_view){0}));
}

static void serve_metrics(struct routes *routes, const struct http_request *request)
{
	enum exposition_format format = http_accepts(http_connection_request(request->connection),
						"application/openmetrics-text")
						? EXPOSITION_OPENMETRICS
						: EXPOSITION_TEXT;
	const struct http_response response = {.status = 200, .type = exposition_type(format)};
	struct exposed *exposed = &routes->metrics[format];
	struct buffer text = {0};
	uint64_t now_ms = clock_now_ms();

	/* They name every tool that was called. */
	if (!request->identity->is_admin && !sees_all(request)) {
		http_respond_error(request->connection, 403,
			"Metrics are for callers that may use every tool.");
		return;
	}
	if (!exposed->bytes || now_ms - exposed->made_ms >= METRICS_MS) {
		http_bytes_unref(take_ptr(exposed->bytes));
		exposition_write(routes->service, format, &text);
		exposed->bytes = http_bytes_new(&text);
		exposed->made_ms = now_ms;
	}
	if (exposed->bytes)
		http_respond_bytes(request->connection, &response, exposed->bytes);
	else
		http_respond_error(request->connection, 503, "Out of memory.");
}

static void serve_events(struct routes *routes, const struct http_request *request)
{
	event_streams_open(routes->events, request);
}

/* ── MCP ─────────────────────────────────────────────────────────────────────────────────────── */

static void serve_mcp(struct routes *routes, const struct http_request *request)
{
	mcp_endpoint_serve(routes->mcp, request);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static const struct route routes_table[] = {
	{"GET", "/health", ROUTE_OPEN, .serve = serve_health},
	{"DELETE", "/mcp", ROUTE_CALLER, .serve = serve_mcp},
	{"GET", "/mcp", ROUTE_CALLER, .serve = serve_mcp},
	{"POST", "/mcp", ROUTE_CALLER, .serve = serve_mcp},
	{"DELETE", "/mcp/{}", ROUTE_CALLER, .serve = serve_mcp},
	{"GET", "/mcp/{}", ROUTE_CALLER, .serve = serve_mcp},
	{"POST", "/mcp/{}", ROUTE_CALLER, .serve = serve_mcp},
	{"GET", "/v1/approvals", ROUTE_ADMIN, .topic = "ovos.tools.approval.list",
		.numbers = {"after"}},
	{"POST", "/v1/approvals/{}", ROUTE_ADMIN, .serve = serve_decision},
	{"GET", "/v1/calls", ROUTE_ADMIN, .topic = "ovos.tools.calls",
		.texts = {"state", "name", "toolbox_id", "source", "profile"},
		.numbers = {"since_s", "limit"}},
	{"POST", "/v1/calls", ROUTE_CALLER, .serve = serve_batch},
	{"DELETE", "/v1/calls/{}", ROUTE_ADMIN, .topic = "ovos.tools.cancel", .segment = "id"},
	{"GET", "/metrics", ROUTE_METRICS, .serve = serve_metrics},
	{"GET", "/openapi.json", ROUTE_CALLER, .serve = serve_openapi},
	{"GET", "/tools/manual", ROUTE_CALLER, .serve = serve_utcp},
	{"POST", "/tools/{}", ROUTE_CALLER, .serve = serve_call},
	{"GET", "/utcp", ROUTE_CALLER, .serve = serve_utcp},
	{"GET", "/v1/events", ROUTE_CALLER, .serve = serve_events},
	{"GET", "/v1/jobs", ROUTE_CALLER, .topic = "ovos.tools.job.list"},
	{"DELETE", "/v1/jobs/{}", ROUTE_CALLER, .topic = "ovos.tools.job.cancel",
		.segment = "job_id"},
	{"GET", "/v1/jobs/{}", ROUTE_CALLER, .topic = "ovos.tools.job.get", .segment = "job_id",
		.numbers = {"wait_ms"}},
	{"GET", "/v1/match", ROUTE_CALLER, .topic = "ovos.tools.match",
		.texts = {"utterance", "lang", "profile"}},
	{"POST", "/v1/reload", ROUTE_ADMIN, .topic = "ovos.tools.reload"},
	{"GET", "/v1/status", ROUTE_ADMIN, .topic = "ovos.tools.status", .texts = {"toolbox_id"}},
	{"GET", "/v1/tools", ROUTE_CALLER, .serve = serve_list},
	{"GET", "/v1/tools/{}", ROUTE_CALLER, .serve = serve_get},
	{"POST", "/v1/tools/{}", ROUTE_CALLER, .serve = serve_call},
};

#define N_ROUTES ARRAY_SIZE(routes_table)

/* Return whether @route serves @method: HEAD is GET without the body (RFC 9110 §9.3.2). */
static bool serves(const struct route *route, const char *method)
{
	return strcmp(route->method, method) == 0 ||
	       (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

/* Add the line Allow (RFC 9110 §10.2.1) with the methods of @path. */
static void add_allow(struct http_connection *connection, const char *path)
{
	http_connection_add_field(connection, "Allow: OPTIONS");
	for (size_t i = 0; i < N_ROUTES; i++) {
		if (strcmp(routes_table[i].path, path) != 0)
			continue;
		http_connection_add_field(connection, ", ");
		http_connection_add_field(connection, routes_table[i].method);
		if (strcmp(routes_table[i].method, "GET") == 0)
			http_connection_add_field(connection, ", HEAD");
	}
	http_connection_add_field(connection, "\r\n");
}

void routes_serve(
	struct routes *routes, const struct route *route, const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	bool is_good;

	if (route->serve) {
		route->serve(routes, request);
		return;
	}
	is_good = !route->segment || exchange_segment(request, &data, route->segment);
	for (const char *const *key = route->texts; is_good && *key; key++)
		is_good = exchange_query(request, &data, *key, *key);
	for (const char *const *key = route->numbers; is_good && *key; key++)
		is_good = add_number(request, &data, *key);
	if (is_good)
		exchange_serve(request, route->topic, &data);
}

void routes_init(struct routes *routes, struct service *service, struct mcp_endpoint *mcp,
	struct event_streams *events)
{
	*routes = (struct routes){.service = service, .mcp = mcp, .events = events};
	documents_init(&routes->documents);
}

void routes_deinit(struct routes *routes)
{
	documents_deinit(&routes->documents);
	for (int format = 0; format < EXPOSITION_FORMATS; format++)
		http_bytes_unref(routes->metrics[format].bytes);
}

const struct route *routes_find(const char *method, struct http_request *request)
{
	struct http_connection *connection = request->connection;
	cleanup(buffer_deinit) struct buffer nothing = {0};
	const char *path = NULL;

	for (size_t i = 0; i < N_ROUTES; i++) {
		if (!target_matches(&request->target, routes_table[i].path, &request->segment))
			continue;
		path = routes_table[i].path;
		if (serves(&routes_table[i], method))
			return &routes_table[i];
	}
	if (!path) {
		http_respond_error(connection, 404, "There is no %.*s here.",
			(int)request->target.path.size, request->target.path.text);
		return NULL;
	}
	add_allow(connection, path);
	if (strcmp(method, "OPTIONS") == 0)
		http_respond(connection, &(struct http_response){.status = 204}, &nothing, 0);
	else
		http_respond_error(connection, 405, "%s is not for this path.", method);
	return NULL;
}
