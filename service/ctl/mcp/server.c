/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/call/approval.h"
#include "ctl/command.h"
#include "ctl/mcp/lines.h"
#include "ctl/mcp/tools.h"
#include "ctl/offline/private.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/status/ask.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "mcp/call_result.h"
#include "mcp/listing.h"
#include "mcp/message.h"
#include "mcp/notification.h"
#include "mcp/response.h"
#include "policy/hex.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/*
 * toolboxctl mcp: a server of the Model Context Protocol on stdin and stdout, for one client.
 *
 *   stdin ─lines─▶ message ─┬─ initialize, ping, discover, list ────────────────────▶ stdout
 *                           └─ tools/call ─▶ ovos.tools.invoke ─▶ its response ─────▶ stdout
 *                                             the bus            ─▶ its progress ───▶
 *   ovos.tools.changed ─▶ ovos.tools.list ─▶ another list? ─▶ list_changed ──▶
 *
 * A request is in flight from its line to its response: a call, or a subscriptions/listen, which
 * has one only at the end.
 *
 * At the end of its input the calls in flight are answered, then it leaves. A client that stops its
 * server closes the input, too, and waits for the end of the process:
 *
 *   initialize, discover or list, answered ─▶ the input is empty ─▶ a further message: a client, which reads
 *     the end of its input ─▶ MCP_STOP_MS later the calls in flight are cancelled
 *   all else is the output of a program, as of printf: its calls have until their deadlines
 *
 * When no reader of the responses is left, calls are cancelled at once.
 */

#define INVOKE_TOPIC    "ovos.tools.invoke"
#define LIST_TOPIC      "ovos.tools.list"
#define CANCEL_TOPIC    "ovos.tools.cancel"
#define CALLS_TOPIC     "ovos.tools.calls"
#define CALLS_RESPONSE  CALLS_TOPIC ".response"
#define INVOKE_RESPONSE INVOKE_TOPIC ".response"
#define LIST_RESPONSE   LIST_TOPIC ".response"
#define PROGRESS_TOPIC  "ovos.tools.call.progress"
#define CHANGED_TOPIC   "ovos.tools.changed"
#define REQUESTED_TOPIC "ovos.tools.approval.requested"
#define RESOLVED_TOPIC  "ovos.tools.approval.resolved"

/* The requests in flight. */
#define IN_FLIGHT_MAX 64

/* The lines of a file that are taken before others have their turn. */
#define FILE_LINES 64

/* The wait for something to happen, when nothing has to be done at a time. */
#define LONG_MS 3600000

/* The time that calls have when their client has closed the input to stop us; less than the two
 * seconds after which clients send SIGTERM. */
#define MCP_STOP_MS 1000

/* The time in which the cancelling of calls goes out at the end. */
#define LEAVE_MS 30

struct in_flight {
	char *line;
	struct mcp_message message; /* reads @line */
	char call_id[HEX_ID_CHARS + 1];
	char *question; /* the id of the question about the call; NULL: none */
	struct mcp_progress progress;
	bool is_listen;
	bool has_content; /* the result of the call is rich content */
	bool is_asked;    /* the service is asked whether it has the call */
};

struct mcp_ctl {
	const struct ctl_options *options;
	struct ctl_session *session;
	struct lines lines;
	struct in_flight *in_flight[IN_FLIGHT_MAX];
	struct mcp_tools tools;
	bool is_listing;              /* a list was asked for */
	bool is_stale;                /* the tools have changed since then */
	char asked[HEX_ID_CHARS + 1]; /* the number of the last request for calls */
	bool is_legacy;               /* the client has initialized */
	bool is_file;                 /* stdin is: it has requests, and no client that closes it */
	bool has_greeted;             /* a request by which clients begin was answered */
	bool has_paused;              /* after that there was no further message for a while */
	bool is_client;               /* after that there was one: it waits for responses */
	bool has_ended;               /* the input: the calls in flight are the last */
	uint64_t stop_ms;             /* when they are cancelled; 0: they have their deadlines */
	bool is_over;
	bool has_woken; /* the loop was stopped by one of our functions */
	int status;     /* enum ctl_status */
};

