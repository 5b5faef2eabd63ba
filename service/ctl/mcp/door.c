/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/door.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/call/approval.h"
#include "core/request/trace.h"
#include "ctl/command.h"
#include "ctl/mcp/lines.h"
#include "ctl/request.h"
#include "ctl/status/ask.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/writer.h"
#include "mcp/server/methods.h"
#include "mcp/server/tasks.h"
#include "util/array.h"
#include "util/cleanup.h"

#define INVOKE_TOPIC     "ovos.tools.invoke"
#define LIST_TOPIC       "ovos.tools.list"
#define CANCEL_TOPIC     "ovos.tools.cancel"
#define CALLS_TOPIC      "ovos.tools.calls"
#define CALLS_RESPONSE   CALLS_TOPIC ".response"
#define INVOKE_RESPONSE  INVOKE_TOPIC ".response"
#define LIST_RESPONSE    LIST_TOPIC ".response"
#define SEARCH_TOPIC     "ovos.tools.search"
#define SEARCH_RESPONSE  SEARCH_TOPIC ".response"
#define JOB_TOPIC        "ovos.tools.job.get"
#define JOB_RESPONSE     JOB_TOPIC ".response"
#define JOB_END_TOPIC    "ovos.tools.job.cancel"
#define JOB_END_RESPONSE JOB_END_TOPIC ".response"
#define COMPLETED_TOPIC  "ovos.tools.job.completed"
#define PROGRESS_TOPIC   "ovos.tools.call.progress"
#define CHANGED_TOPIC    "ovos.tools.changed"
#define REQUESTED_TOPIC  "ovos.tools.approval.requested"
#define RESOLVED_TOPIC   "ovos.tools.approval.resolved"

/* The session of the one client. */
#define STDIO_SESSION "stdio"

struct stdio_call {
	struct mcp_exchange exchange;
	char call_id[HEX_ID_CHARS + 1];
	char *question;        /* the id of the question about the call; NULL: none */
	bool is_asked;         /* the service is asked whether it has the call */
	unsigned int n_missed; /* answers to that without the call */
};

/* The misses after which a call is lost. A job whose file is written is no call yet. */
#define MISSES_OF_CALL 1
#define MISSES_OF_TASK 2

static struct stdio_door *door_of(const struct mcp_exchange *exchange)
{
	return container_of(exchange->engine, struct stdio_door, engine);
}

static struct stdio_call *call_of(struct mcp_exchange *exchange)
{
	return container_of(exchange, struct stdio_call, exchange);
}

void stdio_door_wake(struct stdio_door *door)
{
	door->has_woken = true;
	ctl_session_wake(door->session);
}

void stdio_door_leave(struct stdio_door *door, int status)
{
	door->is_over = true;
	door->status = status;
	stdio_door_wake(door);
}

/* Write @line, and empty it. A client that is gone ends the server. */
static void put_line(struct stdio_door *door, struct buffer *line)
{
	int r = line->size > 0 ? lines_write(STDOUT_FILENO, line) : 0;

	if (r == 0)
		return;
	if (r != -EPIPE)
		terminal_complain("stdout: %s", strerror(-r));
	stdio_door_leave(door, r == -EPIPE ? CTL_DONE : CTL_ERROR);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

static struct stdio_call *new_call(struct stdio_door *door)
{
	struct stdio_call *call = calloc(1, sizeof(*call));

	if (call)
		mcp_exchange_init(&call->exchange, &door->engine);
	return call;
}

/* Free @call, which is over. The next line of a file may wait for its place, and the end for it. */
static void free_call(struct stdio_call *call)
{
	struct stdio_door *door = door_of(&call->exchange);

	mcp_exchange_deinit(&call->exchange);
	free(call->question);
	free(call);
	if (door->is_full_or_ending)
		stdio_door_wake(door);
}

/* Return the call in flight after @last (NULL: the first one), or NULL. */
static struct stdio_call *next_call(struct stdio_door *door, struct stdio_call *last)
{
	struct list *link = last ? last->exchange.link.next : door->engine.requests.next;

	for (; link != &door->engine.requests; link = link->next) {
		struct mcp_exchange *exchange = container_of(link, struct mcp_exchange, link);

		if (exchange->stage == MCP_CALLING)
			return call_of(exchange);
	}
	return NULL;
}

/* Return the call whose call_id the member of @event is, or NULL. */
static struct stdio_call *find_stdio_call(struct stdio_door *door, const struct json_tape *event)
{
	struct stdio_call *call = next_call(door, NULL);

	while (call && !json_member_is(event, 0, "call_id", call->call_id))
		call = next_call(door, call);
	return call;
}

bool stdio_door_has_calls(const struct stdio_door *door)
{
	return mcp_engine_first(&door->engine, MCP_CALLING) != NULL;
}

static void send_cancel(struct stdio_door *door, const struct stdio_call *call)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "call_id", call->call_id);
	ctl_session_send(door->session, CANCEL_TOPIC, &data);
}

