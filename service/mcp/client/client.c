/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "json/reader.h"
#include "json/surrogates.h"
#include "mcp/client/client_state.h"
#include "mcp/client/discovery.h"
#include "mcp/client/given_up.h"
#include "mcp/client/pages.h"
#include "mcp/client/progress.h"
#include "mcp/client/request.h"
#include "mcp/client/result.h"
#include "mcp/client/salvage.h"
#include "mcp/client/silence.h"
#include "json/member.h"
#include "mcp/message.h"
#include "mcp/response.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"

/*
 * The states of a session. MCP_ACT_READY follows the move to READY; MCP_ACT_OVER precedes the move
 * to OVER.
 *
 *   BEGUN ──▶ PROBING ── a result of server/discover ─────────────▶ READY
 *     │         │  └─ refused, with a modern version named ──┐
 *     │         │ an error, or silence                       ▼
 *     │         ▼                                      PROBING_AGAIN ── a result ──▶ READY
 *     └──▶ INITIALIZING                                      ▲
 *           ▲   │  └─ refused, after such a silence ─────────┘
 *           │   └─ a result of initialize, or a late one of server/discover ──▶ READY
 *           └─ the server has forgotten the session ── READY
 *
 *   each state ── refused, the time is over, or mcp_client_end() ──▶ OVER
 */

#define BACK_OFF_LEAST_MS 1000
#define BACK_OFF_MOST_MS  60000

#define NEVER UINT64_MAX

/* The memory that is kept for the next message. */
#define KEPT_TOKENS 4096
#define KEPT_BYTES  ((size_t)64 << 10)

/* A positive result: what was received is no message. */
#define UNREADABLE 1

struct call {
	uint64_t id;         /* the id of its request; 0: this place is free */
	uint64_t name;       /* the caller's */
	uint64_t n_messages; /* that the server had sent when the call began */
	bool is_plain;       /* it is no tools/call */
};

struct mcp_client {
	struct mcp_client_options options;
	enum mcp_client_state state;
	enum mcp_era era;
	uint64_t last_id;
	struct mcp_silence silence;

	/* the handshake */
	uint64_t discover_id;
	uint64_t first_discover_id; /* while there is a later one */
	uint64_t initialize_id;
	bool was_silent; /* server/discover had no response in time, or was not sent */
	uint64_t probe_due_ms;
	uint64_t handshake_due_ms;

	/* the list; requests that are not in flight have the id 0 */
	struct mcp_pages pages;
	uint64_t list_id;
	uint64_t page_due_ms;
	uint64_t list_at_ms; /* when to begin the next one */
	uint64_t began_ms;   /* when the last one began */
	uint64_t listed_ms;
	uint64_t ttl_ms;
	uint64_t list_wait_ms; /* after the last failure */
	bool is_again;         /* the list is read again because a cursor was refused */

	/* the subscription */
	uint64_t listen_id;
	uint64_t listen_at_ms;
	uint64_t listen_wait_ms;
	uint64_t listened_ms; /* when it was acknowledged */
	bool is_listening;    /* it is acknowledged */
	bool was_listening;   /* it was, earlier in this session */
	bool has_stream;
	bool had_stream; /* earlier in this session */

	struct call *calls;
	struct mcp_given_up given_up;
	uint64_t answered_id; /* the request with whose response a message came over HTTP; or 0 */
	struct mcp_message message;
	struct buffer out;
	struct buffer text;
};

/* Change the state, the only place where that is done. */
static void client_move(struct mcp_client *client, enum mcp_client_state to)
{
	client->state = mcp_client_state_move(client->state, to);
}

/* ── actions ─────────────────────────────────────────────────────────────────────────────────── */

static void act(struct mcp_client *client, const struct mcp_action *action)
{
	client->options.act(client->options.data, action);
}

static void report_note(struct mcp_client *client, const char *reason)
{
	act(client, &(struct mcp_action){.kind = MCP_ACT_NOTE, .reason = reason});
}

/* Begin a message. */
static struct buffer *begin_message(struct mcp_client *client)
{
	buffer_recycle(&client->out, KEPT_BYTES);
	return &client->out;
}

/* Send the message that was written. @id: of a request, else 0. */
static int send_message(struct mcp_client *client, const char *method, uint64_t id)
{
	if (buffer_status(&client->out) < 0)
		return buffer_status(&client->out);
	act(client, &(struct mcp_action){.kind = MCP_ACT_SEND,
			    .text = {client->out.data, client->out.size},
			    .method = method,
			    .request_id = id,
			    .era = client->era});
	return 0;
}