static const struct mcp_server identity = {.version = TOOLBOXD_VERSION};

static void wake(struct mcp_ctl *mcp)
{
	mcp->has_woken = true;
	ctl_session_wake(mcp->session);
}

static void leave(struct mcp_ctl *mcp, int status)
{
	mcp->is_over = true;
	mcp->status = status;
	wake(mcp);
}

/* Write @line, and empty it. A client that is gone ends the server. */
static void put_line(struct mcp_ctl *mcp, struct buffer *line)
{
	int r = line->size > 0 ? lines_write(STDOUT_FILENO, line) : 0;

	if (r == 0)
		return;
	if (r != -EPIPE)
		terminal_complain("stdout: %s", strerror(-r));
	leave(mcp, r == -EPIPE ? CTL_DONE : CTL_ERROR);
}

static bool has_event_text(const struct json_tape *event, const char *key, const char *text)
{
	uint32_t token = json_find(event, 0, key);

	return token != JSON_NONE && json_is_text(event, token, text);
}

/* ── requests in flight ──────────────────────────────────────────────────────────────────────── */

static void in_flight_free(struct in_flight *request)
{
	if (!request)
		return;
	mcp_message_deinit(&request->message);
	free(request->line);
	free(request->question);
	free(request);
}

CLEANUP_DEFINE(in_flight, struct in_flight *, in_flight_free)

/* Find the request that a client's id @id means. Return its place, or NULL. */
static struct in_flight **find_id(struct mcp_ctl *mcp, struct text_view id)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i] && mcp_ids_equal(mcp->in_flight[i]->message.id, id))
			return &mcp->in_flight[i];
	return NULL;
}

/* Find the call whose call_id the member of @event is. */
static struct in_flight **find_in_flight(struct mcp_ctl *mcp, const struct json_tape *event)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i] && !mcp->in_flight[i]->is_listen &&
			has_event_text(event, "call_id", mcp->in_flight[i]->call_id))
			return &mcp->in_flight[i];
	return NULL;
}

static bool has_calls(const struct mcp_ctl *mcp)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i] && !mcp->in_flight[i]->is_listen)
			return true;
	return false;
}

/* Return a free place, or NULL. */
static struct in_flight **find_place(struct mcp_ctl *mcp)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (!mcp->in_flight[i])
			return &mcp->in_flight[i];
	return NULL;
}

/* Free the request at @place, which is over. The next line of a file may wait for its place, and
 * the end for it. */
static void drop_request(struct mcp_ctl *mcp, struct in_flight **place)
{
	in_flight_free(take_ptr(*place));
	if (mcp->is_file || mcp->has_ended)
		wake(mcp);
}

static void send_cancel(struct mcp_ctl *mcp, const struct in_flight *request)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (request->is_listen)
		return;
	ctl_request_begin(&data);
	ctl_request_member(&data, "call_id", request->call_id);
	ctl_request_end(&data);
	ctl_session_send(mcp->session, CANCEL_TOPIC, &data);
}

/* ── responses ───────────────────────────────────────────────────────────────────────────────── */

static void send_error(struct mcp_ctl *mcp, struct text_view id, const struct mcp_error *error)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_error(&out, id, error);
	put_line(mcp, &out);
}

/* Respond to the call @message with the @data of its answer. */
static void respond_call(struct mcp_ctl *mcp, const struct mcp_message *message, bool has_content,
	const struct json_tape *data)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	if (mcp_write_call_result(&out, message, &identity, data, has_content, &text, &error) != 0)
		send_error(mcp, message->id, &error);
	else
		put_line(mcp, &out);
}

/* Respond to the call @message with an error of ours, the text of an answer. */
static void fail_call(struct mcp_ctl *mcp, const struct mcp_message *message, const char *answer)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};

	if (json_tape_read(&data, answer, strlen(answer), 2, NULL) == 0)
		respond_call(mcp, message, false, &data);
}

