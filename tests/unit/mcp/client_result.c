/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/result.h"

#include "client.h"

/* Check the end of a call that has the response `{MEMBER}`. */
static void expect_end(const char *member, enum mcp_end end, const char *text, bool is_unknown)
{
	cleanup(buffer_deinit) struct buffer response = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	bool is_found_unknown = !is_unknown;

	buffer_printf(&response, "{%s}", member);
	cr_assert_eq(
		json_tape_read(&tape, response.data, response.size, 64, NULL), 0, "%s", member);
	cr_expect_eq(mcp_read_end(&tape, &out, &is_found_unknown), end, "%s", member);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, text, "%s: %s", member, out.data);
	cr_expect_eq(is_found_unknown, is_unknown, "%s", member);
}

#define TEXT_BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

Test(mcp_end, is_the_result_as_it_was_sent)
{
	expect_end("\"result\": {\"content\": [{\"type\": \"image\", \"data\": \"\\u0041\"}, 1]}",
		MCP_END_RESULT, "{\"content\":[{\"type\":\"image\",\"data\":\"\\u0041\"},1]}",
		false);
	expect_end("\"result\":{\"resultType\":\"complete\",\"isError\":false,\"content\":[],"
		   "\"structuredContent\":{\"n\": 1.10},\"_meta\":{}}",
		MCP_END_RESULT, "{\"content\":[],\"structured\":{\"n\":1.10}}", false);
	expect_end("\"result\":{\"content\":[],\"structuredContent\":null,\"resultType\":null}",
		MCP_END_RESULT, "{\"content\":[]}", false);
}

Test(mcp_end, takes_a_null_for_a_member_that_is_absent)
{
	expect_end("\"error\":null,\"result\":{\"isError\":null,\"content\":[{\"type\":\"text\","
		   "\"text\":\"ok\","
		   "\"annotations\":null,\"_meta\":null},{\"type\":\"resource\",\"resource\":{"
		   "\"uri\":\"a:b\","
		   "\"mimeType\":null,\"text\":\"\",\"_meta\":{\"x\":null}},\"annotations\":{"
		   "\"audience\":null}}],"
		   "\"structuredContent\":{\"x\":null}}",
		MCP_END_RESULT,
		"{\"content\":[{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"resource\","
		"\"resource\":{\"uri\":"
		"\"a:b\",\"text\":\"\",\"_meta\":{\"x\":null}},\"annotations\":{}}],\"structured\":"
		"{\"x\":null}}",
		false);
	expect_end("\"result\":{\"content\":null,\"structuredContent\":{}}", MCP_END_RESULT,
		"{\"content\":[],\"structured\":{}}", false);
	expect_end("\"result\":null,\"error\":{\"code\":-32603,\"message\":\"No.\",\"data\":null}",
		MCP_END_FAILED, "No.", false);
}

Test(mcp_end, has_the_data_of_an_error)
{
	expect_end("\"error\":{\"code\":-32042,\"message\":\"Log in.\",\"data\":{\"url\": "
		   "\"https://a.example\"}}",
		MCP_END_FAILED, "Log in. ({\"url\":\"https://a.example\"})", false);
	expect_end("\"error\":{\"code\":-32042,\"message\":\"No.\",\"data\":\"disk\"}",
		MCP_END_FAILED, "No. (disk)", false);
}

Test(mcp_end, is_a_failure_with_the_texts_of_an_error)
{
	expect_end("\"result\":{\"isError\":true,\"content\":[" TEXT_BLOCK(
			   "a\\u00e9") ",{},"
				       "{\"type\":\"image\",\"text\":\"x\"}," TEXT_BLOCK("b") "]}",
		MCP_END_FAILED, "aé\nb", false);
	expect_end("\"result\":{\"isError\":true,\"content\":[]}", MCP_END_FAILED,
		"The tool has failed, and does not give a reason.", false);
	expect_end("\"error\":{\"code\":-32603,\"message\":\"No.\"}", MCP_END_FAILED, "No.", false);
	expect_end("\"error\":{\"code\":1.5}", MCP_END_FAILED,
		"The server has sent an error without a message.", false);
}

Test(mcp_end, finds_a_tool_to_be_unknown)
{
	expect_end("\"error\":{\"code\":-32602,\"message\":\"No.\"}", MCP_END_FAILED, "No.", true);
	expect_end("\"result\":{\"isError\":true,\"content\":[" TEXT_BLOCK("Unknown tool: x") "]}",
		MCP_END_FAILED, "Unknown tool: x", true);
	expect_end("\"result\":{\"isError\":true,\"content\":[" TEXT_BLOCK(
			   "MCP error -32602: Tool x not found") "]}",
		MCP_END_FAILED, "MCP error -32602: Tool x not found", true);
	expect_end("\"result\":{\"isError\":true,\"content\":[" TEXT_BLOCK(
			   "MCP error -32602: Input validation error") "]}",
		MCP_END_FAILED, "MCP error -32602: Input validation error", false);
	expect_end("\"result\":{\"content\":[" TEXT_BLOCK("Unknown tool") "]}", MCP_END_RESULT,
		"{\"content\":[" TEXT_BLOCK("Unknown tool") "]}", false);
}

Test(mcp_end, is_a_failure_when_the_result_is_none)
{
	expect_end("\"result\":{\"structuredContent\":null}", MCP_END_FAILED,
		"The server has sent a result without content.", false);
	expect_end("\"result\":{\"content\":\"x\"}", MCP_END_FAILED,
		"The server has sent a result whose content is not an array.", false);
	expect_end("\"result\":[]", MCP_END_FAILED,
		"The server has sent a result that is not an object.", false);
	expect_end("\"error\":1", MCP_END_FAILED,
		"The server has sent a result that is not an object.", false);
	expect_end("\"result\":{\"resultType\":\"input_required\",\"content\":[]}", MCP_END_FAILED,
		"The tool asks for input, which toolboxd does not give.", false);
	expect_end("\"result\":{\"resultType\":\"ta\\nsk\",\"content\":[]}", MCP_END_FAILED,
		"The server has sent a result of the unknown type \"ta\\nsk\".", false);
	expect_end("\"result\":{\"resultType\":\"\",\"content\":[]}", MCP_END_FAILED,
		"The server has sent a result of the unknown type \"\".", false);
	expect_end("\"result\":{\"resultType\":1,\"content\":[]}", MCP_END_FAILED,
		"The server has sent a resultType that is not a string.", false);
}
