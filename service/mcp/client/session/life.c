/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include <stdlib.h>

#include "util/assert.h"
#include "util/stringify.h"

/* The life of a session: memory, time, and responses that HTTP has lost. */

/* ── the time ────────────────────────────────────────────────────────────────────────────────── */

uint64_t mcp_client_due_ms(const struct mcp_client *client)
{
	uint64_t due_ms = MCP_CLIENT_NEVER;
	uint64_t dead_ms;

	switch (client->state) {
	case MCP_CLIENT_BEGUN:
		return 0;
	case MCP_CLIENT_PROBING:
	case MCP_CLIENT_INITIALIZING:
	case MCP_CLIENT_PROBING_AGAIN:
		due_ms = client->handshake.due_ms;
		if (client->state == MCP_CLIENT_PROBING && client->handshake.probe_due_ms < due_ms)
			due_ms = client->handshake.probe_due_ms;
		return due_ms;
	case MCP_CLIENT_READY:
		due_ms = client->list.id != 0 ? client->list.page_due_ms
					      : mcp_client_list_due_ms(client);
		due_ms = client->listen.at_ms < due_ms ? client->listen.at_ms : due_ms;
		dead_ms = mcp_silence_due_ms(&client->silence);
		return dead_ms < due_ms ? dead_ms : due_ms;
	case MCP_CLIENT_OVER:
		break;
	}
	return due_ms;
}

static int tick_session(struct mcp_client *client, uint64_t now_ms)
{
	int r = 0;

	if (now_ms >= mcp_silence_due_ms(&client->silence)) {
		mcp_client_end_session(client,
			"it has sent nothing until the deadlines of " STRINGIFY(
				MCP_SILENT_CALLS) " calls, "
						  "and has not answered a ping");
		return 0;
	}
	if (client->list.id != 0 && now_ms >= client->list.page_due_ms) {
		r = mcp_client_cancel_request(client, &client->list.id, "timeout");
		mcp_client_fail_list(client, "it has not listed its tools in time", now_ms);
	} else if (client->list.id == 0 && now_ms >= mcp_client_list_due_ms(client)) {
		r = mcp_client_begin_list(client, now_ms);
	}
	if (r == 0 && now_ms >= client->listen.at_ms)
		r = mcp_client_begin_listen(client);
	return r;
}

int mcp_client_tick(struct mcp_client *client, uint64_t now_ms)
{
	switch (client->state) {
	case MCP_CLIENT_BEGUN:
		return mcp_client_begin_handshake(client, now_ms);
	case MCP_CLIENT_PROBING:
	case MCP_CLIENT_INITIALIZING:
	case MCP_CLIENT_PROBING_AGAIN:
		return mcp_client_tick_handshake(client, now_ms);
	case MCP_CLIENT_READY:
		return tick_session(client, now_ms);
	case MCP_CLIENT_OVER:
		break;
	}
	return 0;
}

/* ── a response that is lost ─────────────────────────────────────────────────────────────────── */

int mcp_client_lose(struct mcp_client *client, uint64_t request_id, long status, uint64_t now_ms)
{
	struct mcp_open_call *call = mcp_client_find_request(client, request_id);

	if (request_id == 0 || client->state == MCP_CLIENT_OVER)
		return 0;
	if (call) {
		call->id = 0;
		mcp_client_act(
			client, &(struct mcp_action){.kind = MCP_ACT_LOST, .call = call->name});
	} else if (request_id == client->handshake.discover_id ||
		   request_id == client->handshake.initialize_id) {
		return mcp_client_lose_handshake(
			client, request_id == client->handshake.discover_id, status);
	} else if (request_id == client->list.id) {
		client->list.id = 0;
		mcp_client_fail_list(
			client, "the response with its list of tools has not come", now_ms);
	} else if (request_id == client->listen.id) {
		mcp_client_end_listen(client, mcp_client_is_refusal(status), now_ms);
	} else if (request_id == client->silence.ping_id) {
		client->silence.ping_id = 0;
		if (mcp_client_is_refusal(status))
			mcp_silence_end(&client->silence);
	}
	return 0;
}

/* ── the life of a client ────────────────────────────────────────────────────────────────────── */

struct mcp_client *mcp_client_new(const struct mcp_client_options *options)
{
	struct mcp_client *client = calloc(1, sizeof(*client));
	struct mcp_open_call *calls = calloc(options->workers, sizeof(*calls));

	check(options->workers > 0 && options->workers <= MCP_CALLS_MAX);
	check(options->jitter_percent <= 100);
	if (!client || !calls) {
		free(client);
		free(calls);
		return NULL;
	}
	check(options->act && options->version);
	check(!options->is_legacy || !options->ends_on_initialize);
	client->options = *options;
	client->calls = calls;
	client->list.at_ms = MCP_CLIENT_NEVER;
	client->listen.at_ms = MCP_CLIENT_NEVER;
	return client;
}

void mcp_client_free(struct mcp_client *client)
{
	if (!client)
		return;
	mcp_pages_deinit(&client->list.pages);
	mcp_message_deinit(&client->message);
	buffer_deinit(&client->out);
	buffer_deinit(&client->text);
	free(client->calls);
	free(client);
}

bool mcp_client_is_probing(const struct mcp_client *client)
{
	return (client->handshake.discover_id != 0 || client->handshake.initialize_id != 0) &&
	       client->silence.n_messages == 0;
}

bool mcp_client_has_doubted(const struct mcp_client *client)
{
	return client->state == MCP_CLIENT_READY && client->era == MCP_MODERN &&
	       client->handshake.was_silent;
}