/* ── the list of tools ───────────────────────────────────────────────────────────────────────── */

static void write_list_request(const struct mcp_ctl *mcp, struct buffer *data)
{
	ctl_request_begin(data);
	ctl_request_member(data, "format", "mcp");
	ctl_request_member(data, "profile", mcp->options->profile);
	ctl_request_end(data);
}

/* Ask for the list again; while a response is waited for, after that. */
static void begin_listing(struct mcp_ctl *mcp)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	mcp->is_stale = mcp->is_listing;
	if (mcp->is_stale)
		return;
	mcp->is_listing = true;
	write_list_request(mcp, &data);
	ctl_session_send(mcp->session, LIST_TOPIC, &data);
}

static void tell_changed(struct mcp_ctl *mcp)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	if (mcp->is_legacy) {
		mcp_write_list_changed(&out, (struct text_view){NULL, 0});
		put_line(mcp, &out);
	}
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++) {
		const struct in_flight *request = mcp->in_flight[i];

		if (!request || !request->is_listen || !request->message.wants_tool_changes)
			continue;
		mcp_write_list_changed(&out, request->message.id);
		put_line(mcp, &out);
	}
}

/* Take the list of @tape over, or complain. */
static void take_tool_list(struct mcp_ctl *mcp, const struct json_tape *tape)
{
	struct mcp_tools tools;
	uint64_t digest = mcp->tools.digest;
	int r = mcp_tools_make(tape, mcp->options->toolboxes, mcp->options->n_toolboxes, &tools);

	if (r < 0) {
		terminal_complain("the list of tools cannot be read: %s", strerror(-r));
		return;
	}
	mcp_tools_deinit(&mcp->tools);
	mcp->tools = tools;
	if (digest != 0 && digest != tools.digest)
		tell_changed(mcp);
}