/* Append the member @key with the value of @message at @token, if there is one. */
static void append_value(
	struct buffer *data, const char *key, const struct mcp_message *message, uint32_t token)
{
	struct text_view value;

	if (token == JSON_NONE)
		return;
	value = json_value_view(&message->tape, token);
	json_write_member_json(data, key, value.text, value.size);
}

/* Let requests carry the trace in the `_meta` of @message. */
static void carry_trace(struct stdio_door *door, const struct mcp_message *message)
{
	uint32_t meta = json_find_typed(&message->tape, message->params, "_meta", JSON_OBJECT);
	cleanup(buffer_deinit) struct buffer trace = {0};

	if (meta != JSON_NONE)
		trace_write_members(&message->tape, meta, &trace);
	ctl_session_set_trace(door->session, trace.size > 0 ? buffer_terminate(&trace) : "");
}

/* Send the request for @call. Without a @tool of that name in the list the service judges the name.
 * Return 0, or -ENOTCONN while the service is away. */
static int send_call(
	struct stdio_door *door, const struct stdio_call *call, const struct mcp_listed_tool *tool)
{
	const struct mcp_message *message = &call->exchange.message;
	const struct ctl_options *options = door->options;
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_member(&data, "call_id", call->call_id);
	ctl_request_member(&data, "profile", options->profile);
	if (tool) {
		ctl_request_member(&data, "name", tool->name);
		ctl_request_member(&data, "toolbox_id", tool->toolbox_id);
	} else {
		append_value(&data, "name", message, message->name);
		if (options->n_toolboxes == 1)
			ctl_request_member(&data, "toolbox_id", options->toolboxes[0]);
	}
	if (call->exchange.is_task)
		ctl_request_flag(&data, "background");
	else if (message->progress_token.text)
		ctl_request_flag(&data, "progress");
	append_value(&data, "args", message, message->arguments);
	carry_trace(door, message);
	r = ctl_session_send_numbered(door->session, INVOKE_TOPIC, &data, call->call_id);
	ctl_session_set_trace(door->session, "");
	return r;
}

/* Fail the call @exchange of a tool that the served toolboxes do not have, though another toolbox
 * may have such a tool. */
static void fail_unknown(struct mcp_exchange *exchange)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	buffer_append_string(&text, "Unknown tool: '");
	json_string_decode(&exchange->message.tape, exchange->message.name, &text);
	buffer_append_char(&text, '\'');
	mcp_refuse(&error, MCP_INVALID_PARAMS, 200, "Unknown tool");
	if (buffer_status(&text) == 0)
		error.message = (struct text_view){text.data, text.size};
	mcp_exchange_refuse(exchange, &error);
}

/* ── the door ────────────────────────────────────────────────────────────────────────────────── */

static int join_stdio(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	struct stdio_door *door = door_of(exchange);
	enum mcp_method method = exchange->message.method;

	(void)ret_error;
	if (method == MCP_INITIALIZE && !door->is_legacy) {
		struct stdio_call *changes = new_call(door);

		if (!changes)
			return -ENOMEM;
		mcp_exchange_listen(&changes->exchange);
		door->is_legacy = true;
	}
	if (method == MCP_INITIALIZE || method == MCP_DISCOVER || method == MCP_TOOLS_LIST)
		door->has_greeted = true;
	return 0;
}

