/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/endpoint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/request/address.h"
#include "core/call/cancel.h"
#include "http/mcp/sessions.h"
#include "http/mcp/streams.h"
#include "http/mcp/tools.h"
#include "json/document.h"
#include "json/number.h"
#include "json/reader.h"
#include "mcp/call_result.h"
#include "mcp/listing.h"
#include "mcp/message.h"
#include "mcp/notification.h"
#include "mcp/param_headers.h"
#include "mcp/response.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/pace.h"

/* Bytes that wait for a reader, beyond which progress is left out. */
#define PROGRESS_QUEUED_BYTES (64u << 10)

static const char session_field[] = "Mcp-Session-Id";

struct mcp_endpoint {
	struct service *service;
	struct mcp_sessions sessions;
	struct mcp_lists lists;
	struct mcp_streams streams;
	struct list requests; /* struct rpc, those that are served */
};

/* One request of JSON-RPC, until its response. */
struct rpc {
	struct address address;
	struct list link;
	struct mcp_endpoint *endpoint;
	struct http_connection *connection; /* NULL: it is gone, or has its response */
	struct buffer body;
	struct mcp_message message; /* points into the body */
	struct mcp_progress progress;
	struct pace pace; /* for reports of progress */
	struct http_caller caller;
	bool is_stream;
	bool is_cancelled;
	char session[HEX_ID_CHARS + 1]; /* the name of its session, legacy; "": none */
	struct buffer id;               /* as JSON, for its cancellation */
};

/* Describe this server to the client of @rpc. */
static struct mcp_server describe_server(const struct rpc *rpc)
{
	return (struct mcp_server){
		.version = TOOLBOXD_VERSION,
		.is_private = rpc->endpoint->service->config.http.needs_token,
	};
}

static const char *find_field(const void *request, const char *name, unsigned int *ret_count)
{
	return http_field(request, name, ret_count);
}

static struct rpc *rpc_of(struct address *address)
{
	return container_of(address, struct rpc, address);
}

/* ── responses ───────────────────────────────────────────────────────────────────────────────── */

static void respond_text(
	struct http_connection *connection, unsigned int status, struct buffer *text)
{
	http_respond(connection, &(struct http_response){.status = status}, text, 0);
}

static void respond_refused(
	struct http_connection *connection, struct text_view id, const struct mcp_error *error)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_error(&out, id, error);
	respond_text(connection, error->status, &out);
}

static void refuse_rpc(struct rpc *rpc, const struct mcp_error *error)
{
	respond_refused(rpc->connection, rpc->message.id, error);
}

/* Respond 202 to a message that has no response of its own. */
static void accept_message(struct rpc *rpc)
{
	cleanup(buffer_deinit) struct buffer nothing = {0};

	respond_text(rpc->connection, 202, &nothing);
}

/* ── the answer to a call ────────────────────────────────────────────────────────────────────── */

/* Forget the connection, which holds a reference. */
static struct http_connection *leave_rpc(struct rpc *rpc)
{
	struct http_connection *connection = take_ptr(rpc->connection);

	if (connection)
		address_unref(&rpc->address);
	return connection;
}

