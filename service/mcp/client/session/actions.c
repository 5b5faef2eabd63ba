/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include "json/member.h"
#include "mcp/client/discovery.h"

#define BACK_OFF_LEAST_MS 1000
#define BACK_OFF_MOST_MS  60000

/* The work of all parts of a session: to move the state, send, wait after a failure, and end. */

void mcp_client_move(struct mcp_client *client, enum mcp_client_state to)
{
	client->state = mcp_client_state_move(client->state, to);
}

void mcp_client_act(struct mcp_client *client, const struct mcp_action *action)
{
	client->options.act(client->options.data, action);
}

struct buffer *mcp_client_begin_message(struct mcp_client *client)
{
	buffer_recycle(&client->out, MCP_CLIENT_KEPT_BYTES);
	return &client->out;
}

int mcp_client_send(struct mcp_client *client, const char *method, uint64_t id)
{
	if (buffer_status(&client->out) < 0)
		return buffer_status(&client->out);
	mcp_client_act(client, &(struct mcp_action){.kind = MCP_ACT_SEND,
				       .text = {client->out.data, client->out.size},
				       .method = method,
				       .request_id = id,
				       .era = client->era});
	return 0;
}

struct mcp_request mcp_client_new_request(struct mcp_client *client)
{
	return (struct mcp_request){
		++client->last_id, client->era, client->options.version, client->trace};
}

int mcp_client_cancel_request(struct mcp_client *client, uint64_t *id, const char *reason)
{
	uint64_t cancelled = *id;
	int r = 0;

	mcp_give_up(&client->given_up, id);
	if (!client->options.is_http || client->era == MCP_LEGACY) {
		mcp_request_cancelled(mcp_client_begin_message(client), cancelled, reason);
		r = mcp_client_send(client, "notifications/cancelled", 0);
	}
	if (client->options.is_http)
		mcp_client_act(client,
			&(struct mcp_action){.kind = MCP_ACT_CLOSE, .request_id = cancelled});
	return r;
}

const char *mcp_client_error_reason(struct mcp_client *client, const char *subject)
{
	buffer_recycle(&client->text, MCP_CLIENT_KEPT_BYTES);
	mcp_discovery_write_error(&client->message.tape, subject, &client->text);
	return buffer_terminate(&client->text);
}

uint32_t mcp_client_find_result(const struct mcp_client *client)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t result = json_find_root(tape, "result");

	return result != JSON_NONE && json_type_at(tape, result) == JSON_OBJECT &&
			       json_find_root(tape, "error") == JSON_NONE
		       ? result
		       : JSON_NONE;
}

uint64_t mcp_client_back_off(const struct mcp_client *client, uint64_t *wait_ms, uint64_t now_ms)
{
	uint64_t wait = *wait_ms > 0 ? *wait_ms : BACK_OFF_LEAST_MS;

	*wait_ms = 2 * wait < BACK_OFF_MOST_MS ? 2 * wait : BACK_OFF_MOST_MS;
	return now_ms + wait + wait * client->options.jitter_percent / 100;
}

static void end_calls(struct mcp_client *client)
{
	for (unsigned int i = 0; i < client->options.workers; i++) {
		struct mcp_open_call *call = &client->calls[i];

		if (call->id == 0)
			continue;
		mcp_give_up(&client->given_up, &call->id);
		mcp_client_act(
			client, &(struct mcp_action){.kind = MCP_ACT_LOST, .call = call->name});
	}
}

void mcp_client_end(struct mcp_client *client)
{
	if (client->state == MCP_CLIENT_OVER)
		return;
	mcp_client_move(client, MCP_CLIENT_OVER);
	mcp_pages_reset(&client->list.pages);
	end_calls(client);
}

void mcp_client_end_session(struct mcp_client *client, const char *reason)
{
	mcp_client_act(client, &(struct mcp_action){.kind = MCP_ACT_OVER, .reason = reason});
	mcp_client_end(client);
}
