/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/call/cancel.h"
#include "core/request/trace.h"
#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Bytes that wait for a reader, beyond which progress is left out. */
#define PROGRESS_QUEUED_BYTES (64u << 10)

/* Unread bytes of a listener, from which on a further notification would add nothing. */
#define CHANGES_QUEUED_BYTES 4096

#define SESSION_FIELD "Mcp-Session-Id"

static struct rpc *rpc_of(struct mcp_exchange *exchange)
{
	return container_of(exchange, struct rpc, exchange);
}

static struct rpc *rpc_at(struct address *address)
{
	return container_of(address, struct rpc, address);
}

/* ── sessions ────────────────────────────────────────────────────────────────────────────────── */

void rpc_end_reading(struct rpc *rpc)
{
	if (rpc->reading_ns < 0)
		rpc->reading_ns += (int64_t)clock_thread_ns();
}

struct mcp_time rpc_now(void)
{
	return (struct mcp_time){.ms = clock_now_ms(), .s = (uint64_t)time(NULL)};
}

/* Begin a session, whose id the response has. 0 or a negative errno. */
static int begin_mcp_session(struct rpc *rpc)
{
	struct mcp_session *session;
	int r = mcp_sessions_add(
		&rpc->endpoint->sessions, rpc->http->identity, rpc_now(), &session);

	if (r < 0)
		return r;
	http_connection_add_field(rpc->connection, SESSION_FIELD ": ");
	http_connection_add_field(rpc->connection, session->id.text);
	http_connection_add_field(rpc->connection, "\r\n");
	return 0;
}

/* Find the session that @rpc names. Return 0; MCP_E_REFUSED with @ret_error filled; or -ENOMEM. */
static int find_session(struct rpc *rpc, struct mcp_error *ret_error)
{
	unsigned int count;
	const char *id =
		http_field(http_connection_request(rpc->connection), SESSION_FIELD, &count);
	int r;

	if (count != 1)
		return mcp_refuse(ret_error, MCP_INVALID_REQUEST, 400,
			"The header Mcp-Session-Id must be there once: initialize returns it");
	r = mcp_sessions_find(
		&rpc->endpoint->sessions, id, rpc->http->identity, rpc_now(), &rpc->joined);
	if (r == -ENOENT)
		return mcp_refuse(ret_error, MCP_INVALID_REQUEST, 404,
			"There is no such session: begin another one by initialize");
	if (r < 0)
		return r;
	memcpy(rpc->session, rpc->joined->id.name, sizeof(rpc->session));
	rpc->exchange.session = rpc->session;
	return 0;
}

static int join_session(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	struct rpc *rpc = rpc_of(exchange);

	if (exchange->message.era == MCP_MODERN)
		return 0;
	return exchange->message.method == MCP_INITIALIZE ? begin_mcp_session(rpc)
							  : find_session(rpc, ret_error);
}

/* ── what the client gets ────────────────────────────────────────────────────────────────────── */

static void send_rpc_event(struct rpc *rpc, const struct buffer *message)
{
	if (buffer_status(message) == 0)
		exchange_send_event(rpc->connection, "message", message->data, message->size);
}

/* Forget the connection, with its reference. */
static struct http_connection *leave_connection(struct rpc *rpc)
{
	struct http_connection *connection = take_ptr(rpc->connection);

	if (rpc->is_waiting)
		address_unref(&rpc->address);
	rpc->is_waiting = false;
	return connection;
}

static void respond_to(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	struct rpc *rpc = rpc_of(exchange);
	cleanup(buffer_deinit) struct buffer nothing = {0};
	struct http_connection *connection;

	if (!rpc->connection)
		return;
	if (rpc->is_stream || rpc->stream.streams)
		send_rpc_event(rpc, text);
	/* A listener's stream is ended by http/streams. */
	if (rpc->stream.streams)
		return;
	address_ref(&rpc->address);
	connection = leave_connection(rpc);
	if (rpc->is_stream)
		http_stream_end(connection);
	else
		http_respond(connection, &(struct http_response){.status = status},
			text ? text : &nothing, 0);
	address_unref(&rpc->address);
}

static void notify_client(struct mcp_exchange *exchange, struct buffer *message)
{
	struct rpc *rpc = rpc_of(exchange);

	if (rpc->connection)
		send_rpc_event(rpc, message);
}

static bool takes_report(struct mcp_exchange *exchange, double value)
{
	struct rpc *rpc = rpc_of(exchange);

	if (exchange->stage == MCP_LISTENING)
		return stream_queued(&rpc->stream) < CHANGES_QUEUED_BYTES;
	if (!rpc->is_stream || !rpc->connection)
		return false;
	if (!pace_take(&rpc->pace, clock_now_ms()) && value > 0 && value < 1)
		return false;
	return http_stream_queued(rpc->connection) < PROGRESS_QUEUED_BYTES;
}