/* Write the response to @rpc from the answer. Returns the status. */
static unsigned int write_response(
	const struct rpc *rpc, const struct answer *answer, struct buffer *out)
{
	const struct mcp_server server = describe_server(rpc);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer scratch = {0};
	struct mcp_error error;
	size_t size;
	const char *text = bus_message_text(&answer->message, &size);

	if (json_tape_read(&tape, text, size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0) {
		mcp_refuse(&error, MCP_INTERNAL_ERROR, 500, "The answer cannot be read");
		mcp_write_error(out, rpc->message.id, &error);
		return error.status;
	}
	if (mcp_write_call_result(
		    out, &rpc->message, &server, &tape, answer->has_content, &scratch, &error) == 0)
		return 200;
	mcp_write_error(out, rpc->message.id, &error);
	return error.status;
}

static void take_result(struct address *address, struct answer *answer)
{
	struct rpc *rpc = rpc_of(address);
	struct http_connection *connection = rpc->connection;
	cleanup(buffer_deinit) struct buffer out = {0};
	unsigned int status;

	if (!connection)
		return;
	status = write_response(rpc, answer, &out);
	leave_rpc(rpc);
	if (!rpc->is_stream) {
		respond_text(connection, status, &out);
		return;
	}
	mcp_stream_send(connection, &out);
	http_stream_end(connection);
}

/* Return whether a report of @value is due now. */
static bool is_progress_due(struct rpc *rpc, double value)
{
	bool is_in_pace = pace_take(&rpc->pace, clock_now_ms());

	if (!is_in_pace && value > 0 && value < 1)
		return false;
	return http_stream_write(rpc->connection, "", 0) < PROGRESS_QUEUED_BYTES;
}

static void take_report(struct address *address, const struct json_tape *progress)
{
	struct rpc *rpc = rpc_of(address);
	uint32_t number = json_find(progress, 0, "progress");
	uint32_t text = json_find(progress, 0, "text");
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	double value = NAN;

	if (!rpc->is_stream || !rpc->connection)
		return;
	if (number == JSON_NONE || json_type_at(progress, number) != JSON_NUMBER ||
		json_number_f64(progress, number, &value) != 0)
		value = NAN;
	if (!is_progress_due(rpc, value))
		return;
	if (text != JSON_NONE && json_type_at(progress, text) == JSON_STRING)
		json_string_decode(progress, text, &decoded);
	if (mcp_write_progress(&out, &rpc->progress, rpc->message.progress_token, value,
		    (struct text_view){decoded.data, decoded.size}))
		mcp_stream_send(rpc->connection, &out);
}

static bool has_rights(const struct address *address)
{
	const struct rpc *rpc = container_of(address, const struct rpc, address);

	return exchange_caller_is_granted(rpc->endpoint->service, &rpc->caller);
}

static void free_rpc(struct address *address)
{
	struct rpc *rpc = rpc_of(address);

	list_remove(&rpc->link);
	mcp_message_deinit(&rpc->message);
	buffer_deinit(&rpc->body);
	buffer_deinit(&rpc->id);
	buffer_deinit(&rpc->caller.texts);
	free(rpc);
}

/* The peer is gone. */
static void give_up_rpc(void *data)
{
	struct rpc *rpc = data;

	address_ref(&rpc->address);
	leave_rpc(rpc);
	buffer_deinit(&rpc->body);
	address_leave(&rpc->address);
	if (rpc->message.era == MCP_MODERN)
		cancel_address(&rpc->endpoint->service->invoker, &rpc->address);
	address_unref(&rpc->address);
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

static void serve_tools_call(
	struct rpc *rpc, const struct http_request *request, const char *toolbox_id)
{
	const struct http_reader *reader = http_connection_request(request->connection);
	const struct mcp_fields fields = {find_field, reader};
	const struct mcp_message *message = &rpc->message;
	struct text_view session = {*rpc->session ? rpc->session : NULL, strlen(rpc->session)};
	const struct catalogue *view = exchange_view(request, &session, &(struct text_view){0});
	const struct mcp_list *list = mcp_lists_find(&rpc->endpoint->lists, view, toolbox_id);
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	struct request_text text = {.topic = "ovos.tools.invoke"};
	const struct tool *tool = NULL;
	struct mcp_error error;
	int r = 0;

	json_string_decode(&message->tape, message->name, &name);
	if (list && buffer_terminate(&name) && strlen(name.data) == name.size)
		tool = mcp_list_find(list, name.data);
	if (tool && message->era == MCP_MODERN)
		r = mcp_check_param_headers(message, &fields, tool->argument_schema, &error);
	if (r < 0)
		mcp_refuse(&error, MCP_INTERNAL_ERROR, 503, "Out of memory.");
	if (r != 0) {
		refuse_rpc(rpc, &error);
		return;
	}
	if (tool) {
		exchange_member(&data, "name", &TEXT_VIEW(tool->name));
		exchange_member(&data, "toolbox_id", &TEXT_VIEW(tool->toolbox->id));
	} else {
		exchange_member(&data, "name", &(struct text_view){name.data, name.size});
		if (toolbox_id)
			exchange_member(&data, "toolbox_id", &TEXT_VIEW(toolbox_id));
	}
	text.message = exchange_close(&data);
	if (message->arguments != JSON_NONE)
		text.args.text =
			json_value_text(&message->tape, message->arguments, &text.args.size);
	buffer_append(&rpc->id, message->id.text, message->id.size);
	buffer_fail_with(&data, &rpc->id);
	r = buffer_status(&data);
	if (r == 0)
		r = exchange_name_caller(request, &session, &rpc->caller, &rpc->address);
	address_ref(&rpc->address);
	http_wait(request->connection, &(struct http_waiter){give_up_rpc, rpc});
	if (r == 0)
		r = exchange_submit(request, &rpc->address, &text);
	if (r != 0) {
		leave_rpc(rpc);
		http_respond_error(request->connection, 503, "Out of memory.");
	} else if (rpc->connection && message->progress_token.text &&
		   http_accepts(reader, "text/event-stream")) {
		rpc->is_stream = true;
		http_stream_begin(request->connection);
	}
}

static void serve_tools_list(
	struct rpc *rpc, const struct http_request *request, const char *toolbox_id)
{
	const struct mcp_server server = describe_server(rpc);
	struct text_view session = {*rpc->session ? rpc->session : NULL, strlen(rpc->session)};
	const struct catalogue *view = exchange_view(request, &session, &(struct text_view){0});
	const struct mcp_list *list = mcp_lists_find(&rpc->endpoint->lists, view, toolbox_id);
	cleanup(buffer_deinit) struct buffer out = {0};
	struct mcp_error error;

	if (!list)
		http_respond_error(request->connection, 503, "Out of memory.");
	else if (mcp_write_tools(&out, &rpc->message, &server, list->texts, list->n_tools,
			 list->serial, &error) != 0)
		refuse_rpc(rpc, &error);
	else
		respond_text(request->connection, 200, &out);
}

static void serve_initialize(struct rpc *rpc, const struct http_request *request)
{
	const struct mcp_server server = describe_server(rpc);
	struct mcp_session *session = mcp_sessions_add(&rpc->endpoint->sessions,
		request->identity->source, request->identity->holder, clock_now_ms());
	cleanup(buffer_deinit) struct buffer out = {0};

	if (!session) {
		http_respond_error(rpc->connection, 503, "Out of memory.");
		return;
	}
	http_connection_add_field(rpc->connection, session_field);
	http_connection_add_field(rpc->connection, ": ");
	http_connection_add_field(rpc->connection, session->id);
	http_connection_add_field(rpc->connection, "\r\n");
	mcp_write_initialize(&out, &rpc->message, &server);
	respond_text(rpc->connection, 200, &out);
}

/* Return a request of the session called @session, with the id @id (absent: any), that was not
 * cancelled. */
static struct rpc *find_rpc(
	const struct mcp_endpoint *endpoint, const char *session, struct text_view id)
{
	list_for_each(link, &endpoint->requests) {
		struct rpc *rpc = container_of(link, struct rpc, link);

		if (rpc->id.size > 0 && !rpc->is_cancelled && strcmp(rpc->session, session) == 0 &&
			(!id.text ||
				mcp_ids_equal((struct text_view){rpc->id.data, rpc->id.size}, id)))
			return rpc;
	}
	return NULL;
}

/* Cancel the requests of the session called @session, with the id @id (absent: all). The end of one
 * call may end others, so that each is looked for anew. */
static void cancel_requests(struct mcp_endpoint *endpoint, const char *session, struct text_view id)
{
	struct rpc *rpc;

	while ((rpc = find_rpc(endpoint, session, id))) {
		rpc->is_cancelled = true;
		cancel_address(&endpoint->service->invoker, &rpc->address);
	}
}

static void serve_listen(struct rpc *rpc, const struct http_request *request)
{
	struct mcp_streams *streams = &rpc->endpoint->streams;
	struct mcp_error error;

	if (streams_have_room(streams->streams, request)) {
		mcp_streams_listen(
			streams, request, &rpc->message.id, rpc->message.wants_tool_changes);
		return;
	}
	mcp_refuse(&error, MCP_INTERNAL_ERROR, 503, "There are too many streams: try again later.");
	refuse_rpc(rpc, &error);
}

static void serve_message(
	struct rpc *rpc, const struct http_request *request, const char *toolbox_id)
{
	const struct mcp_server server = describe_server(rpc);
	cleanup(buffer_deinit) struct buffer out = {0};
	struct mcp_error error;

	if (rpc->message.kind == MCP_NOTIFICATION && rpc->message.method == MCP_CANCELLED &&
		rpc->message.era == MCP_LEGACY) {
		if (rpc->message.request_id.text)
			cancel_requests(rpc->endpoint, rpc->session, rpc->message.request_id);
		accept_message(rpc);
		return;
	}
	if (rpc->message.kind != MCP_REQUEST) {
		accept_message(rpc);
		return;
	}
	switch (rpc->message.method) {
	case MCP_INITIALIZE:
		serve_initialize(rpc, request);
		return;
	case MCP_PING:
		mcp_write_pong(&out, &rpc->message, &server);
		respond_text(rpc->connection, 200, &out);
		return;
	case MCP_DISCOVER:
		mcp_write_discover(&out, &rpc->message, &server);
		respond_text(rpc->connection, 200, &out);
		return;
	case MCP_TOOLS_LIST:
		serve_tools_list(rpc, request, toolbox_id);
		return;
	case MCP_TOOLS_CALL:
		serve_tools_call(rpc, request, toolbox_id);
		return;
	case MCP_LISTEN:
		serve_listen(rpc, request);
		return;
	case MCP_CANCELLED:
	case MCP_UNKNOWN:
		break;
	}
	mcp_refuse(&error, MCP_METHOD_NOT_FOUND, 404, "There is no such method");
	refuse_rpc(rpc, &error);
}

/* ── sessions ────────────────────────────────────────────────────────────────────────────────── */

/* Return the session that @request names, with NULL after a response of JSON-RPC to the request
 * @id. */
static struct mcp_session *find_session(
	struct mcp_endpoint *endpoint, const struct http_request *request, struct text_view id)
{
	unsigned int count;
	const char *name =
		http_field(http_connection_request(request->connection), session_field, &count);
	struct mcp_session *session = count == 1
					      ? mcp_sessions_find(&endpoint->sessions, name,
							request->identity->source, clock_now_ms())
					      : NULL;
	struct mcp_error error;

	if (session)
		return session;
	if (count == 1)
		mcp_refuse(&error, MCP_INVALID_REQUEST, 404,
			"There is no such session: begin another one by initialize");
	else
		mcp_refuse(&error, MCP_INVALID_REQUEST, 400,
			"The header Mcp-Session-Id must be there once: initialize returns it");
	respond_refused(request->connection, id, &error);
	return NULL;
}

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

static void serve_get_stream(struct mcp_endpoint *endpoint, const struct http_request *request)
{
	const struct http_reader *reader = http_connection_request(request->connection);
	struct mcp_session *session;

	if (is_modern(request) || !http_accepts(reader, "text/event-stream")) {
		refuse_method(request);
		return;
	}
	session = find_session(endpoint, request, (struct text_view){0});
	if (session)
		mcp_streams_open(&endpoint->streams, request, session);
}

static void serve_delete(struct mcp_endpoint *endpoint, const struct http_request *request)
{
	cleanup(buffer_deinit) struct buffer nothing = {0};
	struct mcp_session *session;

	if (is_modern(request)) {
		refuse_method(request);
		return;
	}
	session = find_session(endpoint, request, (struct text_view){0});
	if (!session)
		return;
	cancel_requests(endpoint, session->name, (struct text_view){0});
	mcp_streams_end(&endpoint->streams, session);
	mcp_sessions_drop(&endpoint->sessions, session);
	respond_text(request->connection, 204, &nothing);
}

/* ── the endpoint ────────────────────────────────────────────────────────────────────────────── */

static struct rpc *make_rpc(struct mcp_endpoint *endpoint, const struct http_request *request)
{
	static const struct address_operations operations = {
		.answer = take_result,
		.progress = take_report,
		.is_granted = has_rights,
		.free = free_rpc,
	};
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (!rpc)
		return NULL;
	rpc->address =
		(struct address){.operations = &operations, .references = 1, .door = CALL_DOOR_MCP};
	rpc->endpoint = endpoint;
	rpc->connection = request->connection;
	list_init(&rpc->link);
	list_append(&endpoint->requests, &rpc->link);
	return rpc;
}

/* Return whether @rpc has the session that it needs; else the response is sent. */
static bool check_session(struct rpc *rpc, const struct http_request *request)
{
	const struct mcp_session *session;

	if (rpc->message.era == MCP_MODERN || rpc->message.method == MCP_INITIALIZE)
		return true;
	session = find_session(rpc->endpoint, request, rpc->message.id);
	if (session)
		memcpy(rpc->session, session->name, sizeof(rpc->session));
	return session != NULL;
}

static void serve_post(struct rpc *rpc, const struct http_request *request, const char *toolbox_id)
{
	const struct http_reader *reader = http_connection_request(request->connection);
	const struct mcp_fields fields = {find_field, reader};
	struct mcp_error error;
	int r;

	http_connection_take_body(request->connection, &rpc->body);
	r = mcp_message_read(&rpc->message, rpc->body.data ? rpc->body.data : "", rpc->body.size,
		MCP_DEPTH_MAX, &error);
	if (r == 0)
		r = mcp_message_check(&rpc->message, &fields, &error);
	if (r < 0)
		http_respond_error(request->connection, 503, "Out of memory.");
	else if (r > 0)
		refuse_rpc(rpc, &error);
	else if (check_session(rpc, request))
		serve_message(rpc, request, toolbox_id);
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
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) {
		serve_get_stream(endpoint, request);
		return;
	}
	if (strcmp(method, "DELETE") == 0) {
		serve_delete(endpoint, request);
		return;
	}
	rpc = make_rpc(endpoint, request);
	if (!rpc) {
		http_respond_error(request->connection, 503, "Out of memory.");
		return;
	}
	serve_post(rpc, request, toolbox_id.data);
	address_unref(&rpc->address);
}

void mcp_endpoint_report_changed(struct mcp_endpoint *endpoint)
{
	mcp_streams_report_changed(&endpoint->streams);
}

int mcp_endpoint_new(
	struct service *service, struct streams *streams, struct mcp_endpoint **ret_endpoint)
{
	struct mcp_endpoint *endpoint = calloc(1, sizeof(*endpoint));

	if (!endpoint)
		return -ENOMEM;
	endpoint->service = service;
	mcp_sessions_init(&endpoint->sessions);
	mcp_lists_init(&endpoint->lists);
	list_init(&endpoint->requests);
	mcp_streams_init(&endpoint->streams, streams, &endpoint->sessions);
	*ret_endpoint = endpoint;
	return 0;
}

void mcp_endpoint_free(struct mcp_endpoint *endpoint)
{
	struct list *link;

	if (!endpoint)
		return;
	/* Calls that go on without their connections have references to theirs. */
	while ((link = list_take_first(&endpoint->requests)))
		list_init(link);
	mcp_lists_deinit(&endpoint->lists);
	mcp_sessions_deinit(&endpoint->sessions);
	free(endpoint);
}
