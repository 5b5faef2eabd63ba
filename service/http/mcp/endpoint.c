/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "http/mcp/rpc.h"
#include "json/document.h"
#include "json/reader.h"
#include "mcp/server/methods.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/paths.h"

/* Return whether the header of @request names the modern revision, which has neither GET nor
 * DELETE. */
static bool is_modern(const struct http_request *request)
{
	const char *version = http_field(
		http_connection_request(request->connection), "MCP-Protocol-Version", NULL);

	return version && strcmp(version, MCP_VERSION_MODERN) == 0;
}

static void refuse_method(const struct http_request *request)
{
	http_connection_add_field(request->connection, "Allow: POST\r\n");
	http_respond_error(request->connection, 405, "This revision of MCP has POST alone.");
}

/* Return whether @rpc, which has no message, is of a session; else a refusal is sent. */
static bool has_session(struct rpc *rpc)
{
	struct mcp_error error;
	int r = rpc_door.join(&rpc->exchange, &error);

	if (r > 0)
		mcp_exchange_refuse(&rpc->exchange, &error);
	if (r < 0)
		mcp_exchange_refuse_memory(&rpc->exchange);
	return r == 0;
}

/* Open the stream by which a client of the legacy era is notified. */
static void open_get_stream(struct rpc *rpc)
{
	if (!http_accepts(http_connection_request(rpc->connection), "text/event-stream")) {
		refuse_method(rpc->http);
		return;
	}
	if (!has_session(rpc))
		return;
	mcp_sessions_open_stream(rpc->joined);
	if (rpc_open_stream(rpc))
		mcp_exchange_listen(&rpc->exchange);
}

/* End a session, with its calls and its streams. */
static void serve_delete(struct rpc *rpc)
{
	struct mcp_endpoint *endpoint = rpc->endpoint;
	cleanup(buffer_deinit) struct buffer nothing = {0};
	struct mcp_error error;

	if (!has_session(rpc))
		return;
	if (mcp_sessions_end(&endpoint->sessions, rpc->joined, rpc_now()) < 0) {
		mcp_refuse(&error, MCP_INTERNAL_ERROR, 503,
			"This session cannot be ended now: too many ended ones are remembered.");
		mcp_exchange_refuse(&rpc->exchange, &error);
		return;
	}
	mcp_sync_ask(&endpoint->sync);
	mcp_engine_cancel(&endpoint->engine, rpc->session, (struct text_view){0});
	rpc_door.respond(&rpc->exchange, 204, &nothing);
}

static const char *find_field(const void *request, const char *name, unsigned int *ret_count)
{
	return http_field(request, name, ret_count);
}

/* The client pays for the time of a long message, as on the bus, until the service is asked: the
 * service charges its own work. The client pays last, so that no call is refused for its own time.
 */
static void serve_post(struct rpc *rpc)
{
	const struct http_reader *reader = http_connection_request(rpc->connection);
	const struct mcp_fields fields = {find_field, reader};
	bool is_long = reader->body.size >= REQUEST_TEXT_LONG_BYTES;
	/* The response may be sent, and the connection go on or end, before the service returns. */
	cleanup(account_cleanup) struct account *account =
		account_ref(http_connection_account(rpc->connection));
	cleanup(buffer_deinit) struct buffer body = {0};

	if (is_long && !exchange_admit_long(rpc->http))
		return;
	rpc->reading_ns = is_long ? -(int64_t)clock_thread_ns() : 0;
	http_connection_take_body(rpc->connection, &body);
	rpc->endpoint->engine.server.is_private = rpc->endpoint->service->config.http.needs_token;
	rpc->exchange.message.tape.tokens_max =
		config_values_max(&rpc->endpoint->service->config.limits);
	mcp_take(&rpc->exchange, buffer_text(&body), body.size, &fields);
	rpc_end_reading(rpc);
	if (is_long)
		exchange_charge(rpc->http, account, (uint64_t)rpc->reading_ns);
}