static void respond_line(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	(void)status;
	if (text && exchange->message.kind == MCP_REQUEST)
		put_line(door_of(exchange), text);
}

static void notify_line(struct mcp_exchange *exchange, struct buffer *message)
{
	put_line(door_of(exchange), message);
}

static const struct mcp_tools *list_served(struct mcp_exchange *exchange)
{
	return &door_of(exchange)->listed.tools;
}

static int begin_bus_call(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool)
{
	struct stdio_door *door = door_of(exchange);
	const struct mcp_message *message = &exchange->message;
	struct stdio_call *call = call_of(exchange);

	if (!tool)
		tool = listed_tools_find_other(&door->listed, &message->tape, message->name);
	exchange->has_content = tool && tool->has_content;
	if (!tool && door->options->n_toolboxes > 1)
		fail_unknown(exchange);
	else if (hex_write_id(call->call_id) < 0)
		mcp_exchange_fail(exchange,
			"{\"error\":\"RuntimeError: no random bytes\",\"code\":\"unavailable\"}");
	else if (send_call(door, call, tool) < 0)
		mcp_exchange_fail(exchange, "{\"error\":\"RuntimeError: The service is away: "
					    "nothing was run, try again "
					    "later.\",\"code\":\"unavailable\"}");
	/* From the first call on the loop asks for them from time to time. */
	if (!next_call(door, next_call(door, NULL)))
		stdio_door_wake(door);
	return 0;
}

/* Return whether the Tool at @tool is one of the served toolboxes (struct mcp_lazy_search). */
static bool serves_tool(void *data, const struct json_tape *found, uint32_t tool)
{
	const struct ctl_options *options = ((struct stdio_door *)data)->options;
	uint32_t meta = json_find_typed(found, tool, "_meta", JSON_OBJECT);
	uint32_t source = json_find_typed(found, meta, "toolboxd/source", JSON_OBJECT);
	uint32_t toolbox = json_find_typed(found, source, "toolbox", JSON_STRING);

	for (size_t i = 0; i < options->n_toolboxes; i++)
		if (json_is_text(found, toolbox, options->toolboxes[i]))
			return true;
	return options->n_toolboxes == 0;
}

/* The first tools that the service finds may be in none of several served toolboxes, so the service
 * is asked for as many as it returns. */
static int begin_search(struct mcp_exchange *exchange, uint32_t query)
{
	struct stdio_door *door = door_of(exchange);
	const struct ctl_options *options = door->options;
	struct stdio_call *call = call_of(exchange);
	cleanup(buffer_deinit) struct buffer data = {0};

	exchange->search.names = options->n_toolboxes == 1 ? MCP_NAMES_OWN
				 : options->bare           ? MCP_NAMES_GIVEN
							   : MCP_NAMES_WHOLE;
	exchange->search.serves = serves_tool;
	exchange->search.data = door;
	ctl_request_member(&data, "format", "mcp");
	ctl_request_member(&data, "profile", options->profile);
	if (options->n_toolboxes == 1)
		ctl_request_member(&data, "toolbox_id", options->toolboxes[0]);
	append_value(&data, "query", &exchange->message, query);
	json_write_member_u64(
		&data, "limit", options->n_toolboxes > 1 ? MCP_FOUND_MAX : exchange->search.limit);
	if (hex_write_id(call->call_id) < 0)
		return -ENOMEM;
	if (ctl_session_send_numbered(door->session, SEARCH_TOPIC, &data, call->call_id) < 0)
		mcp_exchange_fail(exchange,
			"{\"error\":\"RuntimeError: The service is away: search again "
			"later.\",\"code\":\"unavailable\"}");
	return 0;
}

