/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/session/parts.h"

#include <errno.h>

#include "mcp/client/discovery.h"
#include "util/assert.h"

/*
 * The list of tools, page by page:
 *
 *   due ─▶ tools/list ─▶ a page ─┬─ with a cursor ─▶ tools/list with it
 *    ▲                           ├─ the last one ──▶ MCP_ACT_TOOLS
 *    │                           └─ wrong, late, lost ─▶ MCP_ACT_NO_TOOLS, and a wait
 *    └── a change, its expiry, an unknown tool, the end of a wait
 */

void mcp_client_want_list(struct mcp_client *client)
{
	uint64_t at_ms = client->list.began_ms + MCP_LIST_LEAST_MS;

	if (client->list.at_ms > at_ms)
		client->list.at_ms = at_ms;
}

static int request_page(struct mcp_client *client, struct text_view cursor, uint64_t now_ms)
{
	struct mcp_request request = mcp_client_new_request(client);

	mcp_request_list(mcp_client_begin_message(client), &request, cursor);
	check(client->state == MCP_CLIENT_READY && client->list.id == 0);
	client->list.id = request.id;
	client->list.page_due_ms = now_ms + MCP_LIST_MS;
	return mcp_client_send(client, "tools/list", request.id);
}

int mcp_client_begin_list(struct mcp_client *client, uint64_t now_ms)
{
	mcp_pages_reset(&client->list.pages);
	client->list.at_ms = MCP_CLIENT_NEVER;
	client->list.began_ms = now_ms;
	client->list.ttl_ms = 0;
	return request_page(client, (struct text_view){NULL, 0}, now_ms);
}

void mcp_client_fail_list(struct mcp_client *client, const char *reason, uint64_t now_ms)
{
	client->list.at_ms = mcp_client_back_off(client, &client->list.wait_ms, now_ms);
	client->list.is_again = false;
	mcp_pages_reset(&client->list.pages);
	mcp_client_act(client, &(struct mcp_action){.kind = MCP_ACT_NO_TOOLS, .reason = reason});
}

static int end_list(struct mcp_client *client, uint64_t now_ms)
{
	struct text_view tools = mcp_pages_end(&client->list.pages);

	if (buffer_status(&client->list.pages.tools) < 0)
		return buffer_status(&client->list.pages.tools);
	client->list.listed_ms = now_ms;
	client->list.ttl_ms = client->list.pages.ttl_ms;
	if (client->list.ttl_ms > 0 && client->list.ttl_ms < MCP_TTL_LEAST_MS)
		client->list.ttl_ms = MCP_TTL_LEAST_MS;
	client->list.wait_ms = 0;
	client->list.is_again = false;
	mcp_client_act(client,
		&(struct mcp_action){
			.kind = MCP_ACT_TOOLS, .text = tools, .reason = client->list.pages.reason});
	mcp_pages_reset(&client->list.pages);
	return 0;
}

int mcp_client_take_page(struct mcp_client *client, size_t size, uint64_t now_ms)
{
	struct text_view cursor;
	uint32_t result = mcp_client_find_result(client);
	enum mcp_page_status status;
	const char *reason;

	client->list.id = 0;
	/* A cursor that is refused is one of an earlier list: the tools have changed since its
	 * first page. */
	if (result == JSON_NONE && client->list.pages.n_pages > 0 && !client->list.is_again &&
		mcp_discovery_error_code(&client->message.tape) == MCP_INVALID_PARAMS) {
		client->list.is_again = true;
		return mcp_client_begin_list(client, now_ms);
	}
	status = mcp_pages_add(&client->list.pages, &client->message.tape, result, size, &cursor);
	if (buffer_status(&client->list.pages.tools) < 0)
		return buffer_status(&client->list.pages.tools);
	switch (status) {
	case MCP_PAGE_MORE:
		return request_page(client, cursor, now_ms);
	case MCP_PAGE_LAST:
		return end_list(client, now_ms);
	case MCP_PAGE_WRONG:
		break;
	}
	reason = mcp_client_error_reason(client, "it has not listed its tools");
	if (!reason)
		return -ENOMEM;
	mcp_client_fail_list(client, reason, now_ms);
	return 0;
}

uint64_t mcp_client_list_due_ms(const struct mcp_client *client)
{
	uint64_t jitter_ms = client->list.ttl_ms * client->options.jitter_percent / 100;
	uint64_t expires_ms = client->list.listed_ms + client->list.ttl_ms + jitter_ms;

	if (client->list.ttl_ms == 0 || client->listen.is_open || client->listen.has_stream ||
		expires_ms > client->list.at_ms)
		return client->list.at_ms;
	return expires_ms;
}
