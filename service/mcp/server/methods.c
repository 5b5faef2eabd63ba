/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/methods.h"

#include <stdio.h>
#include <string.h>

#include "json/document.h"
#include "json/member.h"
#include "json/number.h"
#include "mcp/listing.h"
#include "mcp/param_headers.h"
#include "mcp/server/tasks.h"
#include "util/stringify.h"

/*
 * A method of MCP has a value of enum mcp_method, and a row of the table at the end with its
 * functions: to read its parameters, and to write or serve the response.
 *
 *   text ─mcp_message_read─▶ row ─mcp_message_check─▶ row.read ─▶ join ─▶ row.serve
 */

#define LEGACY (1u << MCP_LEGACY)
#define MODERN (1u << MCP_MODERN)

static int refuse_parameters(struct mcp_error *error, const char *text)
{
	return mcp_refuse(error, MCP_INVALID_PARAMS, 200, text);
}

/* ── initialize ──────────────────────────────────────────────────────────────────────────────── */

static int read_initialize(struct mcp_message *message, struct mcp_error *error)
{
	message->requested_version =
		json_find_typed(&message->tape, message->params, "protocolVersion", JSON_STRING);
	if (message->requested_version == JSON_NONE)
		return refuse_parameters(error, "params.protocolVersion must be a string.");
	return 0;
}

/* ── tools/list ──────────────────────────────────────────────────────────────────────────────── */

static int read_list_cursor(struct mcp_message *message, struct mcp_error *error)
{
	message->cursor = json_find_present(&message->tape, message->params, "cursor");
	if (message->cursor != JSON_NONE &&
		json_type_at(&message->tape, message->cursor) != JSON_STRING)
		return refuse_parameters(error, "params.cursor must be a string.");
	return 0;
}

static void serve_tool_list(struct mcp_exchange *exchange)
{
	const struct mcp_tools *tools = exchange->engine->door->list(exchange);
	cleanup(buffer_deinit) struct buffer out = {0};
	struct mcp_error error;

	if (!tools)
		mcp_exchange_refuse_memory(exchange);
	else if (mcp_write_tools(&out, &exchange->message, &exchange->engine->server,
			 tools->is_lazy ? tools->lazy : tools->texts,
			 tools->is_lazy ? MCP_LAZY_TOOLS : tools->n_items, tools->id, &error) != 0)
		mcp_exchange_refuse(exchange, &error);
	else
		mcp_exchange_respond(exchange, &out);
}

/* ── tools/call ──────────────────────────────────────────────────────────────────────────────── */

/* Models write the text of an object, too, which a call takes through every door. */
static int read_call(struct mcp_message *message, struct mcp_error *error)
{
	enum json_type type = JSON_OBJECT;

	message->name = json_find_typed(&message->tape, message->params, "name", JSON_STRING);
	if (message->name == JSON_NONE)
		return refuse_parameters(
			error, "params.name must be a string, the name of a tool.");
	message->arguments = json_find_present(&message->tape, message->params, "arguments");
	if (message->arguments != JSON_NONE)
		type = json_type_at(&message->tape, message->arguments);
	if (type != JSON_OBJECT && type != JSON_STRING)
		return refuse_parameters(error, "params.arguments must be an object.");
	return 0;
}

/* Let the call @exchange of @tool become a task, if the server may, and its client knows tasks.
 * Return 0, or MCP_E_REFUSED with @ret_error filled for a tool without another way. */
static int choose_task(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool,
	struct mcp_error *ret_error)
{
	bool has_tasks = exchange->engine->server.has_tasks;

	exchange->is_task = has_tasks && exchange->message.has_tasks && tool && tool->may_be_task;
	if (exchange->is_task || !tool || !tool->must_be_task)
		return 0;
	if (!has_tasks)
		return mcp_refuse(ret_error, MCP_INTERNAL_ERROR, 200,
			"This tool runs as a task alone, and this server has none.");
	return mcp_refuse(ret_error, MCP_MISSING_CAPABILITY, 400,
		"This tool runs as a task alone, and the client has not declared tasks.");
}

/* Serve the call of the tool that @exchange names, among @tools. */
static void serve_named(struct mcp_exchange *exchange, const struct mcp_tools *tools)
{
	const struct mcp_message *message = &exchange->message;
	const struct mcp_listed_tool *tool =
		tools ? mcp_tools_find(tools, &message->tape, message->name) : NULL;
	struct mcp_error error;
	int r = 0;

	/* No header repeats the arguments in an argument of call_tool. */
	if (tool && tool->schema && exchange->fields && message->era == MCP_MODERN &&
		!exchange->is_lazy)
		r = mcp_check_param_headers(message, exchange->fields, tool->schema, &error);
	if (r == 0)
		r = choose_task(exchange, tool, &error);
	if (r > 0)
		mcp_exchange_refuse(exchange, &error);
	if (r == 0) {
		if (!mcp_exchange_begin(exchange, MCP_CALLING))
			return;
		exchange->has_content = tool && tool->has_content;
		r = exchange->engine->door->call(exchange, tool);
	}
	if (r < 0)
		mcp_exchange_refuse_memory(exchange);
}

