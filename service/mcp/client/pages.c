/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/pages.h"

#include "json/keys.h"
#include "json/number.h"
#include "json/writer.h"
#include "json/member.h"
#include "util/assert.h"
#include "util/siphash.h"
#include "util/stringify.h"

/* The memory that is kept for the next list. */
#define KEPT_BYTES ((size_t)64 << 10)

/* Longer than any list is kept. */
#define TTL_MAX_MS (UINT64_C(24) * 3600 * 1000)

_Static_assert(MCP_LIST_BYTES_MAX >> 20 == 64, "as the reason has it");

/* Return whether the cursor at @token has not come before; then keep it. */
static bool is_new_cursor(struct mcp_pages *pages, const struct json_tape *tape, uint32_t token)
{
	struct siphash_key key = siphash_process_key();
	uint64_t hash = json_string_hash(tape, token, &key);

	for (unsigned int i = 0; i + 1 < pages->n_pages; i++)
		if (pages->cursors[i] == hash)
			return false;
	check(pages->n_pages > 0 && pages->n_pages < MCP_PAGES_MAX);
	pages->cursors[pages->n_pages - 1] = hash;
	return true;
}

/* Append the elements of the array @tools. */
static void add_tools(struct mcp_pages *pages, const struct json_tape *tape, uint32_t tools)
{
	json_each(tool, tape, tools) {
		buffer_append_char(&pages->tools, pages->tools.size > 0 ? ',' : '[');
		json_write_compact(&pages->tools, tape, tool);
	}
}

static uint64_t read_ttl(const struct json_tape *tape, uint32_t result)
{
	uint64_t ttl_ms;

	if (!json_read_u64(tape, json_find_present(tape, result, "ttlMs"), &ttl_ms))
		return 0;
	return ttl_ms < TTL_MAX_MS ? ttl_ms : TTL_MAX_MS;
}

enum mcp_page_status mcp_pages_add(struct mcp_pages *pages, const struct json_tape *tape,
	uint32_t result, size_t size, struct text_view *ret_cursor)
{
	uint32_t tools = json_find_typed(tape, result, "tools", JSON_ARRAY);
	uint32_t cursor = json_find_present(tape, result, "nextCursor");

	if (tools == JSON_NONE ||
		(cursor != JSON_NONE && json_type_at(tape, cursor) != JSON_STRING))
		return MCP_PAGE_WRONG;
	pages->n_pages++;
	pages->bytes += size;
	pages->ttl_ms = read_ttl(tape, result);
	if (pages->bytes > MCP_LIST_BYTES_MAX) {
		pages->reason = "its list of tools has more than 64 MiB";
		return MCP_PAGE_LAST;
	}
	add_tools(pages, tape, tools);
	if (cursor == JSON_NONE)
		return MCP_PAGE_LAST;
	if (pages->n_pages == MCP_PAGES_MAX)
		pages->reason =
			"its list of tools has more than " STRINGIFY(MCP_PAGES_MAX) " pages";
	else if (!is_new_cursor(pages, tape, cursor))
		pages->reason = "its list of tools comes back to an earlier page";
	if (pages->reason)
		return MCP_PAGE_LAST;
	*ret_cursor = json_value_view(tape, cursor);
	return MCP_PAGE_MORE;
}

struct text_view mcp_pages_end(struct mcp_pages *pages)
{
	buffer_append_string(&pages->tools, pages->tools.size > 0 ? "]" : "[]");
	return (struct text_view){pages->tools.data, pages->tools.size};
}

void mcp_pages_reset(struct mcp_pages *pages)
{
	buffer_recycle(&pages->tools, KEPT_BYTES);
	pages->bytes = 0;
	pages->n_pages = 0;
	pages->reason = NULL;
}

void mcp_pages_deinit(struct mcp_pages *pages)
{
	buffer_deinit(&pages->tools);
	mcp_pages_reset(pages);
}