/* Take the response to our request for the list; any other is not ours. */
static void take_list(struct mcp_ctl *mcp, const struct json_tape *event)
{
	if (!mcp->is_listing || !ctl_session_is_ours(mcp->session))
		return;
	mcp->is_listing = false;
	take_tool_list(mcp, event);
	if (mcp->is_stale)
		begin_listing(mcp);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Append @key and the value of @message at @token, if there is one. */
static void append_value(
	struct buffer *data, const char *key, const struct mcp_message *message, uint32_t token)
{
	size_t size;
	const char *text;

	if (token == JSON_NONE)
		return;
	text = json_value_text(&message->tape, token, &size);
	buffer_append_string(data, key);
	buffer_append(data, text, size);
}

/* Send the request for the call, which is in flight. Without a @tool of that name in the list the
 * service judges the name. */
static void send_call(
	struct mcp_ctl *mcp, const struct in_flight *request, const struct mcp_tool *tool)
{
	const struct mcp_message *message = &request->message;
	const struct ctl_options *options = mcp->options;
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_begin(&data);
	ctl_request_member(&data, "call_id", request->call_id);
	ctl_request_member(&data, "profile", options->profile);
	if (tool) {
		ctl_request_member(&data, "name", tool->name);
		ctl_request_member(&data, "toolbox_id", tool->toolbox_id);
	} else {
		append_value(&data, ",\"name\":", message, message->name);
		if (options->n_toolboxes == 1)
			ctl_request_member(&data, "toolbox_id", options->toolboxes[0]);
	}
	if (message->progress_token.text)
		ctl_request_flag(&data, "progress");
	append_value(&data, ",\"args\":", message, message->arguments);
	ctl_request_end(&data);
	ctl_session_send_numbered(mcp->session, INVOKE_TOPIC, &data, request->call_id);
}

/* Keep @request, which is taken over, in flight. Return whether there was a place. */
static bool keep_request(struct mcp_ctl *mcp, struct in_flight **request)
{
	struct in_flight **place = find_place(mcp);
	struct mcp_error error;

	if (find_id(mcp, (*request)->message.id)) {
		mcp_refuse(
			&error, MCP_INVALID_REQUEST, 400, "The id is that of a request in flight.");
		send_error(mcp, (*request)->message.id, &error);
		return false;
	}
	if (!place && (*request)->is_listen) {
		mcp_refuse(&error, MCP_INTERNAL_ERROR, 503, "Too many requests are in flight.");
		send_error(mcp, (*request)->message.id, &error);
	} else if (!place) {
		fail_call(mcp, &(*request)->message,
			"{\"error\":\"RuntimeError: 64 requests are in flight: wait for one.\","
			"\"code\":\"busy\"}");
	}
	if (place)
		*place = take_ptr(*request);
	return place != NULL;
}

static void begin_tool_call(struct mcp_ctl *mcp, struct in_flight **request)
{
	const struct mcp_message *message = &(*request)->message;
	const struct mcp_tool *tool = mcp_tools_find(&mcp->tools, &message->tape, message->name);
	const struct in_flight *kept = *request;
	bool is_first = !has_calls(mcp);
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	(*request)->has_content = tool && tool->has_content;
	if (!tool && mcp->options->n_toolboxes > 1) {
		buffer_append_string(&text, "Unknown tool: '");
		json_string_decode(&message->tape, message->name, &text);
		buffer_append_char(&text, '\'');
		mcp_refuse(&error, MCP_INVALID_PARAMS, 200, "Unknown tool");
		if (buffer_status(&text) == 0)
			error.message = (struct text_view){text.data, text.size};
		send_error(mcp, message->id, &error);
		return;
	}
	if (hex_write_id((*request)->call_id) < 0)
		fail_call(mcp, message,
			"{\"error\":\"RuntimeError: no random bytes\",\"code\":\"unavailable\"}");
	else if (keep_request(mcp, request))
		send_call(mcp, kept, tool);
	/* From now on the loop asks for it from time to time. */
	if (is_first)
		wake(mcp);
}

/* ── a service that starts again ─────────────────────────────────────────────────────────────── */

/* End a call whose response does not come any more. */
static void lose_call(struct mcp_ctl *mcp, struct in_flight **place)
{
	fail_call(mcp, &(*place)->message,
		"{\"error\":\"RuntimeError: The service was away; the tool may have run.\","
		"\"code\":\"unavailable\"}");
	drop_request(mcp, place);
}

/* Ask the service for its calls. When it has started again, and the bus has stayed, it does not
 * have those of before. */
static void ask_calls(struct mcp_ctl *mcp)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (!has_calls(mcp) || hex_write_id(mcp->asked) < 0)
		return;
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i])
			mcp->in_flight[i]->is_asked = true;
	ctl_request_begin(&data);
	ctl_request_member(&data, "state", "running");
	ctl_request_member(&data, "source", CTL_SOURCE);
	ctl_request_end(&data);
	ctl_session_send_numbered(mcp->session, CALLS_TOPIC, &data, mcp->asked);
}

/* Return whether the array @calls has the call of @request. */
static bool is_listed(
	const struct json_tape *event, uint32_t calls, const struct in_flight *request)
{
	json_each(at, event, calls) {
		uint32_t id = json_type_at(event, at) == JSON_OBJECT
				      ? json_find(event, at, "call_id")
				      : JSON_NONE;

		if (id != JSON_NONE && json_type_at(event, id) == JSON_STRING &&
			json_string_equals(event, id, request->call_id, HEX_ID_CHARS))
			return true;
	}
	return false;
}

/* Take the response to the last request for calls. One that has ended had its response before. */
static void take_calls(struct mcp_ctl *mcp, const struct json_tape *event)
{
	uint32_t calls = json_find(event, 0, "calls");

	if (!ctl_session_has_number(mcp->session, mcp->asked) || calls == JSON_NONE ||
		json_type_at(event, calls) != JSON_ARRAY)
		return;
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++) {
		const struct in_flight *request = mcp->in_flight[i];

		if (request && request->is_asked && !request->is_listen &&
			!is_listed(event, calls, request))
			lose_call(mcp, &mcp->in_flight[i]);
	}
}