/* Return the frame of a request with a new id. */
static struct mcp_request new_request(struct mcp_client *client)
{
	return (struct mcp_request){++client->last_id, client->era, client->options.version};
}

/* Give up the request *@id, and notify the server. */
static int cancel_request(struct mcp_client *client, uint64_t *id, const char *reason)
{
	uint64_t cancelled = *id;
	int r = 0;

	mcp_give_up(&client->given_up, id);
	if (!client->options.is_http || client->era == MCP_LEGACY) {
		mcp_request_cancelled(begin_message(client), cancelled, reason);
		r = send_message(client, "notifications/cancelled", 0);
	}
	if (client->options.is_http)
		act(client, &(struct mcp_action){.kind = MCP_ACT_CLOSE, .request_id = cancelled});
	return r;
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

static void end_calls(struct mcp_client *client)
{
	for (unsigned int i = 0; i < client->options.workers; i++) {
		struct call *call = &client->calls[i];

		if (call->id == 0)
			continue;
		mcp_give_up(&client->given_up, &call->id);
		act(client, &(struct mcp_action){.kind = MCP_ACT_LOST, .call = call->name});
	}
}

void mcp_client_end(struct mcp_client *client)
{
	if (client->state == MCP_CLIENT_OVER)
		return;
	client_move(client, MCP_CLIENT_OVER);
	mcp_pages_reset(&client->pages);
	end_calls(client);
}

static void end_session(struct mcp_client *client, const char *reason)
{
	act(client, &(struct mcp_action){.kind = MCP_ACT_OVER, .reason = reason});
	mcp_client_end(client);
}

/* ── waits ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the moment after the wait *@wait_ms, which is doubled for the next time. */
static uint64_t back_off(const struct mcp_client *client, uint64_t *wait_ms, uint64_t now_ms)
{
	uint64_t wait = *wait_ms > 0 ? *wait_ms : BACK_OFF_LEAST_MS;

	*wait_ms = 2 * wait < BACK_OFF_MOST_MS ? 2 * wait : BACK_OFF_MOST_MS;
	return now_ms + wait + wait * client->options.jitter_percent / 100;
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

/* Want the list again, as soon as it may be read. */
static void want_list(struct mcp_client *client)
{
	uint64_t at_ms = client->began_ms + MCP_LIST_LEAST_MS;

	if (client->list_at_ms > at_ms)
		client->list_at_ms = at_ms;
}

static int request_page(struct mcp_client *client, struct text_view cursor, uint64_t now_ms)
{
	struct mcp_request request = new_request(client);

	mcp_request_list(begin_message(client), &request, cursor);
	check(client->state == MCP_CLIENT_READY && client->list_id == 0);
	client->list_id = request.id;
	client->page_due_ms = now_ms + MCP_LIST_MS;
	return send_message(client, "tools/list", request.id);
}

static int begin_list(struct mcp_client *client, uint64_t now_ms)
{
	mcp_pages_reset(&client->pages);
	client->list_at_ms = NEVER;
	client->began_ms = now_ms;
	client->ttl_ms = 0;
	return request_page(client, (struct text_view){NULL, 0}, now_ms);
}

/* The list could not be read, because of @reason. */
static void fail_list(struct mcp_client *client, const char *reason, uint64_t now_ms)
{
	client->list_at_ms = back_off(client, &client->list_wait_ms, now_ms);
	client->is_again = false;
	mcp_pages_reset(&client->pages);
	act(client, &(struct mcp_action){.kind = MCP_ACT_NO_TOOLS, .reason = reason});
}

static int end_list(struct mcp_client *client, uint64_t now_ms)
{
	struct text_view tools = mcp_pages_end(&client->pages);

	if (buffer_status(&client->pages.tools) < 0)
		return buffer_status(&client->pages.tools);
	client->listed_ms = now_ms;
	client->ttl_ms = client->pages.ttl_ms;
	if (client->ttl_ms > 0 && client->ttl_ms < MCP_TTL_LEAST_MS)
		client->ttl_ms = MCP_TTL_LEAST_MS;
	client->list_wait_ms = 0;
	client->is_again = false;
	act(client, &(struct mcp_action){
			    .kind = MCP_ACT_TOOLS, .text = tools, .reason = client->pages.reason});
	mcp_pages_reset(&client->pages);
	return 0;
}

/* Return `SUBJECT: MESSAGE`, the message being that of the error that was received; NULL without
 * memory. */
static const char *write_error_reason(struct mcp_client *client, const char *subject)
{
	buffer_recycle(&client->text, KEPT_BYTES);
	mcp_discovery_write_error(&client->message.tape, subject, &client->text);
	return buffer_terminate(&client->text);
}

/* Return the object `result` of the message, or JSON_NONE: it is an error. */
static uint32_t find_result(const struct mcp_client *client)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t result = json_find_root(tape, "result");

	return result != JSON_NONE && json_type_at(tape, result) == JSON_OBJECT &&
			       json_find_root(tape, "error") == JSON_NONE
		       ? result
		       : JSON_NONE;
}

static int take_page(struct mcp_client *client, size_t size, uint64_t now_ms)
{
	struct text_view cursor;
	uint32_t result = find_result(client);
	enum mcp_page_status status;
	const char *reason;

	client->list_id = 0;
	/* A cursor that is refused is one of an earlier list: the tools have changed since its
	 * first page. */
	if (result == JSON_NONE && client->pages.n_pages > 0 && !client->is_again &&
		mcp_discovery_error_code(&client->message.tape) == MCP_INVALID_PARAMS) {
		client->is_again = true;
		return begin_list(client, now_ms);
	}
	status = mcp_pages_add(&client->pages, &client->message.tape, result, size, &cursor);
	if (buffer_status(&client->pages.tools) < 0)
		return buffer_status(&client->pages.tools);
	switch (status) {
	case MCP_PAGE_MORE:
		return request_page(client, cursor, now_ms);
	case MCP_PAGE_LAST:
		return end_list(client, now_ms);
	case MCP_PAGE_WRONG:
		break;
	}
	reason = write_error_reason(client, "it has not listed its tools");
	if (!reason)
		return -ENOMEM;
	fail_list(client, reason, now_ms);
	return 0;
}

/* ── the subscription ────────────────────────────────────────────────────────────────────────── */

static int begin_listen(struct mcp_client *client)
{
	struct mcp_request request = new_request(client);

	check(client->state == MCP_CLIENT_READY && client->listen_id == 0);
	mcp_request_listen(begin_message(client), &request);
	client->listen_at_ms = NEVER;
	client->listen_id = request.id;
	return send_message(client, "subscriptions/listen", request.id);
}

/* The subscription has ended. A server that refuses it is not asked again. */
static void end_listen(struct mcp_client *client, bool is_refused, uint64_t now_ms)
{
	/* One that lasts is not what a server ends at once, and again and again. */
	if (client->is_listening && now_ms - client->listened_ms >= client->listen_wait_ms)
		client->listen_wait_ms = 0;
	client->listen_id = 0;
	client->is_listening = false;
	if (!is_refused)
		client->listen_at_ms = back_off(client, &client->listen_wait_ms, now_ms);
}

/* Changes between two subscriptions were not notified, so the list is read after the later one
 * begins. */
static void take_acknowledgement(struct mcp_client *client, uint64_t now_ms)
{
	if (client->listen_id == 0 || client->is_listening)
		return;
	if (client->was_listening)
		want_list(client);
	client->is_listening = true;
	client->was_listening = true;
	client->listened_ms = now_ms;
}

/* ── the handshake ───────────────────────────────────────────────────────────────────────────── */

static int request_discover(struct mcp_client *client, enum mcp_client_state state)
{
	struct mcp_request request = {++client->last_id, MCP_MODERN, client->options.version};

	client_move(client, state);
	client->era = MCP_MODERN;
	mcp_request_discover(begin_message(client), &request);
	client->first_discover_id = client->discover_id;
	client->discover_id = request.id;
	return send_message(client, "server/discover", request.id);
}

static int request_initialize(struct mcp_client *client)
{
	struct mcp_request request = {++client->last_id, MCP_LEGACY, client->options.version};

	client_move(client, MCP_CLIENT_INITIALIZING);
	client->era = MCP_LEGACY;
	mcp_request_initialize(begin_message(client), &request);
	client->initialize_id = request.id;
	return send_message(client, "initialize", request.id);
}

static int begin_handshake(struct mcp_client *client, uint64_t now_ms)
{
	client->handshake_due_ms = now_ms + client->options.start_ms;
	client->was_silent = client->options.is_legacy;
	if (client->options.is_legacy)
		return request_initialize(client);
	client->probe_due_ms = client->options.is_http ? NEVER : now_ms + MCP_PROBE_MS;
	return request_discover(client, MCP_CLIENT_PROBING);
}

/* The handshake is done: the server speaks @version, of the era of the client. */
static int begin_session(
	struct mcp_client *client, const char *version, bool is_verdict, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t result = find_result(client);
	bool has_changes = mcp_discovery_has_changes(tape, result);
	int r = 0;

	client_move(client, MCP_CLIENT_READY);
	mcp_give_up(&client->given_up, &client->discover_id);
	mcp_give_up(&client->given_up, &client->first_discover_id);
	mcp_give_up(&client->given_up, &client->initialize_id);
	act(client, &(struct mcp_action){.kind = MCP_ACT_READY,
			    .era = client->era,
			    .version = version,
			    .is_verdict = is_verdict,
			    .has_changes = has_changes,
			    .has_resources = mcp_discovery_has_resources(tape, result)});
	if (client->era == MCP_LEGACY) {
		mcp_request_initialized(begin_message(client));
		r = send_message(client, "notifications/initialized", 0);
	} else if (has_changes) {
		r = begin_listen(client);
	}
	return r == 0 ? begin_list(client, now_ms) : r;
}

/* initialize was refused; so was server/discover, or it is sent once more. @reason: NULL without
 * memory. */
static int take_refusal(struct mcp_client *client, const char *reason)
{
	client->initialize_id = 0;
	if (client->was_silent) {
		client->was_silent = false;
		return request_discover(client, MCP_CLIENT_PROBING_AGAIN);
	}
	if (!reason)
		return -ENOMEM;
	end_session(client, reason);
	return 0;
}

static const char *write_refusal(struct mcp_client *client)
{
	return write_error_reason(client, "it has refused server/discover and initialize");
}

/* @id: the one of the two requests that has this response. */
static int take_discover(struct mcp_client *client, uint64_t *id, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	bool is_first = id == &client->first_discover_id;

	*id = 0;
	if (mcp_discovery_has_modern(tape, find_result(client))) {
		client->era = MCP_MODERN;
		return begin_session(client, MCP_VERSION_MODERN, true, now_ms);
	}
	if (client->state == MCP_CLIENT_PROBING &&
		mcp_discovery_names_modern(&client->message.tape))
		return request_discover(client, MCP_CLIENT_PROBING_AGAIN);
	if (client->state == MCP_CLIENT_PROBING)
		return request_initialize(client);
	/* A late refusal: the request that was sent after it decides. */
	client->was_silent = false;
	return client->state == MCP_CLIENT_PROBING_AGAIN && !is_first
		       ? take_refusal(client, write_refusal(client))
		       : 0;
}

static int take_initialize(struct mcp_client *client, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t version =
		json_find_typed(tape, find_result(client), "protocolVersion", JSON_STRING);
	cleanup(buffer_deinit) struct buffer name = {0};
	const char *known;

	if (version != JSON_NONE)
		json_string_decode(tape, version, &name);
	if (buffer_status(&name) < 0)
		return -ENOMEM;
	known = name.data ? mcp_version_legacy(name.data, name.size) : NULL;
	if (!known)
		return take_refusal(client, write_refusal(client));
	return begin_session(
		client, known, !client->was_silent || client->options.is_legacy, now_ms);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the call whose request has @id, or NULL. */
static struct call *find_request(const struct mcp_client *client, uint64_t id)
{
	for (unsigned int i = 0; id != 0 && i < client->options.workers; i++)
		if (client->calls[i].id == id)
			return &client->calls[i];
	return NULL;
}

/* Return the call with the caller's @name, or NULL. */
static struct call *find_call(const struct mcp_client *client, uint64_t name)
{
	for (unsigned int i = 0; i < client->options.workers; i++)
		if (client->calls[i].id != 0 && client->calls[i].name == name)
			return &client->calls[i];
	return NULL;
}

static struct call *find_free(const struct mcp_client *client)
{
	for (unsigned int i = 0; i < client->options.workers; i++)
		if (client->calls[i].id == 0)
			return &client->calls[i];
	return NULL;
}

/* Begin the request of a call: of @tool, or with @method (NULL: tools/call). */
static int begin_call(struct mcp_client *client, uint64_t name, const char *method,
	struct text_view tool, struct text_view arguments)
{
	struct call *call = find_free(client);
	struct mcp_request request;

	if (client->state != MCP_CLIENT_READY)
		return MCP_E_UNREADY;
	if (!call)
		return MCP_E_BUSY;
	check(!find_call(client, name));
	request = new_request(client);
	if (method)
		mcp_request_ask(begin_message(client), &request, method, arguments);
	else
		mcp_request_call(begin_message(client), &request, tool, arguments);
	if (buffer_status(&client->out) < 0)
		return buffer_status(&client->out);
	*call = (struct call){request.id, name, client->silence.n_messages, method};
	return send_message(client, method ? method : "tools/call", request.id);
}

int mcp_client_call(
	struct mcp_client *client, uint64_t name, struct text_view tool, struct text_view arguments)
{
	return begin_call(client, name, NULL, tool, arguments);
}

int mcp_client_ask(
	struct mcp_client *client, uint64_t name, const char *method, struct text_view params)
{
	return begin_call(client, name, method, (struct text_view){NULL, 0}, params);
}

int mcp_client_cancel(struct mcp_client *client, uint64_t name, bool is_late, uint64_t now_ms)
{
	struct call *call = find_call(client, name);
	struct mcp_request request;
	uint64_t n_messages;
	int r;

	if (!call)
		return 0;
	n_messages = call->n_messages;
	r = cancel_request(client, &call->id, is_late ? "timeout" : "cancelled");
	if (r || !is_late || client->state != MCP_CLIENT_READY ||
		!mcp_silence_note(&client->silence, n_messages))
		return r;
	mcp_give_up(&client->given_up, &client->silence.ping_id);
	request = new_request(client);
	mcp_silence_ping(&client->silence, request.id, now_ms);
	return send_message(client, mcp_request_ping(begin_message(client), &request), request.id);
}

static int end_call(struct mcp_client *client, struct call *call)
{
	const struct json_tape *tape = &client->message.tape;
	struct mcp_action action = {.call = call->name};
	bool is_unknown = false;
	enum mcp_end end;

	call->id = 0;
	buffer_recycle(&client->text, KEPT_BYTES);
	end = call->is_plain ? mcp_read_plain_end(tape, &client->text)
			     : mcp_read_end(tape, &client->text, &is_unknown);
	if (buffer_status(&client->text) < 0)
		return buffer_status(&client->text);
	action.kind = end == MCP_END_RESULT ? MCP_ACT_RESULT : MCP_ACT_FAILED;
	action.text = (struct text_view){client->text.data, client->text.size};
	act(client, &action);
	if (is_unknown)
		want_list(client);
	return 0;
}

static int take_progress(struct mcp_client *client)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t params = client->message.params;
	uint32_t token = json_find_typed(tape, params, "progressToken", JSON_NUMBER);
	uint32_t message = json_find_typed(tape, params, "message", JSON_STRING);
	uint64_t id = 0;
	struct call *call;
	struct mcp_action action = {.kind = MCP_ACT_PROGRESS};

	if (token != JSON_NONE && json_number_u64(tape, token, &id) != 0)
		id = 0;
	call = find_request(client, id);
	if (!call)
		return 0;
	buffer_recycle(&client->text, KEPT_BYTES);
	if (message != JSON_NONE) {
		json_string_decode(tape, message, &client->text);
		action.text = (struct text_view){client->text.data, client->text.size};
	}
	if (buffer_status(&client->text) < 0)
		return buffer_status(&client->text);
	action.call = call->name;
	action.progress = mcp_progress_share(tape, params);
	act(client, &action);
	return 0;
}

/* ── messages of the server ──────────────────────────────────────────────────────────────────── */

/* Report a response to a request that is not in flight: its second one, or that of another
 * program. */
static int note_response(struct mcp_client *client)
{
	buffer_recycle(&client->text, KEPT_BYTES);
	mcp_write_stranger(client->message.id, &client->text);
	if (!buffer_terminate(&client->text))
		return -ENOMEM;
	report_note(client, client->text.data);
	return 0;
}

/* Return the id of the only request in flight that has to be answered; 0: there are several, or
 * none. */
static uint64_t only_request(const struct mcp_client *client)
{
	const uint64_t others[] = {client->discover_id, client->first_discover_id,
		client->initialize_id, client->list_id, client->silence.ping_id};
	uint64_t only = 0;
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] != 0) {
			only = others[i];
			n++;
		}
	for (unsigned int i = 0; i < client->options.workers; i++)
		if (client->calls[i].id != 0) {
			only = client->calls[i].id;
			n++;
		}
	return n == 1 ? only : 0;
}