static int ask_bus_job(struct mcp_exchange *exchange, bool cancels, struct text_view id)
{
	struct stdio_door *door = door_of(exchange);
	struct stdio_call *call = call_of(exchange);
	cleanup(buffer_deinit) struct buffer data = {0};

	json_write_member_json(&data, "job_id", id.text, id.size);
	/* A listener asks about each of its tasks. */
	if (!*call->call_id && hex_write_id(call->call_id) < 0)
		return -ENOMEM;
	if (ctl_session_send_numbered(
		    door->session, cancels ? JOB_END_TOPIC : JOB_TOPIC, &data, call->call_id) == 0)
		return 0;
	if (exchange->stage == MCP_LISTENING)
		return -ENOTCONN;
	mcp_exchange_fail(exchange, "{\"error\":\"RuntimeError: The service is away: ask again "
				    "later.\",\"code\":\"unavailable\"}");
	return 0;
}

/* Cancel a request: no response to it follows. */
static void cancel_request(struct mcp_exchange *exchange)
{
	if (exchange->stage == MCP_CANCELLED_CALL)
		send_cancel(door_of(exchange), call_of(exchange));
	free_call(call_of(exchange));
}

static const struct mcp_door stdio_functions = {
	.join = join_stdio,
	.respond = respond_line,
	.notify = notify_line,
	.list = list_served,
	.call = begin_bus_call,
	.search = begin_search,
	.ask_job = ask_bus_job,
	.cancel = cancel_request,
};

void stdio_door_take(void *data, const char *text, size_t size)
{
	struct stdio_door *door = data;
	struct stdio_call *call;
	struct mcp_error error;

	if (door->is_over)
		return;
	call = new_call(door);
	if (!call) {
		terminal_complain("a message was dropped: %s", strerror(ENOMEM));
		return;
	}
	call->exchange.session = STDIO_SESSION;
	if (text) {
		mcp_take(&call->exchange, text, size, NULL);
	} else {
		mcp_refuse(&error, MCP_INVALID_REQUEST, 413, "The message is too long.");
		mcp_exchange_refuse(&call->exchange, &error);
	}
	if (!mcp_exchange_is_open(&call->exchange))
		free_call(call);
}

/* ── the list of tools ───────────────────────────────────────────────────────────────────────── */

static void write_list_request(const struct stdio_door *door, struct buffer *data)
{
	ctl_request_member(data, "format", "mcp");
	ctl_request_member(data, "profile", door->options->profile);
	if (door->options->lazy)
		ctl_request_flag(data, "toolboxes");
}

/* Ask for the list again; while a response is waited for, after that. */
static void begin_listing(struct stdio_door *door)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	door->is_stale = door->is_listing;
	if (door->is_stale)
		return;
	door->is_listing = true;
	write_list_request(door, &data);
	ctl_session_send(door->session, LIST_TOPIC, &data);
}

/* Take the list of @tape over, or complain. */
static void take_tool_list(struct stdio_door *door, const struct json_tape *tape)
{
	struct listed_tools listed;
	uint64_t id = door->listed.tools.id;
	int r = listed_tools_read(tape, door->options->toolboxes, door->options->n_toolboxes,
		door->options->bare, &listed);

	if (r == 0 && door->options->lazy)
		r = listed_tools_make_lazy(&listed, tape);
	if (r < 0) {
		terminal_complain("the list of tools cannot be read: %s", strerror(-r));
		return;
	}
	listed_tools_deinit(&door->listed);
	door->listed = listed;
	if (id != 0 && id != listed.tools.id)
		mcp_engine_changed(&door->engine);
}

/* Take the response to our request for the list; any other is not ours. */
static void take_list(struct stdio_door *door, const struct json_tape *event)
{
	if (!door->is_listing || !ctl_session_is_ours(door->session))
		return;
	door->is_listing = false;
	take_tool_list(door, event);
	if (door->is_stale)
		begin_listing(door);
}

/* Get the first list: without a service there is nothing to serve. */
static int ask_first_list(struct stdio_door *door)
{
	cleanup(ctl_response_deinit) struct ctl_response listed = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	write_list_request(door, &data);
	r = ctl_session_ask(door->session, LIST_TOPIC, &data, &listed);
	if (r == CTL_DONE && ctl_response_status(&listed) != CTL_DONE) {
		ctl_response_complain(&listed);
		r = CTL_ERROR;
	}
	if (r == CTL_DONE)
		take_tool_list(door, &listed.tape);
	return r;
}