/* ── calls that end ──────────────────────────────────────────────────────────────────────────── */

/* Find the call that the message is the response to. Its data has no call_id when the request could
 * not be read. */
static struct in_flight **find_responded(struct mcp_ctl *mcp)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i] && !mcp->in_flight[i]->is_listen &&
			ctl_session_has_number(mcp->session, mcp->in_flight[i]->call_id))
			return &mcp->in_flight[i];
	return NULL;
}

static void take_result(struct mcp_ctl *mcp, const struct json_tape *event)
{
	struct in_flight **place = find_responded(mcp);

	if (!place)
		return;
	respond_call(mcp, &(*place)->message, (*place)->has_content, event);
	drop_request(mcp, place);
}

static void tell_progress(
	struct mcp_ctl *mcp, struct in_flight *request, double value, struct text_view text)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	if (request->message.progress_token.text &&
		mcp_write_progress(
			&out, &request->progress, request->message.progress_token, value, text))
		put_line(mcp, &out);
}

static void pass_progress(struct mcp_ctl *mcp, const struct json_tape *event)
{
	struct in_flight **place = find_in_flight(mcp, event);
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t progress = json_find(event, 0, "progress");
	uint32_t said = json_find(event, 0, "text");
	double value = -1;

	/* A question is reported again and again, see tell_asking(). */
	if (!place || has_event_text(event, "state", "waiting"))
		return;
	if (progress != JSON_NONE && json_type_at(event, progress) == JSON_NUMBER &&
		json_number_f64(event, progress, &value) != 0)
		value = -1;
	if (said != JSON_NONE && json_type_at(event, said) == JSON_STRING)
		json_string_decode(event, said, &text);
	tell_progress(mcp, *place, value, (struct text_view){text.data, text.size});
}

/* ── a person who is asked ───────────────────────────────────────────────────────────────────── */

/* Report to the client which calls wait for a person. Return whether there are any. */
static bool tell_asking(struct mcp_ctl *mcp)
{
	bool is_asking = false;

	for (size_t i = 0; i < IN_FLIGHT_MAX; i++) {
		struct in_flight *request = mcp->in_flight[i];

		if (!request || !request->question || !request->message.progress_token.text)
			continue;
		is_asking = true;
		tell_progress(mcp, request, -1, TEXT_VIEW(APPROVAL_REPORT_TEXT));
	}
	return is_asking;
}

static void take_question(struct mcp_ctl *mcp, const struct json_tape *event)
{
	struct in_flight **place = find_in_flight(mcp, event);
	uint32_t id = json_find(event, 0, "id");

	if (!place || (*place)->question || id == JSON_NONE ||
		json_type_at(event, id) != JSON_STRING)
		return;
	(*place)->question = json_string_dup(event, id, NULL);
	wake(mcp);
}

static void take_resolution(struct mcp_ctl *mcp, const struct json_tape *event)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++) {
		struct in_flight *request = mcp->in_flight[i];

		if (request && request->question && has_event_text(event, "id", request->question))
			free(take_ptr(request->question));
	}
}

static void take_call_event(void *data, const char *topic, const struct json_tape *event)
{
	struct mcp_ctl *mcp = data;
	static const struct {
		const char *topic;
		void (*take)(struct mcp_ctl *mcp, const struct json_tape *event);
	} events[] = {
		{INVOKE_RESPONSE, take_result},
		{PROGRESS_TOPIC, pass_progress},
		{LIST_RESPONSE, take_list},
		{CALLS_RESPONSE, take_calls},
		{REQUESTED_TOPIC, take_question},
		{RESOLVED_TOPIC, take_resolution},
	};

	if (event->count == 0 || json_type_at(event, 0) != JSON_OBJECT || mcp->is_over)
		return;
	if (strcmp(topic, CHANGED_TOPIC) == 0)
		begin_listing(mcp);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (strcmp(topic, events[i].topic) == 0)
			events[i].take(mcp, event);
}

