/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call_result.h"

#include "client.h"
#include "scarce.h"

static const struct mcp_server server = {.version = "1"};

#define RESULT(members) "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" members "}}"

/* Append the response for the answer @data. Return what mcp_write_call_result() does. */
static int respond(struct buffer *out, const char *data, bool has_content, struct buffer *text,
	struct mcp_error *error)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct mcp_message message = {0};
	int r;

	cr_assert_eq(judge(&message, LEGACY("1", "tools/call", "\"name\":\"x\""), NULL, error), 0);
	cr_assert_eq(json_tape_read(&tape, data, strlen(data), 64, NULL), 0, "%s", data);
	r = mcp_write_call_result(out, &message, &server, &tape, has_content, false, text, error);
	mcp_message_deinit(&message);
	return r;
}

static void expect_result(const char *data, bool has_content, const char *wanted)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	cr_assert_eq(respond(&out, data, has_content, &text, &error), 0);
	expect_line(&out, wanted);
}

Test(mcp_call_result, has_the_object_and_its_json_as_text)
{
	expect_result("{\"name\":\"x\",\"result\": {\"sum\" : 1.10,\n\"t\":\"\\u00e9\"}}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":"
		       "\"{\\\"sum\\\":1.10,\\\"t\\\":\\\"\xC3\xA9\\\"}\"}],"
		       "\"structuredContent\":{\"sum\":1.10,\"t\":\"\\u00e9\"},\"isError\":false"));
}

Test(mcp_call_result, has_only_the_text_of_what_is_no_object)
{
	expect_result("{\"result\":[1, 2]}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"[1,2]\"}],\"isError\":false"));
	expect_result("{\"result\":null}", true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"null\"}],\"isError\":false"));
}

Test(mcp_call_result, passes_the_blocks_of_rich_content_on)
{
	static const char data[] =
		"{\"result\":{\"content\":[{\"type\":\"image\",\"data\":\"AA==\","
		"\"mimeType\":\"image/png\"}],\"structured\":{\"w\":1}}}";

	expect_result(data, true,
		RESULT("\"content\":[{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/"
		       "png\"}],"
		       "\"structuredContent\":{\"w\":1},\"isError\":false"));
	expect_result(
		"{\"result\":{\"content\":[]}}", true, RESULT("\"content\":[],\"isError\":false"));
	/* The legacy era has objects alone there; a client that reads texts alone has the value,
	 * too. */
	expect_result("{\"result\":{\"content\":[],\"structured\":[1]}}", true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}],\"isError\":false"));
	expect_result("{\"result\":{\"content\":[],\"structured\":{\"a\":1}}}", true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],"
		       "\"structuredContent\":{\"a\":1},\"isError\":false"));
	expect_result("{\"result\":{\"content\":[]}}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"{\\\"content\\\":[]}\"}],"
		       "\"structuredContent\":{\"content\":[]},\"isError\":false"));
}

#define TRUNCATED                                                                                  \
	"\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":9,\"max_chars\":4,"           \
	"\"hint\":\"ask for less\",\"head\":\"{\\\"a\\\"\""

Test(mcp_call_result, is_an_error_when_the_result_was_cut)
{
	expect_result("{\"result\":{" TRUNCATED "}}", true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"ask for less\\n{\\\"a\\\"\"}],"
		       "\"isError\":true"));
	/* A tool's own object with one more key is its result. */
	expect_result("{\"result\":{\"truncated\":true}}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"{\\\"truncated\\\":true}\"}],"
		       "\"structuredContent\":{\"truncated\":true},\"isError\":false"));
}

Test(mcp_call_result, says_in_a_last_block_that_rich_content_was_cut)
{
	expect_result("{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],"
		      "\"truncated\":true,\"actual_chars\":9,\"max_chars\":1,\"hint\":\"ask for "
		      "less\",\"structured\":{\"b\":1}}}",
		true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
		       "\"text\":\"ask for less\"}],\"structuredContent\":{\"b\":1},"
		       "\"isError\":false"));
	expect_result("{\"result\":{\"content\":[],\"truncated\":true}}", true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"The tool has cut this result."
		       "\"}],\"isError\":false"));
	/* A cut value does not satisfy the schema of the tool. */
	expect_result("{\"result\":{\"content\":[],\"truncated\":true,\"hint\":\"ask for less\","
		      "\"structured\":{" TRUNCATED "}}}",
		true,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\"\"},{\"type\":"
		       "\"text\",\"text\":\"ask for less\"}],\"isError\":true"));
}

Test(mcp_call_result, has_each_violation_on_a_line_of_its_own)
{
	expect_result("{\"error\":\"Bad.\",\"code\":\"invalid_arguments\",\"violations\":["
		      "{\"path\":\"/a\",\"message\":\"is no number\"},"
		      "{\"path\":\"\",\"message\":\"'b' is missing\"}, 7]}",
		false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":"
		       "\"Bad.\\n/a: is no number\\n'b' is missing\"}],\"isError\":true"));
	expect_result("{\"error\":\"Slow.\",\"code\":\"timeout\",\"timeout_ms\":1}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"Slow.\"}],\"isError\":true"));
	expect_result("{}", false,
		RESULT("\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"isError\":true"));
}

Test(mcp_call_result, is_an_error_without_words_when_the_answer_has_none)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	cr_assert_eq(
		respond(&out, "{\"code\":\"unknown_tool\"}", false, &text, &error), MCP_E_REFUSED);
	mcp_write_error(&out, TEXT_VIEW("1"), &error);
	expect_line(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
			  "\"message\":\"\"}}");
}

Test(mcp_call_result, is_an_error_of_json_rpc_when_the_request_is_wrong)
{
	static const char *const data[] = {"{\"error\":\"No.\",\"code\":\"unknown_tool\"}",
		"{\"error\":\"No.\",\"code\":\"missing_name\"}",
		"{\"error\":\"No.\",\"code\":\"bad_request\"}"};

	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer text = {0};
		struct mcp_error error;

		cr_expect_eq(respond(&out, data[i], false, &text, &error), MCP_E_REFUSED);
		cr_expect_eq(out.size, 0);
		mcp_write_error(&out, TEXT_VIEW("1"), &error);
		expect_line(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
				  "\"message\":\"No.\"}}");
	}
}
