/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/message.h"

#include <errno.h>
#include <stdio.h>

#include "client.h"
#include "scarce.h"

#define TOOLS_LIST "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"
#define TOOLS_CALL "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"
#define DISCOVER   "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover"

/* Check the code and the status of the refusal of @text. */
static void expect_refused(
	const char *text, const struct mcp_fields *fields, int code, unsigned int status)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_expect_eq(judge(&message, text, fields, &error), code, "%s: %d %.*s", text,
		(int)error.code, (int)error.message.size, error.message.text);
	cr_expect_eq(error.status, status, "%s: %u", text, error.status);
	mcp_message_deinit(&message);
}

static void expect_accepted(
	const char *text, const struct mcp_fields *fields, enum mcp_era era, enum mcp_method method)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_expect_eq(judge(&message, text, fields, &error), 0, "%s: %d %.*s", text, (int)error.code,
		(int)error.message.size, error.message.text);
	cr_expect_eq(message.era, era, "%s", text);
	cr_expect_eq(message.method, method, "%s", text);
	mcp_message_deinit(&message);
}

static void expect_id(const char *text, const char *id)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	judge(&message, text, NULL, &error);
	if (id) {
		cr_assert_eq(message.id.size, strlen(id), "%s", text);
		cr_expect_eq(memcmp(message.id.text, id, message.id.size), 0, "%s", text);
	} else {
		cr_expect_null(message.id.text, "%s", text);
	}
	mcp_message_deinit(&message);
}

Test(mcp_message, refuses_a_text_that_is_no_json)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_expect_eq(mcp_message_read(&message, mcp_methods, "{", 1, 16, &error), MCP_E_REFUSED);
	expect_refused("", NULL, MCP_PARSE_ERROR, 400);
	expect_refused("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}", NULL, MCP_PARSE_ERROR, 400);
	mcp_message_deinit(&message);
}

static void expect_refused_id(const char *text, const char *id)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_expect_eq(mcp_message_read(&message, mcp_methods, text, strlen(text), 16, &error),
		MCP_E_REFUSED);
	cr_expect_eq(message.kind, MCP_REQUEST);
	cr_assert_eq(message.id.size, strlen(id), "%s", text);
	cr_expect(message.id.size == 0 || memcmp(message.id.text, id, strlen(id)) == 0, "%s", text);
	mcp_message_deinit(&message);
}

/* Without it the client does not learn which of its requests was refused. */
Test(mcp_message, keeps_the_id_of_a_text_that_it_refuses)
{
	expect_refused_id(
		"{\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"\\ud83d\"}}", "5");
	expect_refused_id(
		"{\"params\":{\"id\":1,\"n\":NaN}, \"\\u0069d\" : \"a\", \"x\": 1}", "\"a\"");
	expect_refused_id("{\"id\":7,\"id\":8,\"method\":\"ping\"}", "7");
	expect_refused_id("{\"id\":[1],\"params\":01}", "");
	expect_refused_id("{\"params\":{]", "");
	expect_refused_id("{\"id\":3,\"params\":{", "3");
}

Test(mcp_message, refuses_a_json_that_is_no_message)
{
	static const char *const texts[] = {"1", "\"x\"", "null", "{}",
		"{\"id\":1,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
		"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"\\u0000\":1}}",
		("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":"
		 "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}")};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		expect_refused(texts[i], NULL, MCP_INVALID_REQUEST, 400);
}

Test(mcp_message, refuses_a_batch_in_every_era)
{
	expect_refused("[]", NULL, MCP_INVALID_REQUEST, 400);
	expect_refused("[" LEGACY("1", "ping", "") "]", NULL, MCP_INVALID_REQUEST, 400);
	expect_refused("[" MODERN("1", "tools/list", "") "]", FIELDS(TOOLS_LIST),
		MCP_INVALID_REQUEST, 400);
}

Test(mcp_message, takes_strings_and_integers_as_ids)
{
	static const char *const ids[] = {"1", "0", "-7", "\"\"", "\"a\\u0062\"",
		"123456789012345678901234567890", "1e3", "2.0"};
	char text[256];

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		snprintf(text, sizeof(text), LEGACY("%s", "ping", ""), ids[i]);
		expect_accepted(text, NULL, MCP_LEGACY, MCP_PING);
		expect_id(text, ids[i]);
	}
}

Test(mcp_message, refuses_other_ids_with_a_response_without_one)
{
	static const char *const ids[] = {"null", "1.5", "{}", "[1]", "true"};
	char text[256];

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		snprintf(text, sizeof(text), LEGACY("%s", "ping", ""), ids[i]);
		expect_refused(text, NULL, MCP_INVALID_REQUEST, 400);
		expect_id(text, NULL);
	}
}