/* Respond to @exchange, a call of a lazy tool, with the rule @expected that an argument breaks. */
static void fail_argument(struct mcp_exchange *exchange, const char *expected)
{
	char answer[256];

	snprintf(answer, sizeof(answer),
		"{\"error\":\"ValueError: %s.\",\"code\":\"invalid_arguments\"}", expected);
	mcp_exchange_fail(exchange, answer);
}

/* Serve search_tools with the arguments at @arguments. */
static void serve_search_tools(struct mcp_exchange *exchange, uint32_t arguments)
{
	const struct json_tape *tape = &exchange->message.tape;
	uint32_t query = json_find_typed(tape, arguments, "query", JSON_STRING);
	uint32_t limit = json_find_present(tape, arguments, "limit");
	uint64_t most = MCP_FOUND_DEFAULT;

	if (query == JSON_NONE) {
		fail_argument(exchange, "'query' must be a string, the words to search for");
		return;
	}
	if (limit != JSON_NONE && (json_type_at(tape, limit) != JSON_NUMBER ||
					  json_number_u64(tape, limit, &most) != 0 || most < 1 ||
					  most > MCP_FOUND_MAX)) {
		fail_argument(
			exchange, "'limit' must be an integer from 1 to " STRINGIFY(MCP_FOUND_MAX));
		return;
	}
	if (!mcp_exchange_begin(exchange, MCP_CALLING))
		return;
	exchange->search.limit = (size_t)most;
	if (exchange->engine->door->search(exchange, query) < 0)
		mcp_exchange_refuse_memory(exchange);
}