/* Return the id of the response; 0: none of ours. A server that cannot read a request reports an
 * error without an id. */
static uint64_t response_id(const struct mcp_client *client)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t token = json_find_root(tape, "id");

	if (token == JSON_NONE && json_find_root(tape, "error") != JSON_NONE)
		return client->answered_id != 0 ? client->answered_id : only_request(client);
	return mcp_id_number(tape, token);
}

static int take_response(struct mcp_client *client, size_t size, uint64_t now_ms)
{
	uint64_t id = response_id(client);
	struct call *call = find_request(client, id);

	if (call)
		return end_call(client, call);
	if (id == 0)
		return note_response(client);
	if (id == client->discover_id)
		return take_discover(client, &client->discover_id, now_ms);
	if (id == client->first_discover_id)
		return take_discover(client, &client->first_discover_id, now_ms);
	if (id == client->initialize_id)
		return take_initialize(client, now_ms);
	if (id == client->list_id)
		return take_page(client, size, now_ms);
	if (id == client->silence.ping_id) {
		client->silence.ping_id = 0;
		return 0;
	}
	if (id == client->listen_id) {
		end_listen(client, find_result(client) == JSON_NONE, now_ms);
		return 0;
	}
	return mcp_take_given_up(&client->given_up, id) ? 0 : note_response(client);
}

