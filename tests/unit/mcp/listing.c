/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/listing.h"

#include "client.h"
#include "util/cleanup.h"

static const struct mcp_server server = {.version = "1", .is_private = true};

/* Append the page that @text asks for of @n_tools tools. Return the code of its error, or 0. */
static int list(struct buffer *out, const char *text, size_t n_tools, uint64_t id)
{
	static struct text_view tools[1000];
	struct mcp_message message = {0};
	struct mcp_error error;
	int r;

	for (size_t i = 0; i < n_tools; i++)
		tools[i] = i == 200 ? TEXT_VIEW("{\"name\":\"y\"}") : TEXT_VIEW("{\"name\":\"x\"}");
	cr_assert_eq(judge(&message, text, NULL, &error), 0);
	r = mcp_write_tools(out, &message, &server, tools, n_tools, id, &error);
	if (r == 0)
		cr_assert_not_null(buffer_terminate(out));
	else
		cr_expect_eq(out->size, 0);
	mcp_message_deinit(&message);
	return r == 0 ? 0 : (int)error.code;
}

/* Return the nextCursor of the page @out, and the number of its tools. */
static char *next_cursor(const struct buffer *out, uint32_t *ret_count)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t result;
	uint32_t cursor;

	cr_assert_eq(json_tape_read(&tape, out->data, out->size, 16, NULL), 0);
	result = json_find(&tape, 0, "result");
	*ret_count = json_count(&tape, json_find(&tape, result, "tools"));
	cursor = json_find(&tape, result, "nextCursor");
	return cursor == JSON_NONE ? NULL : json_string_dup(&tape, cursor, NULL);
}

Test(mcp_listing, lists_few_tools_at_once)
{
	cleanup(buffer_deinit) struct buffer legacy = {0};
	cleanup(buffer_deinit) struct buffer modern = {0};
	cleanup(buffer_deinit) struct buffer none = {0};

	cr_assert_eq(list(&legacy, LEGACY("1", "tools/list", ""), 2, 1), 0);
	expect_line(&legacy, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
			     "{\"name\":\"x\"},{\"name\":\"x\"}]}}");
	cr_assert_eq(list(&modern, MODERN("1", "tools/list", ""), 1, 1), 0);
	expect_line(&modern,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"x\"}],"
		"\"ttlMs\":60000,\"cacheScope\":\"private\",\"resultType\":\"complete\","
		"\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
		"{\"name\":\"toolboxd\",\"version\":\"1\"}}}}");
	cr_assert_eq(list(&none, LEGACY("1", "tools/list", "\"cursor\":\"\""), 0, 1), 0);
	expect_line(&none, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}");
}

Test(mcp_listing, gives_each_tool_once_over_all_pages)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer request = {0};
	cleanup_free char *cursor = NULL;
	uint32_t total = 0;
	uint32_t count;
	unsigned int pages = 0;

	do {
		buffer_reset(&request);
		buffer_reset(&out);
		buffer_printf(&request, LEGACY("1", "tools/list", "\"cursor\":\"%s\""),
			cursor ? cursor : "");
		cr_assert_not_null(buffer_terminate(&request));
		cr_assert_eq(list(&out, request.data, 450, 1), 0);
		cr_expect_eq(strstr(out.data, "\"y\"") != NULL, pages == 1);
		free(cursor);
		cursor = next_cursor(&out, &count);
		cr_expect_leq(count, MCP_PAGE_TOOLS);
		total += count;
	} while (cursor && ++pages < 10);
	cr_expect_eq(total, 450);
	cr_expect_eq(pages, 2);
}

Test(mcp_listing, refuses_a_cursor_that_is_not_its_own_or_of_another_list)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer request = {0};
	cleanup_free char *cursor = NULL;
	uint32_t count;

	cr_assert_eq(list(&out, LEGACY("1", "tools/list", ""), 201, 1), 0);
	cursor = next_cursor(&out, &count);
	cr_assert_not_null(cursor);
	buffer_printf(&request, LEGACY("1", "tools/list", "\"cursor\":\"%s\""), cursor);
	cr_assert_not_null(buffer_terminate(&request));
	buffer_reset(&out);
	cr_expect_eq(list(&out, request.data, 201, 2), MCP_INVALID_PARAMS);
	cr_expect_eq(list(&out, request.data, 200, 1), MCP_INVALID_PARAMS);
	cr_expect_eq(list(&out, LEGACY("1", "tools/list", "\"cursor\":\"200\""), 201, 1),
		MCP_INVALID_PARAMS);
	cr_expect_eq(list(&out, request.data, 201, 1), 0);
}