/* Complain about each --toolbox that is not there. It may come later, so the server goes on. */
static void check_toolboxes(const struct stdio_door *door)
{
	const struct ctl_options *options = door->options;

	for (size_t i = 0; i < options->n_toolboxes; i++)
		if (!listed_tools_have(&door->listed, options->toolboxes[i]))
			status_expect_toolbox(door->session, options->toolboxes[i]);
}

/* ── a service that starts again ─────────────────────────────────────────────────────────────── */

/* End a call whose response does not come any more. */
static void lose_call(struct stdio_call *call)
{
	mcp_exchange_fail(&call->exchange,
		"{\"error\":\"RuntimeError: The service was away; the tool may have run.\","
		"\"code\":\"unavailable\"}");
	free_call(call);
}

void stdio_door_ask_calls(struct stdio_door *door)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (!stdio_door_has_calls(door) || hex_write_id(door->asked) < 0)
		return;
	for (struct stdio_call *call = next_call(door, NULL); call; call = next_call(door, call))
		call->is_asked = true;
	ctl_request_member(&data, "state", "running");
	ctl_request_member(&data, "source", CTL_SOURCE);
	ctl_session_send_numbered(door->session, CALLS_TOPIC, &data, door->asked);
}

/* Return whether the array @calls has @call. */
static bool is_listed(const struct json_tape *event, uint32_t calls, const struct stdio_call *call)
{
	json_each(i, event, calls)
		if (json_is_text(event,
			    json_find_present(event, json_object_at(event, i), "call_id"),
			    call->call_id))
			return true;
	return false;
}

/* Take the response to the last request for calls. */
static void take_calls(struct stdio_door *door, const struct json_tape *event)
{
	uint32_t calls = json_find(event, 0, "calls");
	struct stdio_call *next;

	if (!ctl_session_has_number(door->session, door->asked) || calls == JSON_NONE ||
		json_type_at(event, calls) != JSON_ARRAY)
		return;
	for (struct stdio_call *call = next_call(door, NULL); call; call = next) {
		next = next_call(door, call);
		if (!call->is_asked || call->exchange.search.limit > 0 ||
			is_listed(event, calls, call))
			continue;
		if (++call->n_missed >= (call->exchange.is_task ? MISSES_OF_TASK : MISSES_OF_CALL))
			lose_call(call);
	}
}

void stdio_door_begin_again(struct stdio_door *door)
{
	struct stdio_call *call;

	while ((call = next_call(door, NULL)))
		lose_call(call);
	list_each(struct mcp_exchange, exchange, &door->engine.requests, link)
		mcp_tasks_watch(exchange);
	door->is_listing = false;
	begin_listing(door);
}

bool stdio_door_end(struct stdio_door *door)
{
	bool has_calls = false;

	list_each(struct mcp_exchange, exchange, &door->engine.requests, link) {
		if (exchange->stage == MCP_LISTENING) {
			mcp_exchange_finish(exchange);
		} else {
			has_calls = true;
			send_cancel(door, call_of(exchange));
		}
		free_call(call_of(exchange));
	}
	return has_calls;
}

/* ── messages of the service ─────────────────────────────────────────────────────────────────── */

/* Take the response to a call. Its data has no call_id when the request could not be read. */
static void take_call_result(struct stdio_door *door, const struct json_tape *event)
{
	struct stdio_call *call = next_call(door, NULL);

	while (call && !ctl_session_has_number(door->session, call->call_id))
		call = next_call(door, call);
	if (!call)
		return;
	mcp_exchange_answer(&call->exchange, event, call->exchange.has_content);
	free_call(call);
}

/* Take the response about a job: of a request for a task, or of a listener. */
static void take_job(struct stdio_door *door, const struct json_tape *event)
{
	list_each(struct mcp_exchange, exchange, &door->engine.requests, link) {
		struct stdio_call *call = call_of(exchange);

		if (!*call->call_id || !ctl_session_has_number(door->session, call->call_id))
			continue;
		mcp_exchange_answer(exchange, event, false);
		if (!mcp_exchange_is_open(exchange))
			free_call(call);
		return;
	}
}