/* Serve get_tool for the tool @tool of @tools; NULL: there is none. */
static void serve_definition(struct mcp_exchange *exchange, const struct mcp_tools *tools,
	const struct mcp_listed_tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!tool) {
		fail_argument(exchange,
			"'name' must be the name of a tool: search_tools finds the names");
		return;
	}
	buffer_append_string(&text, "{\"result\":");
	buffer_append(&text, tools->texts[tool->index].text, tools->texts[tool->index].size);
	buffer_append_char(&text, '}');
	if (buffer_status(&text) < 0 ||
		json_tape_read(&data, text.data, text.size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		mcp_exchange_refuse_memory(exchange);
	else
		mcp_exchange_answer(exchange, &data, false);
}

/* Serve the call of @lazy, one of the three tools in place of @tools. */
static void serve_lazy(
	struct mcp_exchange *exchange, const struct mcp_tools *tools, enum mcp_lazy_tool lazy)
{
	struct mcp_message *message = &exchange->message;
	const struct json_tape *tape = &message->tape;
	uint32_t arguments = message->arguments != JSON_NONE
				     ? json_object_at(tape, message->arguments)
				     : JSON_NONE;
	uint32_t name = json_find_typed(tape, arguments, "name", JSON_STRING);

	exchange->is_lazy = true;
	if (lazy == MCP_SEARCH_TOOLS) {
		serve_search_tools(exchange, arguments);
		return;
	}
	if (name == JSON_NONE) {
		fail_argument(exchange, "'name' must be a string, the name of a tool");
		return;
	}
	if (lazy == MCP_GET_TOOL) {
		serve_definition(exchange, tools, mcp_tools_find(tools, tape, name));
		return;
	}
	message->name = name;
	message->arguments = json_find_present(tape, arguments, "arguments");
	if (message->arguments != JSON_NONE &&
		json_type_at(tape, message->arguments) != JSON_OBJECT &&
		json_type_at(tape, message->arguments) != JSON_STRING)
		fail_argument(exchange, "'arguments' must be an object, the arguments of the tool");
	else
		serve_named(exchange, tools);
}

static void serve_call(struct mcp_exchange *exchange)
{
	const struct mcp_message *message = &exchange->message;
	const struct mcp_tools *tools = exchange->engine->door->list(exchange);
	int lazy = tools && tools->is_lazy ? mcp_lazy_find(&message->tape, message->name) : -1;

	if (lazy >= 0)
		serve_lazy(exchange, tools, (enum mcp_lazy_tool)lazy);
	else
		serve_named(exchange, tools);
}

/* ── subscriptions/listen ────────────────────────────────────────────────────────────────────── */

static int read_listen(struct mcp_message *message, struct mcp_error *error)
{
	uint32_t filter =
		json_find_typed(&message->tape, message->params, "notifications", JSON_OBJECT);

	if (filter == JSON_NONE)
		return refuse_parameters(error, "params.notifications must be an object.");
	message->wants_tool_changes =
		json_find_typed(&message->tape, filter, "toolsListChanged", JSON_TRUE) != JSON_NONE;
	return mcp_tasks_read_ids(message, filter, error);
}

static void serve_listen(struct mcp_exchange *exchange)
{
	const struct mcp_door *door = exchange->engine->door;
	struct mcp_error error;

	if (!mcp_exchange_begin(exchange, MCP_LISTENING))
		return;
	if (exchange->message.task_ids != JSON_NONE && exchange->engine->server.has_tasks &&
		mcp_tasks_keep_ids(exchange) < 0)
		mcp_exchange_refuse_memory(exchange);
	else if (door->listen && door->listen(exchange, &error) != 0)
		mcp_exchange_refuse(exchange, &error);
	else
		mcp_tasks_watch(exchange);
}

/* ── tasks/get, tasks/update, tasks/cancel ───────────────────────────────────────────────────── */

static void serve_task(struct mcp_exchange *exchange)
{
	struct mcp_error error;

	if (exchange->engine->server.has_tasks) {
		mcp_tasks_serve(exchange);
		return;
	}
	mcp_refuse(&error, MCP_METHOD_NOT_FOUND, 404, "This server has no tasks.");
	mcp_exchange_refuse(exchange, &error);
}

/* ── the methods ─────────────────────────────────────────────────────────────────────────────── */

const struct mcp_method_row mcp_methods[] = {
	{"initialize", MCP_INITIALIZE, LEGACY, NULL, read_initialize, mcp_write_initialize, NULL},
	{"ping", MCP_PING, LEGACY, NULL, NULL, mcp_write_pong, NULL},
	{"server/discover", MCP_DISCOVER, MODERN, NULL, NULL, mcp_write_discover, NULL},
	{"tools/list", MCP_TOOLS_LIST, LEGACY | MODERN, NULL, read_list_cursor, NULL,
		serve_tool_list},
	{"tools/call", MCP_TOOLS_CALL, LEGACY | MODERN, "name", read_call, NULL, serve_call},
	{"subscriptions/listen", MCP_LISTEN, MODERN, NULL, read_listen, NULL, serve_listen},
	{"tasks/get", MCP_TASKS_GET, MODERN, "taskId", mcp_tasks_read, NULL, serve_task},
	{"tasks/update", MCP_TASKS_UPDATE, MODERN, "taskId", mcp_tasks_read, NULL, serve_task},
	{"tasks/cancel", MCP_TASKS_CANCEL, MODERN, "taskId", mcp_tasks_read, NULL, serve_task},
	/* These are not ours, but have the header Mcp-Name. */
	{"prompts/get", MCP_UNKNOWN, 0, "name", NULL, NULL, NULL},
	{"resources/read", MCP_UNKNOWN, 0, "uri", NULL, NULL, NULL},
	{NULL, MCP_UNKNOWN, 0, NULL, NULL, NULL, NULL},
};

static void serve_request(struct mcp_exchange *exchange)
{
	const struct mcp_method_row *row = exchange->message.row;
	cleanup(buffer_deinit) struct buffer out = {0};

	if (row->serve) {
		row->serve(exchange);
		return;
	}
	row->write(&out, &exchange->message, &exchange->engine->server);
	mcp_exchange_respond(exchange, &out);
}

/* Take a message that is no request, and has no response. */
static void take_notification(struct mcp_exchange *exchange)
{
	const struct mcp_message *message = &exchange->message;

	if (message->method == MCP_CANCELLED && message->request_id.text && exchange->session)
		mcp_engine_cancel(exchange->engine, exchange->session, message->request_id);
	exchange->engine->door->respond(exchange, 202, NULL);
}

void mcp_take(struct mcp_exchange *exchange, const char *text, size_t size,
	const struct mcp_fields *fields)
{
	struct mcp_message *message = &exchange->message;
	struct mcp_error error;
	int r = mcp_message_read(message, mcp_methods, text, size, MCP_DEPTH_MAX, &error);

	exchange->fields = fields;
	r = r ? r : mcp_message_check(message, fields, &error);
	r = r ? r : exchange->engine->door->join(exchange, &error);
	if (r < 0)
		mcp_exchange_refuse_memory(exchange);
	else if (r > 0)
		mcp_exchange_refuse(exchange, &error);
	else if (message->kind == MCP_REQUEST)
		serve_request(exchange);
	else
		take_notification(exchange);
	exchange->fields = NULL;
	json_tape_deinit(&message->tape);
}