/* Respond to a request of the server: to ping, and to nothing else. */
static int take_request(struct mcp_client *client)
{
	const struct mcp_message *message = &client->message;
	struct mcp_error error;

	begin_message(client);
	if (message->method == MCP_PING) {
		mcp_write_pong(&client->out, message, NULL);
	} else {
		mcp_refuse(&error, MCP_METHOD_NOT_FOUND, 200, "Method not found");
		mcp_write_error(&client->out, message->id, &error);
	}
	return send_message(client, NULL, 0);
}

static int take_notification(struct mcp_client *client, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t method = client->message.method_name;
	uint32_t id = json_find_typed(tape, client->message.params, "requestId", JSON_NUMBER);
	uint64_t ended = 0;

	if (json_is_text(tape, method, "notifications/progress"))
		return take_progress(client);
	if (client->state != MCP_CLIENT_READY)
		return 0;
	if (json_is_text(tape, method, "notifications/tools/list_changed"))
		want_list(client);
	else if (json_is_text(tape, method, "notifications/subscriptions/acknowledged"))
		take_acknowledgement(client, now_ms);
	else if (client->message.method == MCP_CANCELLED && id != JSON_NONE &&
		 json_number_u64(tape, id, &ended) == 0 && ended == client->listen_id && ended != 0)
		end_listen(client, false, now_ms);
	return 0;
}

