/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mcp/message.h"
#include "mcp/response.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * tools/list, in pages. The cursor of the next page has its first tool, and a keyed hash of that
 * and of the list. So a foreign cursor, or a cursor of another list, is refused.
 */

/* The tools of one page. */
#define MCP_PAGE_TOOLS 200

/*
 * Append the page of the @n_tools @tools (the text of a Tool each, one line) asked for by @message.
 * @list identifies the list: another list has another value. Return 0, or MCP_E_REFUSED with
 * @ret_error filled and nothing appended.
 */
int mcp_write_tools(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct text_view *tools, size_t n_tools,
	uint64_t list, struct mcp_error *ret_error);