/* Decode the segment of the path into @out. Return whether its toolbox is there, if there is a
 * segment; else the response is sent. */
static bool find_segment_toolbox(const struct http_request *request, struct buffer *out)
{
	const struct catalogue *view =
		exchange_view(request, &(struct text_view){0}, &(struct text_view){0});

	if (!request->segment.text)
		return true;
	if (target_decode(&request->segment, false, out) && buffer_terminate(out) &&
		catalogue_find_toolbox(view, out->data, out->size) >= 0)
		return true;
	http_respond_error(request->connection, 404, "There is no such toolbox here.");
	return false;
}

void mcp_endpoint_serve(struct mcp_endpoint *endpoint, const struct http_request *request)
{
	const char *method = http_method(http_connection_request(request->connection));
	cleanup(buffer_deinit) struct buffer toolbox_id = {0};
	struct rpc *rpc;

	if (!find_segment_toolbox(request, &toolbox_id))
		return;
	rpc = rpc_new(endpoint, request);
	if (!rpc) {
		http_respond_error(request->connection, 503, "Out of memory.");
		return;
	}
	rpc->toolbox_id = toolbox_id.data;
	if (strcmp(method, "POST") == 0)
		serve_post(rpc);
	else if (is_modern(request))
		refuse_method(request);
	else if (strcmp(method, "DELETE") == 0)
		serve_delete(rpc);
	else
		open_get_stream(rpc);
	rpc->http = NULL;
	rpc->toolbox_id = NULL;
	rpc->joined = NULL;
	address_unref(&rpc->address);
}

void mcp_endpoint_report_changed(struct mcp_endpoint *endpoint)
{
	mcp_engine_changed(&endpoint->engine);
}

void mcp_endpoint_report_job(struct mcp_endpoint *endpoint, const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};

	if (!mcp_engine_first(&endpoint->engine, MCP_LISTENING))
		return;
	if (json_tape_read(&data, text, size, JSON_DOCUMENT_DEPTH_MAX, NULL) == 0)
		mcp_engine_report_job(&endpoint->engine, &data);
}

void mcp_endpoint_follow_configuration(struct mcp_endpoint *endpoint)
{
	enum config_mcp_names names = endpoint->service->config.http.mcp_names;

	if (names != endpoint->names)
		mcp_engine_changed(&endpoint->engine);
	endpoint->names = names;
}

int mcp_endpoint_new(
	struct service *service, struct streams *streams, struct mcp_endpoint **ret_endpoint)
{
	struct mcp_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	cleanup_free char *state = NULL;
	int r = endpoint ? paths_state(&state) : -ENOMEM;

	if (r < 0) {
		free(endpoint);
		return r;
	}
	endpoint->service = service;
	endpoint->streams = streams;
	endpoint->names = service->config.http.mcp_names;
	mcp_engine_init(&endpoint->engine, &rpc_door, TOOLBOXD_VERSION, 0);
	mcp_lists_init(&endpoint->lists);
	endpoint->engine.server.has_tasks = state != NULL;
	r = mcp_sessions_init(&endpoint->sessions, state);
	endpoint->sync =
		(struct mcp_sync){.loop = service->loop, .fd = endpoint->sessions.ended.fd};
	if (r == 0)
		*ret_endpoint = endpoint;
	else
		mcp_endpoint_free(endpoint);
	return r;
}

void mcp_endpoint_free(struct mcp_endpoint *endpoint)
{
	struct list *link;

	if (!endpoint)
		return;
	/* Calls that go on without their connections have references to theirs. */
	while ((link = list_take_first(&endpoint->engine.requests)))
		list_init(link);
	mcp_lists_deinit(&endpoint->lists);
	mcp_sync_deinit(&endpoint->sync);
	mcp_sessions_deinit(&endpoint->sessions);
	free(endpoint);
}
