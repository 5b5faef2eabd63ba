/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/listing.h"

#include <inttypes.h>
#include <stdio.h>

#include "json/member.h"
#include "util/siphash.h"

#define CURSOR_BYTES 40

static void write_cursor(size_t first, uint64_t list, char ret_text[CURSOR_BYTES])
{
	struct siphash_key key = siphash_process_key();
	uint64_t words[2] = {first, list};
	struct siphash hash;

	siphash_init(&hash, &key);
	siphash_bytes(&hash, (const char *)words, sizeof(words));
	snprintf(ret_text, CURSOR_BYTES, "%zx-%016" PRIx64, first, siphash_finish(&hash));
}

/* Find the first tool of the page at the cursor of @message. */
static int find_first(const struct mcp_message *message, size_t n_tools, uint64_t list,
	size_t *ret_first, struct mcp_error *error)
{
	char text[CURSOR_BYTES];

	*ret_first = 0;
	if (message->cursor == JSON_NONE ||
		json_string_equals(&message->tape, message->cursor, "", 0))
		return 0;
	for (size_t first = MCP_PAGE_TOOLS; first < n_tools; first += MCP_PAGE_TOOLS) {
		write_cursor(first, list, text);
		if (!json_is_text(&message->tape, message->cursor, text))
			continue;
		*ret_first = first;
		return 0;
	}
	return mcp_refuse(error, MCP_INVALID_PARAMS, 200,
		"The cursor does not belong to this list, which may have changed: list without a "
		"cursor.");
}

int mcp_write_tools(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct text_view *tools, size_t n_tools,
	uint64_t list, struct mcp_error *ret_error)
{
	char cursor[CURSOR_BYTES];
	size_t first;
	size_t end;
	int r = find_first(message, n_tools, list, &first, ret_error);

	if (r != 0)
		return r;
	end = n_tools - first > MCP_PAGE_TOOLS ? first + MCP_PAGE_TOOLS : n_tools;
	mcp_result_begin(out, message);
	buffer_append_string(out, "\"tools\":[");
	for (size_t i = first; i < end; i++) {
		buffer_append_string(out, i == first ? "" : ",");
		buffer_append(out, tools[i].text, tools[i].size);
	}
	buffer_append_char(out, ']');
	if (end < n_tools) {
		write_cursor(end, list, cursor);
		buffer_printf(out, ",\"nextCursor\":\"%s\"", cursor);
	}
	mcp_result_end_kept(out, message, server);
	return 0;
}