/* The methods of requests that a server may send. */
static const struct mcp_method_row server_methods[] = {
	{.name = "ping", .method = MCP_PING},
	{.name = NULL},
};

/* Act on one message of @size bytes. Return 0, UNREADABLE with the reason in @ret_error, or
 * -ENOMEM. */
static int take_one(struct mcp_client *client, const char *text, size_t size, uint64_t now_ms,
	struct mcp_error *ret_error)
{
	int r = mcp_message_read(
		&client->message, server_methods, text, size, JSON_DEPTH_DEFAULT, ret_error);

	if (r)
		return r < 0 ? r : UNREADABLE;
	mcp_silence_end(&client->silence);
	switch (client->message.kind) {
	case MCP_RESPONSE:
		return take_response(client, size, now_ms);
	case MCP_REQUEST:
		return take_request(client);
	case MCP_NOTIFICATION:
		return take_notification(client, now_ms);
	}
	return 0;
}

/* Note that @text is no message, because of @error, and fail the requests to which it responds. 0
 * or -ENOMEM. */
static int fail_unreadable(struct mcp_client *client, const char *text, size_t size,
	uint64_t now_ms, struct mcp_error *error)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer note = {0};
	cleanup(buffer_deinit) struct buffer failures = {0};
	int r;

	mcp_write_fault(text, size, error->message, &note);
	mcp_write_failures(text, size, error->message, &failures);
	r = buffer_terminate(&note) ? buffer_status(&failures) : -ENOMEM;
	if (r)
		return r;
	report_note(client, note.data);
	r = json_tape_read(&tape, failures.data, failures.size, JSON_DEPTH_DEFAULT, NULL);
	for (uint32_t at = json_first(&tape, 0);
		r == 0 && client->state != MCP_CLIENT_OVER && at < json_end(&tape, 0);
		at = json_next(&tape, at)) {
		struct text_view one = json_value_view(&tape, at);

		r = take_one(client, one.text, one.size, now_ms, error);
	}
	return r;
}