/* ── streams ─────────────────────────────────────────────────────────────────────────────────── */

static struct rpc *rpc_with(struct stream *stream)
{
	return container_of(stream, struct rpc, stream);
}

static void free_stream(struct stream *stream)
{
	struct rpc *rpc = rpc_with(stream);

	rpc->connection = NULL;
	list_remove(&rpc->exchange.link);
	if (rpc->exchange.session)
		mcp_sessions_end_stream(&rpc->endpoint->sessions, rpc->session, clock_now_ms());
	address_unref(&rpc->address);
}

static void finish_listener(struct stream *stream)
{
	mcp_exchange_finish(&rpc_with(stream)->exchange);
}

bool rpc_open_stream(struct rpc *rpc)
{
	address_ref(&rpc->address);
	rpc->stream.free = free_stream;
	rpc->stream.finish = finish_listener;
	return streams_open(rpc->endpoint->streams, &rpc->stream, rpc->http);
}

static int listen_for_changes(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	struct rpc *rpc = rpc_of(exchange);

	if (!streams_have_room(rpc->endpoint->streams, rpc->http))
		return mcp_refuse(ret_error, MCP_INTERNAL_ERROR, 503,
			"There are too many streams: try again later.");
	rpc_open_stream(rpc);
	return 0;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

static struct text_view session_of(const struct rpc *rpc)
{
	return (struct text_view){rpc->exchange.session, strlen(rpc->session)};
}

static const struct mcp_tools *list_tools(struct mcp_exchange *exchange)
{
	struct rpc *rpc = rpc_of(exchange);
	struct text_view session = session_of(rpc);

	return mcp_lists_find(&rpc->endpoint->lists,
		exchange_view(rpc->http, &session, &(struct text_view){0}),
		&rpc->endpoint->service->config.http, rpc->toolbox_id);
}

/* Write the data of the call by @rpc of @tool, or of the name that it has. */
static struct text_view write_data(
	const struct rpc *rpc, const struct mcp_listed_tool *tool, struct buffer *data)
{
	const struct mcp_message *message = &rpc->exchange.message;
	cleanup(buffer_deinit) struct buffer name = {0};

	if (tool) {
		exchange_member(data, "name", &TEXT_VIEW(tool->name));
		exchange_member(data, "toolbox_id", &TEXT_VIEW(tool->toolbox_id));
	} else {
		json_string_decode(&message->tape, message->name, &name);
		exchange_member(
			data, "name", &(struct text_view){buffer_terminate(&name), name.size});
		buffer_fail_with(data, &name);
		if (rpc->toolbox_id)
			exchange_member(data, "toolbox_id", &TEXT_VIEW(rpc->toolbox_id));
	}
	if (rpc->exchange.is_task)
		exchange_value(data, "background", &TEXT_VIEW("true"));
	return exchange_close(data);
}

/* The peer is gone. */
static void give_up_rpc(void *data)
{
	struct rpc *rpc = data;

	address_ref(&rpc->address);
	leave_connection(rpc);
	address_leave(&rpc->address);
	if (rpc->exchange.message.era == MCP_MODERN)
		cancel_address(&rpc->endpoint->service->invoker, &rpc->address);
	address_unref(&rpc->address);
}

/* Name the caller of @rpc in its address. Return 0 or -ENOMEM. */
static int name_rpc(struct rpc *rpc)
{
	struct text_view session = session_of(rpc);
	const struct mcp_message *message = &rpc->exchange.message;
	uint32_t meta = json_find_typed(&message->tape, message->params, "_meta", JSON_OBJECT);

	/* A listener asks about each of its tasks. */
	if (rpc->address.source.text)
		return 0;
	/* A trace in the message is of the call; the headers may be of a proxy. */
	if (meta != JSON_NONE)
		trace_write_members(&message->tape, meta, &rpc->caller.trace);
	return exchange_name_caller(rpc->http, &session, &rpc->caller, &rpc->address);
}

/* Submit @text as the request of @rpc, whose response is its answer. */
static int submit_rpc(struct rpc *rpc, const struct request_text *text)
{
	const struct http_request *http = rpc->http;
	int r = name_rpc(rpc);

	if (r < 0)
		return r;
	address_ref(&rpc->address);
	rpc->is_waiting = true;
	http_wait(http->connection, &(struct http_waiter){give_up_rpc, rpc});
	rpc_end_reading(rpc);
	return exchange_submit(http, &rpc->address, text);
}

static int search_service(struct mcp_exchange *exchange, uint32_t query)
{
	struct rpc *rpc = rpc_of(exchange);
	struct text_view json = json_value_view(&exchange->message.tape, query);
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer limit = {0};
	struct request_text text = {.topic = "ovos.tools.search"};

	exchange->search.names =
		rpc->toolbox_id ? MCP_NAMES_OWN
		: rpc->endpoint->service->config.http.mcp_names == CONFIG_MCP_NAMES_BARE
			? MCP_NAMES_GIVEN
			: MCP_NAMES_WHOLE;
	buffer_printf(&limit, "%zu", exchange->search.limit);
	exchange_member(&data, "format", &TEXT_VIEW("mcp"));
	exchange_value(&data, "query", &json);
	exchange_value(&data, "limit", &(struct text_view){limit.data, limit.size});
	if (rpc->toolbox_id)
		exchange_member(&data, "toolbox_id", &TEXT_VIEW(rpc->toolbox_id));
	text.message = exchange_close(&data);
	return buffer_status(&data) < 0 ? -ENOMEM : submit_rpc(rpc, &text);
}

static int call_service(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool)
{
	struct rpc *rpc = rpc_of(exchange);
	const struct mcp_message *message = &exchange->message;
	const struct http_request *http = rpc->http;
	cleanup(buffer_deinit) struct buffer data = {0};
	struct request_text text = {.topic = "ovos.tools.invoke"};
	int r;

	text.message = write_data(rpc, tool, &data);
	if (message->arguments != JSON_NONE) {
		text.args = json_value_view(&message->tape, message->arguments);
		text.tape = &message->tape;
		text.token = message->arguments;
	}
	r = buffer_status(&data);
	r = r ? r : submit_rpc(rpc, &text);
	if (r == 0 && rpc->connection && message->progress_token.text && !exchange->is_task &&
		http_accepts(http_connection_request(http->connection), "text/event-stream")) {
		rpc->is_stream = true;
		http_stream_begin(http->connection);
	}
	return r;
}

static int ask_job(struct mcp_exchange *exchange, bool cancels, struct text_view id)
{
	struct rpc *rpc = rpc_of(exchange);
	cleanup(buffer_deinit) struct buffer data = {0};
	struct request_text text = {
		.topic = cancels ? "ovos.tools.job.cancel" : "ovos.tools.job.get"};
	int r;

	exchange_value(&data, "job_id", &id);
	text.message = exchange_close(&data);
	r = buffer_status(&data);
	if (r < 0 || exchange->stage != MCP_LISTENING)
		return r < 0 ? r : submit_rpc(rpc, &text);
	r = name_rpc(rpc);
	return r < 0 ? r : exchange_submit(rpc->http, &rpc->address, &text);
}

static void cancel_rpc(struct mcp_exchange *exchange)
{
	struct rpc *rpc = rpc_of(exchange);

	if (exchange->stage == MCP_LISTENING)
		stream_end(&rpc->stream);
	else
		cancel_address(&rpc->endpoint->service->invoker, &rpc->address);
}

const struct mcp_door rpc_door = {
	.join = join_session,
	.respond = respond_to,
	.notify = notify_client,
	.takes_report = takes_report,
	.list = list_tools,
	.call = call_service,
	.search = search_service,
	.ask_job = ask_job,
	.listen = listen_for_changes,
	.cancel = cancel_rpc,
};

/* ── the address of the answer ───────────────────────────────────────────────────────────────── */

static void take_result(struct address *address, struct answer *answer)
{
	struct rpc *rpc = rpc_at(address);
	cleanup(json_tape_cleanup) struct json_tape data = {0};
	struct mcp_error error;
	size_t size;
	const char *text = bus_message_text(&answer->message, &size);

	if (!rpc->connection)
		return;
	if (json_tape_read(&data, text, size, JSON_DOCUMENT_DEPTH_MAX, NULL) == 0) {
		mcp_exchange_answer(&rpc->exchange, &data, answer->has_content);
		return;
	}
	mcp_refuse(&error, MCP_INTERNAL_ERROR, 500, "The answer cannot be read");
	mcp_exchange_refuse(&rpc->exchange, &error);
}

static void take_report(struct address *address, const struct json_tape *progress)
{
	struct rpc *rpc = rpc_at(address);

	if (rpc->connection)
		mcp_exchange_report(&rpc->exchange, progress);
}

static bool has_rights(const struct address *address)
{
	const struct rpc *rpc = container_of(address, const struct rpc, address);

	return exchange_caller_is_granted(rpc->endpoint->service, &rpc->caller);
}

static void free_rpc(struct address *address)
{
	struct rpc *rpc = rpc_at(address);

	mcp_exchange_deinit(&rpc->exchange);
	buffer_deinit(&rpc->caller.texts);
	buffer_deinit(&rpc->caller.trace);
	free(rpc);
}

struct rpc *rpc_new(struct mcp_endpoint *endpoint, const struct http_request *http)
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
	mcp_exchange_init(&rpc->exchange, &endpoint->engine);
	rpc->address =
		(struct address){.operations = &operations, .references = 1, .door = CALL_DOOR_MCP};
	rpc->endpoint = endpoint;
	rpc->http = http;
	rpc->connection = http->connection;
	return rpc;
}
