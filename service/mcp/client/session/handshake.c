/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include <errno.h>

#include "json/member.h"
#include "mcp/client/discovery.h"

/* The handshake, which is drawn in mcp/client/client.h and, state by state, in
 * mcp/client/client_state.h. */

static int request_discover(struct mcp_client *client, enum mcp_client_state state)
{
	struct mcp_request request = {.id = ++client->last_id,
		.era = MCP_MODERN,
		.client_version = client->options.version};

	mcp_client_move(client, state);
	client->era = MCP_MODERN;
	mcp_request_discover(mcp_client_begin_message(client), &request);
	client->handshake.first_discover_id = client->handshake.discover_id;
	client->handshake.discover_id = request.id;
	return mcp_client_send(client, "server/discover", request.id);
}

static int request_initialize(struct mcp_client *client)
{
	struct mcp_request request = {.id = ++client->last_id,
		.era = MCP_LEGACY,
		.client_version = client->options.version};

	mcp_client_move(client, MCP_CLIENT_INITIALIZING);
	client->era = MCP_LEGACY;
	mcp_request_initialize(mcp_client_begin_message(client), &request);
	client->handshake.initialize_id = request.id;
	return mcp_client_send(client, "initialize", request.id);
}

int mcp_client_begin_handshake(struct mcp_client *client, uint64_t now_ms)
{
	client->handshake.due_ms = now_ms + client->options.start_ms;
	client->handshake.was_silent = client->options.is_legacy;
	if (client->options.ends_on_initialize)
		return request_discover(client, MCP_CLIENT_PROBING_AGAIN);
	if (client->options.is_legacy)
		return request_initialize(client);
	client->handshake.probe_due_ms =
		client->options.is_http ? MCP_CLIENT_NEVER : now_ms + MCP_PROBE_MS;
	return request_discover(client, MCP_CLIENT_PROBING);
}

/* The handshake is done: the server speaks @version, of the era of the client. */
static int begin_session(
	struct mcp_client *client, const char *version, bool is_verdict, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t result = mcp_client_find_result(client);
	bool has_changes = mcp_discovery_has_changes(tape, result);
	int r = 0;

	mcp_client_move(client, MCP_CLIENT_READY);
	mcp_give_up(&client->given_up, &client->handshake.discover_id);
	mcp_give_up(&client->given_up, &client->handshake.first_discover_id);
	mcp_give_up(&client->given_up, &client->handshake.initialize_id);
	mcp_client_act(client, &(struct mcp_action){.kind = MCP_ACT_READY,
				       .era = client->era,
				       .version = version,
				       .is_verdict = is_verdict,
				       .has_changes = has_changes,
				       .has_resources = mcp_discovery_has_resources(tape, result)});
	if (client->era == MCP_LEGACY) {
		mcp_request_initialized(mcp_client_begin_message(client));
		r = mcp_client_send(client, "notifications/initialized", 0);
	} else if (has_changes) {
		r = mcp_client_begin_listen(client);
	}
	return r == 0 ? mcp_client_begin_list(client, now_ms) : r;
}

/* initialize was refused; so was server/discover, or it is sent once more. @reason: NULL without
 * memory. */
static int take_refusal(struct mcp_client *client, const char *reason)
{
	client->handshake.initialize_id = 0;
	if (client->handshake.was_silent) {
		client->handshake.was_silent = false;
		return request_discover(client, MCP_CLIENT_PROBING_AGAIN);
	}
	if (!reason)
		return -ENOMEM;
	mcp_client_end_session(client, reason);
	return 0;
}

static const char *write_refusal(struct mcp_client *client)
{
	return mcp_client_error_reason(client, "it has refused server/discover and initialize");
}

/* @id: the place of the id of its request. */
int mcp_client_take_discover(struct mcp_client *client, uint64_t *id, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	bool is_first = id == &client->handshake.first_discover_id;

	*id = 0;
	if (mcp_discovery_has_modern(tape, mcp_client_find_result(client))) {
		client->era = MCP_MODERN;
		return begin_session(client, MCP_VERSION_MODERN, true, now_ms);
	}
	if (client->state == MCP_CLIENT_PROBING &&
		mcp_discovery_names_modern(&client->message.tape))
		return request_discover(client, MCP_CLIENT_PROBING_AGAIN);
	if (client->state == MCP_CLIENT_PROBING)
		return request_initialize(client);
	/* A late refusal: the request sent after it decides. */
	client->handshake.was_silent = false;
	return client->state == MCP_CLIENT_PROBING_AGAIN && !is_first
		       ? take_refusal(client, write_refusal(client))
		       : 0;
}

int mcp_client_take_initialize(struct mcp_client *client, uint64_t now_ms)
{
	const struct json_tape *tape = &client->message.tape;
	uint32_t version = json_find_typed(
		tape, mcp_client_find_result(client), "protocolVersion", JSON_STRING);
	cleanup(buffer_deinit) struct buffer name = {0};
	const char *known;

	json_read_text(tape, version, &name);
	if (buffer_status(&name) < 0)
		return -ENOMEM;
	known = name.data ? mcp_version_legacy(name.data, name.size) : NULL;
	if (!known)
		return take_refusal(client, write_refusal(client));
	return begin_session(
		client, known, !client->handshake.was_silent || client->options.is_legacy, now_ms);
}

int mcp_client_tick_handshake(struct mcp_client *client, uint64_t now_ms)
{
	if (now_ms >= client->handshake.due_ms) {
		mcp_client_end_session(
			client, "it has not responded to server/discover and initialize in time");
		return 0;
	}
	if (client->state != MCP_CLIENT_PROBING || now_ms < client->handshake.probe_due_ms)
		return 0;
	client->handshake.was_silent = true;
	return request_initialize(client);
}

int mcp_client_lose_handshake(struct mcp_client *client, bool is_probe, long status)
{
	/* Servers of the legacy era trip over what they do not know in all ways. */
	if (is_probe && client->state == MCP_CLIENT_PROBING && status >= 400) {
		client->handshake.discover_id = 0;
		return request_initialize(client);
	}
	if (mcp_client_is_refusal(status))
		return take_refusal(client, "it has refused server/discover and initialize");
	mcp_client_end_session(client, status >= 300
					       ? "it does not answer server/discover and initialize"
					       : "it cannot be reached");
	return 0;
}

int mcp_client_renew(struct mcp_client *client, uint64_t now_ms)
{
	if (client->state != MCP_CLIENT_READY)
		return 0;
	mcp_give_up(&client->given_up, &client->list.id);
	client->list.at_ms = MCP_CLIENT_NEVER;
	client->listen.has_stream = false;
	client->listen.had_stream = false;
	client->handshake.was_silent = false;
	client->handshake.due_ms = now_ms + client->options.start_ms;
	return request_initialize(client);
}
