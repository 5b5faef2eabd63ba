/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/response.h"

#include "client.h"
#include "mcp/notification.h"

static const struct mcp_server server = {.version = "1.2.3"};

#define INFO "{\"name\":\"toolboxd\",\"version\":\"1.2.3\"}"
#define MODERN_END                                                                                 \
	"\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}}" \
	"}"

/* Append the response to @text by @write. */
static void respond(struct buffer *out, const char *text,
	void (*write)(struct buffer *, const struct mcp_message *, const struct mcp_server *))
{
	struct mcp_message message = {0};
	struct mcp_error error;

	cr_assert_eq(judge(&message, text, NULL, &error), 0);
	write(out, &message, &server);
	mcp_message_deinit(&message);
}

static void expect_agreed(const char *requested, const char *version)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer wanted = {0};

	buffer_printf(
		&text, LEGACY("\"i\"", "initialize", "\"protocolVersion\":\"%s\""), requested);
	cr_assert_not_null(buffer_terminate(&text));
	respond(&out, text.data, mcp_write_initialize);
	buffer_printf(&wanted,
		"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":\"%s\","
		"\"capabilities\":{\"tools\":{\"listChanged\":true}},"
		"\"serverInfo\":" INFO ",\"instructions\":\"",
		version);
	cr_assert_not_null(buffer_terminate(&out));
	cr_assert_not_null(buffer_terminate(&wanted));
	cr_expect_eq(strncmp(out.data, wanted.data, wanted.size), 0, "%s", out.data);
	cr_expect_str_eq(out.data + out.size - 3, "\"}}");
}

Test(mcp_response, agrees_on_a_legacy_version_and_never_refuses_one)
{
	expect_agreed("2025-11-25", "2025-11-25");
	expect_agreed("2025-06-18", "2025-06-18");
	expect_agreed("2025-03-26", "2025-03-26");
	expect_agreed("2024-11-05", "2024-11-05");
	expect_agreed("2026-07-28", "2025-11-25");
	expect_agreed("", "2025-11-25");
	expect_agreed("2024-10-07", "2025-11-25");
}

Test(mcp_response, lists_the_versions_that_the_error_lists_too)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer refusal = {0};
	struct mcp_error error = {.code = MCP_UNSUPPORTED_VERSION,
		.message = TEXT_VIEW("no"),
		.requested = TEXT_VIEW("\"v9\"")};
	static const char begin[] = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{"
				    "\"supportedVersions\":[\"2026-07-28\"],"
				    "\"capabilities\":{\"tools\":{\"listChanged\":true}},";
	static const char end[] = ",\"ttlMs\":60000,\"cacheScope\":\"public\"," MODERN_END;

	respond(&out, MODERN("4", "server/discover", ""), mcp_write_discover);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_eq(strncmp(out.data, begin, strlen(begin)), 0, "%s", out.data);
	cr_expect_str_eq(out.data + out.size - strlen(end), end);
	mcp_write_error(&refusal, TEXT_VIEW("4"), &error);
	expect_line(&refusal, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32022,"
			      "\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"],"
			      "\"requested\":\"v9\"}}}");
}

Test(mcp_response, answers_a_ping_with_nothing_and_the_end_of_a_listen_with_its_id)
{
	cleanup(buffer_deinit) struct buffer pong = {0};
	cleanup(buffer_deinit) struct buffer end = {0};

	respond(&pong, LEGACY("123456789012345678901234567890", "ping", ""), mcp_write_pong);
	expect_line(
		&pong, "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"result\":{}}");
	respond(&end, MODERN("\"s\"", "subscriptions/listen", ",\"notifications\":{}"),
		mcp_write_pong);
	expect_line(&end,
		"{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":{\"resultType\":\"complete\","
		"\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"s\","
		"\"io.modelcontextprotocol/serverInfo\":" INFO "}}}");
}

Test(mcp_response, writes_an_error_without_an_id_when_there_is_none)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct mcp_error error;

	mcp_refuse(&error, MCP_PARSE_ERROR, 400, "not \"JSON\"");
	mcp_write_error(&out, (struct text_view){NULL, 0}, &error);
	expect_line(&out, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
			  "\"message\":\"not \\\"JSON\\\"\"}}");
}

/* ── notifications ───────────────────────────────────────────────────────────────────────────── */

Test(mcp_notification, carries_the_id_of_its_subscription)
{
	cleanup(buffer_deinit) struct buffer legacy = {0};
	cleanup(buffer_deinit) struct buffer modern = {0};
	cleanup(buffer_deinit) struct buffer first = {0};
	cleanup(buffer_deinit) struct buffer none = {0};

	mcp_write_list_changed(&legacy, (struct text_view){NULL, 0});
	expect_line(
		&legacy, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
	mcp_write_list_changed(&modern, TEXT_VIEW("7"));
	expect_line(&modern, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
			     "\"params\":{\"_meta\":{"
			     "\"io.modelcontextprotocol/subscriptionId\":7}}}");
	mcp_write_acknowledged(&first, TEXT_VIEW("\"7\""), true, NULL);
	expect_line(&first, "{\"jsonrpc\":\"2.0\","
			    "\"method\":\"notifications/subscriptions/acknowledged\","
			    "\"params\":{\"_meta\":{"
			    "\"io.modelcontextprotocol/subscriptionId\":\"7\"},"
			    "\"notifications\":{\"toolsListChanged\":true}}}");
	mcp_write_acknowledged(&none, TEXT_VIEW("7"), false, NULL);
	expect_line(&none, "{\"jsonrpc\":\"2.0\","
			   "\"method\":\"notifications/subscriptions/acknowledged\","
			   "\"params\":{\"_meta\":{"
			   "\"io.modelcontextprotocol/subscriptionId\":7},\"notifications\":{}}}");
}

#define PROGRESS(value, more)                                                                      \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"                   \
	"{\"progressToken\":\"t\",\"progress\":" value ",\"total\":1" more "}}"

static void expect_progress(
	struct mcp_progress *progress, double value, const char *text, const char *wanted)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct text_view view = {text, text ? strlen(text) : 0};

	cr_expect_eq(mcp_write_progress(&out, progress, TEXT_VIEW("\"t\""), value, view),
		wanted != NULL, "%g", value);
	if (wanted)
		expect_line(&out, wanted);
	else
		cr_expect_eq(out.size, 0);
}

Test(mcp_notification, tells_progress_that_increases_strictly)
{
	struct mcp_progress progress = {0};

	expect_progress(&progress, 0, NULL, PROGRESS("0.0", ""));
	expect_progress(&progress, 0.5, "half", PROGRESS("0.5", ",\"message\":\"half\""));
	expect_progress(&progress, 0.5, NULL, NULL);
	expect_progress(&progress, 0.25, NULL, NULL);
	expect_progress(
		&progress, 0.25, "back", PROGRESS("0.5000009536743164", ",\"message\":\"back\""));
	expect_progress(
		&progress, -1, "more", PROGRESS("0.5000019073486328", ",\"message\":\"more\""));
	expect_progress(&progress, -1, NULL, NULL);
	expect_progress(&progress, 1, NULL, PROGRESS("1.0", ""));
	expect_progress(&progress, 1, "again", NULL);
}

Test(mcp_notification, begins_with_the_text_of_a_tool_that_knows_no_progress)
{
	struct mcp_progress progress = {0};

	expect_progress(&progress, 7, "asking", PROGRESS("0.0", ",\"message\":\"asking\""));
	expect_progress(&progress, 0, NULL, PROGRESS("9.5367431640625e-07", ""));
}