/* ── messages of the client ──────────────────────────────────────────────────────────────────── */

static void begin_listen(struct mcp_ctl *mcp, struct in_flight **request)
{
	const struct in_flight *kept = *request;
	cleanup(buffer_deinit) struct buffer out = {0};

	(*request)->is_listen = true;
	if (!keep_request(mcp, request))
		return;
	mcp_write_acknowledged(&out, kept->message.id, kept->message.wants_tool_changes);
	put_line(mcp, &out);
}

static void list_tools(struct mcp_ctl *mcp, const struct mcp_message *message)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct mcp_error error;

	if (mcp_write_tools(&out, message, &identity, mcp->tools.texts, mcp->tools.n_items,
		    mcp->tools.digest, &error) != 0)
		send_error(mcp, message->id, &error);
	else
		put_line(mcp, &out);
}

static void write_response(struct mcp_ctl *mcp, const struct mcp_message *message,
	void (*write)(struct buffer *, const struct mcp_message *, const struct mcp_server *))
{
	cleanup(buffer_deinit) struct buffer out = {0};

	write(&out, message, &identity);
	put_line(mcp, &out);
}

static void take_client_request(struct mcp_ctl *mcp, struct in_flight **request)
{
	const struct mcp_message *message = &(*request)->message;

	switch (message->method) {
	case MCP_INITIALIZE:
		mcp->is_legacy = true;
		mcp->has_greeted = true;
		write_response(mcp, message, mcp_write_initialize);
		return;
	case MCP_DISCOVER:
		mcp->has_greeted = true;
		write_response(mcp, message, mcp_write_discover);
		return;
	case MCP_TOOLS_LIST:
		mcp->has_greeted = true;
		list_tools(mcp, message);
		return;
	case MCP_TOOLS_CALL:
		begin_tool_call(mcp, request);
		return;
	case MCP_LISTEN:
		begin_listen(mcp, request);
		return;
	default:
		write_response(mcp, message, mcp_write_pong);
	}
}

/* Cancel a request: no response to it follows. */
static void take_cancelled(struct mcp_ctl *mcp, const struct mcp_message *message)
{
	struct in_flight **place =
		message->request_id.text ? find_id(mcp, message->request_id) : NULL;

	if (!place)
		return;
	send_cancel(mcp, *place);
	in_flight_free(take_ptr(*place));
}

static void take_client_line(void *data, const char *text, size_t size)
{
	struct mcp_ctl *mcp = data;
	cleanup(in_flight_cleanup) struct in_flight *request = calloc(1, sizeof(*request));
	struct mcp_error error;
	int r = -ENOMEM;

	if (mcp->is_over)
		return;
	if (request && !text) {
		r = mcp_refuse(&error, MCP_INVALID_REQUEST, 413, "The message is too long.");
	} else if (request && (request->line = strndup(text, size))) {
		r = mcp_message_read(&request->message, request->line, strlen(request->line),
			MCP_DEPTH_MAX, &error);
		r = r ? r : mcp_message_check(&request->message, NULL, &error);
	}
	if (r < 0)
		terminal_complain("a message was dropped: %s", strerror(-r));
	else if (r > 0 && request->message.kind == MCP_REQUEST)
		send_error(mcp, request->message.id, &error);
	else if (r == 0 && request->message.kind == MCP_REQUEST)
		take_client_request(mcp, &request);
	else if (r == 0 && request->message.method == MCP_CANCELLED)
		take_cancelled(mcp, &request->message);
}

/* Cancel the calls in flight: no reader of their responses is left. */
static bool lose_readers(void *data)
{
	leave(data, CTL_DONE);
	return false;
}

