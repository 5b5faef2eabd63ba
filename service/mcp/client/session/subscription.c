/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include "util/assert.h"

/*
 * The notifications of changes of the list: by a subscriptions/listen (modern), which begins again
 * when it ends, or by the stream of a GET over HTTP (legacy), which the caller opens.
 */

int mcp_client_begin_listen(struct mcp_client *client)
{
	struct mcp_request request = mcp_client_new_request(client);

	check(client->state == MCP_CLIENT_READY && client->listen.id == 0);
	mcp_request_listen(mcp_client_begin_message(client), &request);
	client->listen.at_ms = MCP_CLIENT_NEVER;
	client->listen.id = request.id;
	return mcp_client_send(client, "subscriptions/listen", request.id);
}

void mcp_client_end_listen(struct mcp_client *client, bool is_refused, uint64_t now_ms)
{
	/* One that lasts is not what a server ends at once, and again and again. */
	if (client->listen.is_open && now_ms - client->listen.began_ms >= client->listen.wait_ms)
		client->listen.wait_ms = 0;
	client->listen.id = 0;
	client->listen.is_open = false;
	if (!is_refused)
		client->listen.at_ms = mcp_client_back_off(client, &client->listen.wait_ms, now_ms);
}

/* Changes between two subscriptions were not notified, so the list is read after the later one
 * begins. */
void mcp_client_take_acknowledgement(struct mcp_client *client, uint64_t now_ms)
{
	if (client->listen.id == 0 || client->listen.is_open)
		return;
	if (client->listen.was_open)
		mcp_client_want_list(client);
	client->listen.is_open = true;
	client->listen.was_open = true;
	client->listen.began_ms = now_ms;
}

void mcp_client_set_stream(struct mcp_client *client, bool is_open)
{
	if (is_open && client->listen.had_stream)
		mcp_client_want_list(client);
	client->listen.has_stream = is_open;
	client->listen.had_stream = client->listen.had_stream || is_open;
}