Test(mcp_message, bounds_ids_and_progress_tokens)
{
	char id[MCP_ID_BYTES_MAX + 2];
	char text[2 * MCP_ID_BYTES_MAX];

	for (int spare = 0; spare < 2; spare++) {
		size_t size = MCP_ID_BYTES_MAX + (size_t)spare;

		snprintf(id, sizeof(id), "\"%0*d\"", (int)size - 2, 0);
		cr_assert_eq(strlen(id), size);
		snprintf(text, sizeof(text), LEGACY("%s", "ping", ""), id);
		if (spare == 0)
			expect_accepted(text, NULL, MCP_LEGACY, MCP_PING);
		else
			expect_refused(text, NULL, MCP_INVALID_REQUEST, 400);
		expect_id(text, spare == 0 ? id : NULL);
		snprintf(text, sizeof(text),
			LEGACY("1", "tools/call",
				"\"name\":\"a\",\"_meta\":{\"progressToken\":%s}"),
			id);
		if (spare == 0)
			expect_accepted(text, NULL, MCP_LEGACY, MCP_TOOLS_CALL);
		else
			expect_refused(text, NULL, MCP_INVALID_PARAMS, 200);
	}
}

Test(mcp_message, compares_ids_by_their_values)
{
	cr_expect(mcp_ids_equal(TEXT_VIEW("1"), TEXT_VIEW("1")));
	cr_expect(mcp_ids_equal(TEXT_VIEW("1"), TEXT_VIEW("1.0")));
	cr_expect(mcp_ids_equal(TEXT_VIEW("\"ab\""), TEXT_VIEW("\"a\\u0062\"")));
	cr_expect_not(mcp_ids_equal(TEXT_VIEW("1"), TEXT_VIEW("\"1\"")));
	cr_expect_not(mcp_ids_equal(TEXT_VIEW("9007199254740993"), TEXT_VIEW("9007199254740992")));
	cr_expect_not(mcp_ids_equal(TEXT_VIEW("\"a\""), TEXT_VIEW("\"b\"")));
}

Test(mcp_message, reads_the_requests_of_the_legacy_era)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	expect_accepted(LEGACY("1", "initialize", "\"protocolVersion\":\"2025-11-25\""), NULL,
		MCP_LEGACY, MCP_INITIALIZE);
	expect_accepted("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", NULL,
		MCP_LEGACY, MCP_TOOLS_LIST);
	expect_accepted("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}", NULL,
		MCP_LEGACY, MCP_PING);
	cr_expect_eq(judge(&message,
			     LEGACY("\"a\"", "tools/call",
				     "\"name\":\"add\",\"arguments\":{\"a\":1},"
				     "\"_meta\":{\"progressToken\":17}"),
			     NULL, &error),
		0);
	cr_expect(json_string_equals(&message.tape, message.name, "add", 3));
	cr_expect_eq(json_type_at(&message.tape, message.arguments), JSON_OBJECT);
	cr_expect_eq(message.progress_token.size, 2);
	cr_expect_eq(judge(&message, LEGACY("1", "tools/call", "\"name\":\"x\""), NULL, &error), 0);
	cr_expect_eq(message.arguments, JSON_NONE);
	cr_expect_null(message.progress_token.text);
	mcp_message_deinit(&message);
}

Test(mcp_message, takes_each_legacy_version_in_the_header_of_any_session)
{
	static const char *const headers[] = {"MCP-Protocol-Version: 2025-11-25",
		"mcp-protocol-version:2025-06-18 ", "MCP-Protocol-Version: 2025-03-26",
		"MCP-Protocol-Version:\t2024-11-05", "Accept: */*"};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		expect_accepted(LEGACY("1", "tools/list", ""), FIELDS(headers[i]), MCP_LEGACY,
			MCP_TOOLS_LIST);
}

Test(mcp_message, names_an_unsupported_version_of_the_header)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	for (int i = 0; i < 2; i++) {
		cr_expect_eq(judge(&message, LEGACY("1", "tools/list", ""),
				     FIELDS("MCP-Protocol-Version: 1999-\"01"), &error),
			MCP_UNSUPPORTED_VERSION);
		cr_expect_eq(error.status, 400);
		cr_expect_eq(error.requested.size, strlen("\"1999-\\\"01\""));
	}
	expect_refused(LEGACY("1", "tools/list", ""), FIELDS("MCP-Protocol-Version: 2026-07-28"),
		MCP_HEADER_MISMATCH, 400);
	mcp_message_deinit(&message);
}

