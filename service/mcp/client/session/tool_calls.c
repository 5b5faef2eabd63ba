/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include "json/member.h"
#include "json/number.h"
#include "mcp/client/result.h"
#include "util/assert.h"

/*
 * The calls in flight, each a request of its own:
 *
 *   mcp_client_call() ─▶ tools/call ─┬─ progress ─▶ MCP_ACT_PROGRESS
 *                                    ├─ a response ─▶ MCP_ACT_RESULT, MCP_ACT_FAILED
 *                                    ├─ mcp_client_cancel(): given up; late: is the server alive?
 *                                    └─ the session or the response is lost ─▶ MCP_ACT_LOST
 */

struct mcp_open_call *mcp_client_find_request(const struct mcp_client *client, uint64_t id)
{
	for (unsigned int i = 0; id != 0 && i < client->options.workers; i++)
		if (client->calls[i].id == id)
			return &client->calls[i];
	return NULL;
}

/* Return the call with the caller's @name, or NULL. */
static struct mcp_open_call *find_call(const struct mcp_client *client, uint64_t name)
{
	for (unsigned int i = 0; i < client->options.workers; i++)
		if (client->calls[i].id != 0 && client->calls[i].name == name)
			return &client->calls[i];
	return NULL;
}

static struct mcp_open_call *find_free(const struct mcp_client *client)
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
	struct mcp_open_call *call = find_free(client);
	struct mcp_request request;

	if (client->state != MCP_CLIENT_READY)
		return MCP_E_UNREADY;
	if (!call)
		return MCP_E_BUSY;
	check(!find_call(client, name));
	request = mcp_client_new_request(client);
	if (method)
		mcp_request_ask(mcp_client_begin_message(client), &request, method, arguments);
	else
		mcp_request_call(mcp_client_begin_message(client), &request, tool, arguments);
	if (buffer_status(&client->out) < 0)
		return buffer_status(&client->out);
	*call = (struct mcp_open_call){request.id, name, client->silence.n_messages, method};
	return mcp_client_send(client, method ? method : "tools/call", request.id);
}

void mcp_client_set_trace(struct mcp_client *client, struct text_view trace)
{
	client->trace = trace;
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
	struct mcp_open_call *call = find_call(client, name);
	struct mcp_request request;
	uint64_t n_messages;
	int r;

	if (!call)
		return 0;
	n_messages = call->n_messages;
	r = mcp_client_cancel_request(client, &call->id, is_late ? "timeout" : "cancelled");
	if (r || !is_late || client->state != MCP_CLIENT_READY ||
		!mcp_silence_note(&client->silence, n_messages))
		return r;
	mcp_give_up(&client->given_up, &client->silence.ping_id);
	request = mcp_client_new_request(client);
	mcp_silence_ping(&client->silence, request.id, now_ms);
	return mcp_client_send(
		client, mcp_request_ping(mcp_client_begin_message(client), &request), request.id);
}

int mcp_client_end_call(struct mcp_client *client, struct mcp_open_call *call)
{
	const struct json_tape *tape = &client->message.tape;
	struct mcp_action action = {.call = call->name};
	bool is_unknown = false;
	enum mcp_end end;

	call->id = 0;
	buffer_recycle(&client->text, MCP_CLIENT_KEPT_BYTES);
	end = call->is_plain ? mcp_read_plain_end(tape, &client->text)
			     : mcp_read_end(tape, &client->text, &is_unknown);
	if (buffer_status(&client->text) < 0)
		return buffer_status(&client->text);
	action.kind = end == MCP_END_RESULT ? MCP_ACT_RESULT : MCP_ACT_FAILED;
	action.text = (struct text_view){client->text.data, client->text.size};
	mcp_client_act(client, &action);
	if (is_unknown)
		mcp_client_want_list(client);
	return 0;
}

/* Return the progress in the notification with the object @params: its share of the total, or -1:
 * unknown. */
static double progress_share(const struct json_tape *tape, uint32_t params)
{
	double done;
	double all;

	if (!json_read_f64(tape, json_find_present(tape, params, "progress"), &done) ||
		!json_read_f64(tape, json_find_present(tape, params, "total"), &all) || all <= 0 ||
		done < 0)
		return -1;
	return done < all ? done / all : 1;
}

int mcp_client_take_progress(struct mcp_client *client)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t params = client->message.params;
	uint64_t id = 0;
	struct mcp_open_call *call;
	struct mcp_action action = {.kind = MCP_ACT_PROGRESS};

	json_read_u64(tape, json_find_present(tape, params, "progressToken"), &id);
	call = mcp_client_find_request(client, id);
	if (!call)
		return 0;
	buffer_recycle(&client->text, MCP_CLIENT_KEPT_BYTES);
	if (json_read_text(tape, json_find_present(tape, params, "message"), &client->text))
		action.text = (struct text_view){client->text.data, client->text.size};
	if (buffer_status(&client->text) < 0)
		return buffer_status(&client->text);
	action.call = call->name;
	action.progress = progress_share(tape, params);
	mcp_client_act(client, &action);
	return 0;
}

uint64_t mcp_client_request_id(const struct mcp_client *client, uint64_t name)
{
	const struct mcp_open_call *call = find_call(client, name);

	return call ? call->id : 0;
}