static void take_end_of_job(struct stdio_door *door, const struct json_tape *event)
{
	mcp_engine_report_job(&door->engine, event);
}

/* A question is reported again and again, see stdio_door_report_asking(). */
static void pass_progress(struct stdio_door *door, const struct json_tape *event)
{
	struct stdio_call *call = find_stdio_call(door, event);

	if (call && !json_member_is(event, 0, "state", "waiting"))
		mcp_exchange_report(&call->exchange, event);
}

bool stdio_door_report_asking(struct stdio_door *door)
{
	bool is_asking = false;

	for (struct stdio_call *call = next_call(door, NULL); call; call = next_call(door, call)) {
		if (!call->question || !call->exchange.message.progress_token.text)
			continue;
		is_asking = true;
		mcp_exchange_report_text(&call->exchange, TEXT_VIEW(APPROVAL_REPORT_TEXT));
	}
	return is_asking;
}

static void take_question(struct stdio_door *door, const struct json_tape *event)
{
	struct stdio_call *call = find_stdio_call(door, event);
	uint32_t id = json_find(event, 0, "id");

	if (!call || call->question || id == JSON_NONE || json_type_at(event, id) != JSON_STRING)
		return;
	call->question = json_string_dup(event, id, NULL);
	stdio_door_wake(door);
}

static void take_resolution(struct stdio_door *door, const struct json_tape *event)
{
	for (struct stdio_call *call = next_call(door, NULL); call; call = next_call(door, call))
		if (call->question && json_member_is(event, 0, "id", call->question))
			free(take_ptr(call->question));
}

static void take_service_message(void *data, const char *topic, const struct json_tape *event)
{
	struct stdio_door *door = data;
	static const struct {
		const char *topic;
		void (*take)(struct stdio_door *door, const struct json_tape *event);
	} events[] = {
		{INVOKE_RESPONSE, take_call_result},
		{SEARCH_RESPONSE, take_call_result},
		{JOB_RESPONSE, take_job},
		{JOB_END_RESPONSE, take_job},
		{COMPLETED_TOPIC, take_end_of_job},
		{PROGRESS_TOPIC, pass_progress},
		{LIST_RESPONSE, take_list},
		{CALLS_RESPONSE, take_calls},
		{REQUESTED_TOPIC, take_question},
		{RESOLVED_TOPIC, take_resolution},
	};

	if (event->count == 0 || json_type_at(event, 0) != JSON_OBJECT || door->is_over)
		return;
	if (strcmp(topic, CHANGED_TOPIC) == 0)
		begin_listing(door);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (strcmp(topic, events[i].topic) == 0)
			events[i].take(door, event);
}

int stdio_door_open(
	struct stdio_door *door, const struct ctl_options *options, struct ctl_session *session)
{
	static const char *const topics[] = {INVOKE_RESPONSE, SEARCH_RESPONSE, PROGRESS_TOPIC,
		LIST_RESPONSE, CALLS_RESPONSE, REQUESTED_TOPIC, RESOLVED_TOPIC, CHANGED_TOPIC,
		JOB_RESPONSE, JOB_END_RESPONSE, COMPLETED_TOPIC};
	int r;

	door->options = options;
	door->session = session;
	mcp_engine_init(&door->engine, &stdio_functions, TOOLBOXD_VERSION, IN_FLIGHT_MAX);
	/* A service of its own ends with its client, and the jobs of the device are another's. */
	door->engine.server.has_tasks = !options->standalone;
	r = ask_first_list(door);
	if (r != CTL_DONE)
		return r;
	check_toolboxes(door);
	ctl_session_listen(session, topics, ARRAY_SIZE(topics), take_service_message, door);
	return CTL_DONE;
}

void stdio_door_deinit(struct stdio_door *door)
{
	if (door->engine.door)
		list_each(struct mcp_exchange, exchange, &door->engine.requests, link)
			free_call(call_of(exchange));
	listed_tools_deinit(&door->listed);
}