/* Act on a message, or on each one of a batch, as servers of 2025-03-26 may send it. Results as of
 * take_one(). */
static int take_text(struct mcp_client *client, const char *text, size_t size, uint64_t now_ms,
	struct mcp_error *ret_error)
{
	cleanup(json_tape_cleanup) struct json_tape batch = {0};
	int r = 0;

	if (size == 0 || text[0] != '[' ||
		json_tape_read(&batch, text, size, JSON_DEPTH_DEFAULT, NULL) != 0)
		return take_one(client, text, size, now_ms, ret_error);
	for (uint32_t at = json_first(&batch, 0);
		r == 0 && client->state != MCP_CLIENT_OVER && at < json_end(&batch, 0);
		at = json_next(&batch, at)) {
		struct text_view one = json_value_view(&batch, at);

		r = take_one(client, one.text, one.size, now_ms, ret_error);
		if (r == UNREADABLE)
			r = fail_unreadable(client, one.text, one.size, now_ms, ret_error);
	}
	return r;
}

int mcp_client_take(struct mcp_client *client, const char *text, size_t size, uint64_t now_ms)
{
	cleanup(buffer_deinit) struct buffer mended = {0};
	struct mcp_error error;
	int r = client->state == MCP_CLIENT_OVER ? 0
						 : take_text(client, text, size, now_ms, &error);

	if (r == UNREADABLE && json_mend_surrogates(text, size, &mended)) {
		text = mended.data;
		size = mended.size;
		r = buffer_status(&mended);
		r = r ? r : take_text(client, text, size, now_ms, &error);
	}
	if (r == UNREADABLE)
		r = fail_unreadable(client, text, size, now_ms, &error);
	json_tape_recycle(&client->message.tape, KEPT_TOKENS);
	return r;
}