static void end_input(struct mcp_ctl *mcp)
{
	mcp->has_ended = true;
	if (mcp->is_client)
		mcp->stop_ms = clock_now_ms() + MCP_STOP_MS;
	ctl_session_watch_readers(mcp->session, STDOUT_FILENO, lose_readers, mcp);
	wake(mcp);
}

/* Return whether nothing can be read now, nor has the input ended. */
static bool is_input_empty(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) == 0;
}

static bool read_input(void *data)
{
	struct mcp_ctl *mcp = data;
	bool had_paused = mcp->has_paused;

	if (!lines_read(&mcp->lines, STDIN_FILENO, take_client_line, mcp)) {
		end_input(mcp);
		return false;
	}
	mcp->is_client = had_paused;
	mcp->has_paused = had_paused || (mcp->has_greeted && is_input_empty());
	return true;
}

/* Take lines of the file that stdin is, for as long as their requests have a place. Return whether
 * there are more lines to take at once. */
static bool take_file(struct mcp_ctl *mcp)
{
	int r = 1;

	for (size_t i = 0; i < FILE_LINES && r == 1 && !mcp->is_over && find_place(mcp); i++)
		r = lines_next(&mcp->lines, STDIN_FILENO, take_client_line, mcp);
	if (r < 0) {
		terminal_complain("stdin cannot be read: %s", strerror(-r));
		leave(mcp, CTL_USAGE);
	} else if (r == 0) {
		end_input(mcp);
	}
	return r == 1 && find_place(mcp);
}

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

/* The connection was lost, and is there again: responses of before do not come any more. */
static void begin_again(struct mcp_ctl *mcp)
{
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		if (mcp->in_flight[i] && !mcp->in_flight[i]->is_listen)
			lose_call(mcp, &mcp->in_flight[i]);
	mcp->is_listing = false;
	begin_listing(mcp);
}

/* End what is in flight: calls without a response, a listen with its result. */
static void end_all(struct mcp_ctl *mcp)
{
	bool has_sent = false;

	for (size_t i = 0; i < IN_FLIGHT_MAX; i++) {
		struct in_flight *request = take_ptr(mcp->in_flight[i]);

		if (!request)
			continue;
		has_sent = has_sent || !request->is_listen;
		send_cancel(mcp, request);
		if (request->is_listen)
			write_response(mcp, &request->message, mcp_write_pong);
		in_flight_free(request);
	}
	if (has_sent)
		ctl_session_wait(mcp->session, LEAVE_MS);
}

/* Get the first list: without a service there is nothing to serve. */
static int ask_first_list(struct mcp_ctl *mcp)
{
	cleanup(ctl_response_deinit) struct ctl_response listed = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	write_list_request(mcp, &data);
	r = ctl_session_ask(mcp->session, LIST_TOPIC, &data, &listed);
	if (r == CTL_DONE && ctl_response_status(&listed) != CTL_DONE) {
		ctl_response_complain(&listed);
		r = CTL_ERROR;
	}
	if (r == CTL_DONE)
		take_tool_list(mcp, &listed.tape);
	return r;
}

static bool has_tools_of(const struct mcp_tools *tools, const char *toolbox_id)
{
	for (size_t i = 0; i < tools->n_items; i++)
		if (strcmp(tools->items[i].toolbox_id, toolbox_id) == 0)
			return true;
	return false;
}

/* Complain about each --toolbox that is not there. It may come later, so the server goes on. */
static void check_toolboxes(const struct mcp_ctl *mcp)
{
	const struct ctl_options *options = mcp->options;

	for (size_t i = 0; i < options->n_toolboxes; i++)
		if (!has_tools_of(&mcp->tools, options->toolboxes[i]))
			status_expect_toolbox(mcp->session, options->toolboxes[i]);
}

/* Leave when the calls of before the end of the input are over, or their time is. Return the
 * shorter of the time until then and @wait_ms. */