Test(mcp_message, answers_an_unknown_method_of_the_legacy_era_with_200)
{
	expect_refused(LEGACY("1", "prompts/list", ""), NULL, MCP_METHOD_NOT_FOUND, 200);
	expect_refused(LEGACY("1", "server/discover", ""), NULL, MCP_METHOD_NOT_FOUND, 200);
	expect_refused(
		LEGACY("1", "notifications/initialized", ""), NULL, MCP_METHOD_NOT_FOUND, 200);
	expect_refused(LEGACY("1", "", ""), NULL, MCP_METHOD_NOT_FOUND, 200);
}

Test(mcp_message, refuses_parameters_of_the_wrong_type)
{
	static const char *const texts[] = {LEGACY("1", "tools/call", ""),
		LEGACY("1", "tools/call", "\"name\":7"),
		LEGACY("1", "tools/call", "\"name\":\"x\",\"arguments\":[]"),
		LEGACY("1", "tools/list", "\"cursor\":7"),
		LEGACY("1", "tools/list", "\"_meta\":{\"progressToken\":1.5}"),
		LEGACY("1", "initialize", ""), MODERN("1", "subscriptions/listen", ""),
		MODERN("1", "subscriptions/listen", ",\"notifications\":true"),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[1]}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		expect_refused(texts[i], NULL, MCP_INVALID_PARAMS, 200);
}

Test(mcp_message, takes_every_notification_and_reads_what_is_cancelled)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_expect_eq(judge(&message,
			     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":\"7\"}}",
			     NULL, &error),
		0);
	cr_expect_eq(message.kind, MCP_NOTIFICATION);
	cr_expect_eq(message.method, MCP_CANCELLED);
	cr_expect(mcp_ids_equal(message.request_id, TEXT_VIEW("\"7\"")));
	cr_expect_eq(judge(&message,
			     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":{}}}",
			     NULL, &error),
		0);
	cr_expect_null(message.request_id.text);
	cr_expect_eq(judge(&message,
			     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":[]}",
			     FIELDS("MCP-Protocol-Version: 2026-07-28"), &error),
		0);
	cr_expect_eq(
		judge(&message, "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{}}",
			NULL, &error),
		0);
	cr_expect_eq(message.method, MCP_UNKNOWN);
	mcp_message_deinit(&message);
}

Test(mcp_message, takes_responses_only_of_the_legacy_era)
{
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

	expect_accepted(text, NULL, MCP_LEGACY, MCP_UNKNOWN);
	expect_refused(text, FIELDS("MCP-Protocol-Version: 2026-07-28"), MCP_INVALID_REQUEST, 400);
}

Test(mcp_message, reads_the_requests_of_the_modern_era_with_and_without_headers)
{
	struct mcp_message message = {0};
	struct mcp_error error;

	expect_accepted(MODERN("1", "server/discover", ""), NULL, MCP_MODERN, MCP_DISCOVER);
	expect_accepted(
		MODERN("1", "server/discover", ""), FIELDS(DISCOVER), MCP_MODERN, MCP_DISCOVER);
	expect_accepted(MODERN("1", "tools/call", ",\"name\":\"add\""),
		FIELDS(TOOLS_CALL, "mcp-name: \tadd "), MCP_MODERN, MCP_TOOLS_CALL);
	expect_accepted(MODERN("1", "tools/call", ",\"name\":\"S\xc3\xb6nne\""),
		FIELDS(TOOLS_CALL, "Mcp-Name: =?base64?U8O2bm5l?="), MCP_MODERN, MCP_TOOLS_CALL);
	cr_expect_eq(judge(&message,
			     MODERN("1", "subscriptions/listen",
				     ",\"notifications\":{\"toolsListChanged\":true}"),
			     NULL, &error),
		0);
	cr_expect(message.wants_tool_changes);
	cr_expect_eq(judge(&message, MODERN("1", "subscriptions/listen", ",\"notifications\":{}"),
			     NULL, &error),
		0);
	cr_expect_not(message.wants_tool_changes);
	mcp_message_deinit(&message);
}