int mcp_client_take_response(struct mcp_client *client, uint64_t request_id, const char *text,
	size_t size, uint64_t now_ms)
{
	int r;

	client->answered_id = request_id;
	r = mcp_client_take(client, text, size, now_ms);
	client->answered_id = 0;
	return r;
}

/* ── the time ────────────────────────────────────────────────────────────────────────────────── */

/* Return the moment at which to read the list again. */
static uint64_t list_due_ms(const struct mcp_client *client)
{
	uint64_t jitter_ms = client->ttl_ms * client->options.jitter_percent / 100;
	uint64_t expires_ms = client->listed_ms + client->ttl_ms + jitter_ms;

	if (client->ttl_ms == 0 || client->is_listening || client->has_stream ||
		expires_ms > client->list_at_ms)
		return client->list_at_ms;
	return expires_ms;
}

uint64_t mcp_client_due_ms(const struct mcp_client *client)
{
	uint64_t due_ms = NEVER;
	uint64_t dead_ms;

	switch (client->state) {
	case MCP_CLIENT_BEGUN:
		return 0;
	case MCP_CLIENT_PROBING:
	case MCP_CLIENT_INITIALIZING:
	case MCP_CLIENT_PROBING_AGAIN:
		due_ms = client->handshake_due_ms;
		if (client->state == MCP_CLIENT_PROBING && client->probe_due_ms < due_ms)
			due_ms = client->probe_due_ms;
		return due_ms;
	case MCP_CLIENT_READY:
		due_ms = client->list_id != 0 ? client->page_due_ms : list_due_ms(client);
		due_ms = client->listen_at_ms < due_ms ? client->listen_at_ms : due_ms;
		dead_ms = mcp_silence_due_ms(&client->silence);
		return dead_ms < due_ms ? dead_ms : due_ms;
	case MCP_CLIENT_OVER:
		break;
	}
	return due_ms;
}

static int tick_handshake(struct mcp_client *client, uint64_t now_ms)
{
	if (now_ms >= client->handshake_due_ms) {
		end_session(
			client, "it has not responded to server/discover and initialize in time");
		return 0;
	}
	if (client->state != MCP_CLIENT_PROBING || now_ms < client->probe_due_ms)
		return 0;
	client->was_silent = true;
	return request_initialize(client);
}

static int tick_session(struct mcp_client *client, uint64_t now_ms)
{
	int r = 0;

	if (now_ms >= mcp_silence_due_ms(&client->silence)) {
		end_session(client, "it has sent nothing until the deadlines of three calls, "
				    "and has not answered a ping");
		return 0;
	}
	if (client->list_id != 0 && now_ms >= client->page_due_ms) {
		r = cancel_request(client, &client->list_id, "timeout");
		fail_list(client, "it has not listed its tools in time", now_ms);
	} else if (client->list_id == 0 && now_ms >= list_due_ms(client)) {
		r = begin_list(client, now_ms);
	}
	if (r == 0 && now_ms >= client->listen_at_ms)
		r = begin_listen(client);
	return r;
}

