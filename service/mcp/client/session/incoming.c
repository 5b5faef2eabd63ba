/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include <errno.h>

#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/surrogates.h"
#include "mcp/client/salvage.h"
#include "mcp/response.h"
#include "util/array.h"

/*
 * The messages of the server, and which part of the session each is for:
 *
 *   text ─▶ a batch? each ─▶ mcp/message ─┬─ a response: by its id ─▶ call, handshake, list, …
 *                 │                       ├─ a request: ping
 *                 │                       └─ a notification: progress, changes, the end of a listen
 *                 └─ unreadable: a note, and a failure of the request that it responds to
 */

/* A positive result: the text that was received is no message. */
#define UNREADABLE 1

static void report_note(struct mcp_client *client, const char *reason)
{
	mcp_client_act(client, &(struct mcp_action){.kind = MCP_ACT_NOTE, .reason = reason});
}

/* Report a response to a request that is not in flight: a second response, or the response to
 * another program. */
static int note_response(struct mcp_client *client)
{
	buffer_recycle(&client->text, MCP_CLIENT_KEPT_BYTES);
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
	const uint64_t others[] = {client->handshake.discover_id,
		client->handshake.first_discover_id, client->handshake.initialize_id,
		client->list.id, client->silence.ping_id};
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
	struct mcp_open_call *call = mcp_client_find_request(client, id);

	if (call)
		return mcp_client_end_call(client, call);
	if (id == 0)
		return note_response(client);
	if (id == client->handshake.discover_id)
		return mcp_client_take_discover(client, &client->handshake.discover_id, now_ms);
	if (id == client->handshake.first_discover_id)
		return mcp_client_take_discover(
			client, &client->handshake.first_discover_id, now_ms);
	if (id == client->handshake.initialize_id)
		return mcp_client_take_initialize(client, now_ms);
	if (id == client->list.id)
		return mcp_client_take_page(client, size, now_ms);
	if (id == client->silence.ping_id) {
		client->silence.ping_id = 0;
		return 0;
	}
	if (id == client->listen.id) {
		mcp_client_end_listen(client, mcp_client_find_result(client) == JSON_NONE, now_ms);
		return 0;
	}
	return mcp_take_given_up(&client->given_up, id) ? 0 : note_response(client);
}

/* Respond to a request of the server: to ping, and to nothing else. */
static int take_request(struct mcp_client *client)
{
	const struct mcp_message *message = &client->message;
	struct mcp_error error;

	mcp_client_begin_message(client);
	if (message->method == MCP_PING) {
		mcp_write_pong(&client->out, message, NULL);
	} else {
		mcp_refuse(&error, MCP_METHOD_NOT_FOUND, 200, "Method not found");
		mcp_write_error(&client->out, message->id, &error);
	}
	return mcp_client_send(client, NULL, 0);
}

static int take_notification(struct mcp_client *client, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t method = client->message.method_name;
	uint32_t id = json_find_typed(tape, client->message.params, "requestId", JSON_NUMBER);
	uint64_t ended = 0;

	if (json_is_text(tape, method, "notifications/progress"))
		return mcp_client_take_progress(client);
	if (client->state != MCP_CLIENT_READY)
		return 0;
	if (json_is_text(tape, method, "notifications/tools/list_changed"))
		mcp_client_want_list(client);
	else if (json_is_text(tape, method, "notifications/subscriptions/acknowledged"))
		mcp_client_take_acknowledgement(client, now_ms);
	else if (client->message.method == MCP_CANCELLED && id != JSON_NONE &&
		 json_number_u64(tape, id, &ended) == 0 && ended == client->listen.id && ended != 0)
		mcp_client_end_listen(client, false, now_ms);
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
	json_each_while(r == 0 && client->state != MCP_CLIENT_OVER, at, &tape, 0) {
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
	json_each_while(r == 0 && client->state != MCP_CLIENT_OVER, at, &batch, 0) {
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
	json_tape_recycle(&client->message.tape, MCP_CLIENT_KEPT_TOKENS);
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