static uint64_t await_end(struct mcp_ctl *mcp, uint64_t wait_ms)
{
	uint64_t now_ms = clock_now_ms();

	if (!has_calls(mcp) || (mcp->stop_ms > 0 && now_ms >= mcp->stop_ms))
		leave(mcp, CTL_DONE);
	else if (mcp->stop_ms > 0 && mcp->stop_ms - now_ms < wait_ms)
		wait_ms = mcp->stop_ms - now_ms;
	return wait_ms;
}

static int serve_client(struct mcp_ctl *mcp)
{
	static const char *const topics[] = {INVOKE_RESPONSE, PROGRESS_TOPIC, LIST_RESPONSE,
		CALLS_RESPONSE, REQUESTED_TOPIC, RESOLVED_TOPIC, CHANGED_TOPIC};
	int r = ask_first_list(mcp);

	if (r == CTL_DONE)
		check_toolboxes(mcp);
	if (r == CTL_DONE)
		r = ctl_session_interrupts(mcp->session, NULL, NULL, NULL);
	if (r != CTL_DONE)
		return r;
	ctl_session_listen(mcp->session, topics, ARRAY_SIZE(topics), take_call_event, mcp);
	ctl_session_stay(mcp->session);
	r = ctl_session_read(mcp->session, STDIN_FILENO, read_input, mcp);
	mcp->is_file = r == -EPERM;
	r = mcp->is_file ? CTL_DONE : r;
	while (r == CTL_DONE && !mcp->is_over && !ctl_session_signal(mcp->session)) {
		uint64_t began_ms = clock_now_ms();
		uint64_t wait_ms =
			tell_asking(mcp) || has_calls(mcp) ? APPROVAL_REPORT_MS : LONG_MS;

		mcp->has_woken = false;
		if (mcp->is_file && !mcp->has_ended && take_file(mcp))
			wait_ms = 0;
		if (mcp->has_ended)
			wait_ms = await_end(mcp, wait_ms);
		if (mcp->is_over)
			break;
		r = ctl_session_wait(mcp->session, wait_ms);
		if (r != CTL_DONE || mcp->has_woken || ctl_session_signal(mcp->session))
			continue;
		if (clock_now_ms() - began_ms < wait_ms)
			begin_again(mcp);
		else if (wait_ms > 0)
			ask_calls(mcp);
	}
	if (r == CTL_DONE)
		end_all(mcp);
	return r == CTL_DONE ? mcp->status : r;
}

static int open_session(
	const struct ctl_options *options, struct private_service **service, struct mcp_ctl *mcp)
{
	struct config_flags flags = {.keeps_approval = true};
	struct ctl_options patient = *options;
	int r;

	if (!options->standalone && options->toolbox_dir) {
		terminal_complain("--toolbox-dir needs --standalone");
		return CTL_USAGE;
	}
	if (!options->standalone) {
		r = ctl_session_open(options, &mcp->session);
		if (r != 0 || !ctl_session_is_http(mcp->session))
			return r;
		terminal_complain("over HTTP the service itself has MCP, at /mcp");
		return CTL_USAGE;
	}
	r = private_expect_folder(options->toolbox_dir);
	if (r != 0)
		return r;
	if (options->toolbox_dir) {
		flags.toolbox_dirs = &options->toolbox_dir;
		flags.n_toolbox_dirs = 1;
	}
	patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	r = private_service_start(&flags, service);
	return r ? r : ctl_session_open_at(&patient, &(*service)->address, &mcp->session);
}

int ctl_mcp(const struct ctl_options *options)
{
	cleanup(private_service_cleanup) struct private_service *service = NULL;
	struct mcp_ctl mcp = {.options = options};
	int r = open_session(options, &service, &mcp);

	if (r == CTL_DONE)
		r = serve_client(&mcp);
	for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
		in_flight_free(mcp.in_flight[i]);
	ctl_session_close(mcp.session);
	mcp_tools_deinit(&mcp.tools);
	buffer_deinit(&mcp.lines.bytes);
	return r;
}