int mcp_client_tick(struct mcp_client *client, uint64_t now_ms)
{
	switch (client->state) {
	case MCP_CLIENT_BEGUN:
		return begin_handshake(client, now_ms);
	case MCP_CLIENT_PROBING:
	case MCP_CLIENT_INITIALIZING:
	case MCP_CLIENT_PROBING_AGAIN:
		return tick_handshake(client, now_ms);
	case MCP_CLIENT_READY:
		return tick_session(client, now_ms);
	case MCP_CLIENT_OVER:
		break;
	}
	return 0;
}

/* ── HTTP ────────────────────────────────────────────────────────────────────────────────────── */

/* Return whether a server refuses a request by @status. By 401 and 403 it wants other
 * credentials. */
static bool is_refusal(long status)
{
	return status >= 400 && status < 500 && status != 401 && status != 403;
}

/* The response to a request of the handshake has not come. */
static int lose_handshake(struct mcp_client *client, bool is_probe, long status)
{
	/* Servers of the legacy era trip over what they do not know in all ways. */
	if (is_probe && client->state == MCP_CLIENT_PROBING && status >= 400) {
		client->discover_id = 0;
		return request_initialize(client);
	}
	if (is_refusal(status))
		return take_refusal(client, "it has refused server/discover and initialize");
	end_session(client, status >= 300 ? "it does not answer server/discover and initialize"
					  : "it cannot be reached");
	return 0;
}

int mcp_client_lose(struct mcp_client *client, uint64_t request_id, long status, uint64_t now_ms)
{
	struct call *call = find_request(client, request_id);

	if (request_id == 0 || client->state == MCP_CLIENT_OVER)
		return 0;
	if (call) {
		call->id = 0;
		act(client, &(struct mcp_action){.kind = MCP_ACT_LOST, .call = call->name});
	} else if (request_id == client->discover_id || request_id == client->initialize_id) {
		return lose_handshake(client, request_id == client->discover_id, status);
	} else if (request_id == client->list_id) {
		client->list_id = 0;
		fail_list(client, "the response with its list of tools has not come", now_ms);
	} else if (request_id == client->listen_id) {
		end_listen(client, is_refusal(status), now_ms);
	} else if (request_id == client->silence.ping_id) {
		client->silence.ping_id = 0;
		if (is_refusal(status))
			mcp_silence_end(&client->silence);
	}
	return 0;
}

int mcp_client_renew(struct mcp_client *client, uint64_t now_ms)
{
	if (client->state != MCP_CLIENT_READY)
		return 0;
	mcp_give_up(&client->given_up, &client->list_id);
	client->list_at_ms = NEVER;
	client->has_stream = false;
	client->had_stream = false;
	client->was_silent = false;
	client->handshake_due_ms = now_ms + client->options.start_ms;
	return request_initialize(client);
}

void mcp_client_set_stream(struct mcp_client *client, bool is_open)
{
	if (is_open && client->had_stream)
		want_list(client);
	client->has_stream = is_open;
	client->had_stream = client->had_stream || is_open;
}

/* ── the life of a client ────────────────────────────────────────────────────────────────────── */

struct mcp_client *mcp_client_new(const struct mcp_client_options *options)
{
	struct mcp_client *client = calloc(1, sizeof(*client));
	struct call *calls = calloc(options->workers, sizeof(*calls));

	check(options->workers > 0 && options->workers <= MCP_CALLS_MAX);
	check(options->jitter_percent <= 100);
	if (!client || !calls) {
		free(client);
		free(calls);
		return NULL;
	}
	check(options->act && options->version);
	client->options = *options;
	client->calls = calls;
	client->list_at_ms = NEVER;
	client->listen_at_ms = NEVER;
	return client;
}

void mcp_client_free(struct mcp_client *client)
{
	if (!client)
		return;
	mcp_pages_deinit(&client->pages);
	mcp_message_deinit(&client->message);
	buffer_deinit(&client->out);
	buffer_deinit(&client->text);
	free(client->calls);
	free(client);
}

bool mcp_client_is_probing(const struct mcp_client *client)
{
	return (client->discover_id != 0 || client->initialize_id != 0) &&
	       client->silence.n_messages == 0;
}

uint64_t mcp_client_request_id(const struct mcp_client *client, uint64_t name)
{
	const struct call *call = find_call(client, name);

	return call ? call->id : 0;
}