Test(mcp_message, refuses_headers_that_differ_from_the_body)
{
	const char *call = MODERN("1", "tools/call", ",\"name\":\"add\"");
	const char *list = MODERN("1", "tools/list", "");

	expect_refused(list, FIELDS("Mcp-Method: tools/list"), MCP_HEADER_MISMATCH, 400);
	expect_refused(list, FIELDS(TOOLS_LIST, "MCP-Protocol-Version: 2026-07-28"),
		MCP_HEADER_MISMATCH, 400);
	expect_refused(list, FIELDS("MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/list"),
		MCP_HEADER_MISMATCH, 400);
	expect_refused(list, FIELDS("MCP-Protocol-Version: 2026-07-28"), MCP_HEADER_MISMATCH, 400);
	expect_refused(list, FIELDS(TOOLS_CALL), MCP_HEADER_MISMATCH, 400);
	expect_refused(list, FIELDS("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: Tools/list"),
		MCP_HEADER_MISMATCH, 400);
	expect_refused(call, FIELDS(TOOLS_CALL), MCP_HEADER_MISMATCH, 400);
	expect_refused(call, FIELDS(TOOLS_CALL, "Mcp-Name: sub"), MCP_HEADER_MISMATCH, 400);
	expect_refused(call, FIELDS(TOOLS_CALL, "Mcp-Name: Add"), MCP_HEADER_MISMATCH, 400);
	expect_refused(call, FIELDS(TOOLS_CALL, "Mcp-Name: add", "Mcp-Name: add"),
		MCP_HEADER_MISMATCH, 400);
	expect_refused(
		call, FIELDS(TOOLS_CALL, "Mcp-Name: =?base64?YWRk!?="), MCP_HEADER_MISMATCH, 400);
	expect_refused(MODERN("1", "tools/call", ",\"name\":\"\xc3\xb6\""),
		FIELDS(TOOLS_CALL, "Mcp-Name: \xc3\xb6"), MCP_HEADER_MISMATCH, 400);
	expect_refused(MODERN("1", "resources/read", ",\"uri\":\"x:y\""),
		FIELDS("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: resources/read"),
		MCP_HEADER_MISMATCH, 400);
}

Test(mcp_message, judges_headers_before_the_version_and_that_before_the_method)
{
	struct mcp_message message = {0};
	struct mcp_error error;
	const char *unsupported =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\",\"params\":{" META_OF(
			"v9\\u0039") "}}";

	expect_refused(unsupported,
		FIELDS("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: nothing"),
		MCP_HEADER_MISMATCH, 400);
	expect_refused(unsupported, FIELDS("MCP-Protocol-Version: v99", "Mcp-Method: nothing"),
		MCP_UNSUPPORTED_VERSION, 400);
	cr_expect_eq(judge(&message, unsupported, NULL, &error), MCP_UNSUPPORTED_VERSION);
	cr_expect_eq(error.requested.size, strlen("\"v9\\u0039\""));
	expect_refused(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META_OF(
			"2025-11-25") "}}",
		NULL, MCP_UNSUPPORTED_VERSION, 400);
	mcp_message_deinit(&message);
}

Test(mcp_message, refuses_a_modern_request_without_its_meta)
{
	static const char no_capabilities[] = LEGACY("1", "nothing",
		"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}");

	expect_refused(
		LEGACY("1", "server/discover", ""), FIELDS(DISCOVER), MCP_INVALID_PARAMS, 400);
	expect_refused(LEGACY("1", "server/discover",
			       "\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}"),
		FIELDS(DISCOVER), MCP_INVALID_PARAMS, 400);
	expect_refused(no_capabilities, NULL, MCP_INVALID_PARAMS, 400);
	expect_refused(
		LEGACY("1", "nothing", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":7}"),
		NULL, MCP_INVALID_PARAMS, 400);
}

Test(mcp_message, answers_methods_that_the_modern_era_does_not_have_with_404)
{
	static const char *const names[] = {"initialize", "ping", "logging/setLevel",
		"resources/subscribe", "prompts/list", "unknown/method"};
	char text[512];
	char field[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(text, sizeof(text), MODERN("1", "%s", ""), names[i]);
		snprintf(field, sizeof(field), "Mcp-Method: %s", names[i]);
		expect_refused(text, FIELDS("MCP-Protocol-Version: 2026-07-28", field),
			MCP_METHOD_NOT_FOUND, 404);
	}
}

Test(mcp_message, reports_that_memory_is_short)
{
	const char *text = MODERN("1", "tools/call", ",\"name\":\"add\"");
	const struct mcp_fields *fields = FIELDS(TOOLS_CALL, "Mcp-Name: add");

	for (size_t n = 0; scarce_once_after(n); n++) {
		struct mcp_message message = {0};
		struct mcp_error error;
		int r = mcp_message_read(&message, mcp_methods, text, strlen(text), 16, &error);

		if (r == 0)
			r = mcp_message_check(&message, fields, &error);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0);
		mcp_message_deinit(&message);
	}
}
