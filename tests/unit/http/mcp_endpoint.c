/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/request/request_text.h"
#include "http/mcp/endpoint.h"
#include "quotes.h"
#include "scarce.h"
#include "serving.h"
#include "thread_clock.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* The Model Context Protocol over HTTP, as its clients speak it. */

TestSuite(mcp_endpoint, .init = serving_set_up, .fini = serving_tear_down, .timeout = 120);

#define ACCEPT "Accept: application/json, text/event-stream\r\n"

static char session_field[256];

/* Post the message @text, and return the status. */
static int post(const char *path, const char *text)
{
	char line[64];
	char fields[512];

	snprintf(line, sizeof(line), "POST %s", path);
	snprintf(fields, sizeof(fields), ACCEPT "%s", session_field);
	return http_ask(line, fields, text);
}

static void expect_posted(const char *path, const char *text, int status, const char *part)
{
	cleanup_free char *json = quoted(part);
	int r = post(path, text);

	cr_expect_eq(r, status, "%s: %s", text, http_response);
	cr_expect(strstr(http_body, json), "%s: %s", text, http_body);
}

/* Begin a session of the legacy era. */
static void initialize(const char *path)
{
	const char *id;

	session_field[0] = '\0';
	expect_posted(path,
		"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"
		"'2025-06-18','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}",
		200, "'protocolVersion':'2025-06-18'");
	id = strcasestr(http_response, "\r\nMcp-Session-Id: ");
	cr_assert_not_null(id, "%s", http_response);
	id += 2;
	snprintf(session_field, sizeof(session_field), "%.*s\r\n", (int)strcspn(id, "\r"), id);
}

#define REQUEST(id, method, params)                                                                \
	"{'jsonrpc':'2.0','id':" id ",'method':'" method "','params':{" params "}}"

Test(mcp_endpoint, lists_and_calls_tools_in_a_session)
{
	serving_start("");
	initialize("/mcp");
	expect_posted("/mcp", REQUEST("2", "tools/list", ""), 200, "'name':'libm__sqrt'");
	cr_expect_not_null(strstr(http_body, "\"name\":\"libc__wait\""));
	expect_posted("/mcp",
		REQUEST("3", "tools/call", "'name':'libm__sqrt','arguments':{'x':16}"), 200,
		"'structuredContent':");
	cr_expect_not_null(strstr(http_body, "\"isError\":false"), "%s", http_body);
	expect_posted("/mcp", REQUEST("4", "tools/call", "'name':'sqrt','arguments':{'x':16}"), 200,
		"'id':4");
	expect_posted("/mcp",
		REQUEST("5", "tools/call", "'name':'libm__sqrt','arguments':{'x':'big'}"), 200,
		"'isError':true");
}

#ifdef TEST_THREAD_CLOCK
/* An eighth of the time is the client's, with a credit of 100 ms (core/request/checks.h): 5 ms for
 * the message and 5 ms for its arguments are owed as 80 ms, and counted twice as 440 ms. */
Test(mcp_endpoint, charges_each_part_of_a_long_call_once)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	serving_start("");
	initialize("/mcp");
	buffer_append_string(&text,
		"{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'libm__sqrt',"
		"'arguments':{'x':16,'more':'");
	for (size_t i = 0; i < REQUEST_TEXT_LONG_BYTES; i++)
		buffer_append_char(&text, 'a');
	buffer_append_string(&text, "'}}}");
	cr_assert(buffer_terminate(&text));
	thread_step_ns = 5 * NS_PER_MS;
	expect_posted("/mcp", text.data, 200, "'id':2");
	expect_posted("/mcp", text.data, 200, "'id':2");
	/* 60 ms of the debt are paid by time: a busy machine pays them in a post, a quiet one in
	 * several refused ones. The next post owes a minute. */
	thread_step_ns = 1000 * NS_PER_MS;
	while (post("/mcp", text.data) == 429)
		;
	cr_expect_eq(post("/mcp", text.data), 429, "%s", http_response);
	cr_expect(strstr(http_body, "\"code\":\"busy\""), "%s", http_body);
	cr_expect_null(strstr(http_body, "jsonrpc"), "%s", http_body);
}
#endif

Test(mcp_endpoint, has_the_tools_of_one_toolbox_by_their_names_at_its_path)
{
	serving_start("");
	initialize("/mcp/libc");
	expect_posted("/mcp/libc", REQUEST("2", "tools/list", ""), 200, "'name':'wait'");
	cr_expect_null(strstr(http_body, "sqrt"), "%s", http_body);
	expect_posted("/mcp/libc", REQUEST("3", "tools/call", "'name':'wait','arguments':{'us':1}"),
		200, "'isError':false");
	cr_expect_eq(post("/mcp/libc", REQUEST("4", "tools/call", "'name':'sqrt'")), 200);
	cr_expect_not_null(strstr(http_body, "-32602"), "%s", http_body);
}

#define SEARCH(id, arguments)                                                                      \
	REQUEST(id, "tools/call", "'name':'search_tools','arguments':{" arguments "}")

Test(mcp_endpoint, finds_tools_that_its_list_leaves_out)
{
	serving_start_http(",'mcp_lazy':true", "");
	initialize("/mcp");
	expect_posted("/mcp", REQUEST("2", "tools/list", ""), 200, "'name':'search_tools'");
	cr_expect_null(strstr(http_body, "\"libm__sqrt\""), "%s", http_body);
	expect_posted("/mcp", SEARCH("3", "'query':'sqrt'"), 200, "'name':'libm__sqrt'");
	cr_expect_null(strstr(http_body, "libc__wait"), "%s", http_body);
	expect_posted(
		"/mcp", SEARCH("4", "'query':'sqrt wait','limit':2"), 200, "'name':'libc__wait'");
	cr_expect_not_null(strstr(http_body, "\"name\":\"libm__sqrt\""), "%s", http_body);
	expect_posted("/mcp", SEARCH("5", "'query':'sqrt wait','limit':1"), 200, "'name':'lib");
	cr_expect(!strstr(http_body, "\"name\":\"libm__sqrt\"") !=
			  !strstr(http_body, "\"name\":\"libc__wait\""),
		"%s", http_body);
	initialize("/mcp/libm");
	expect_posted("/mcp/libm", SEARCH("2", "'query':'sqrt wait'"), 200, "'name':'sqrt'");
	cr_expect_null(strstr(http_body, "\"wait\""), "%s", http_body);
}

Test(mcp_endpoint, finds_tools_by_the_names_of_its_list)
{
	serving_start_http(",'mcp_lazy':true,'mcp_names':'bare'", "");
	initialize("/mcp");
	expect_posted("/mcp", SEARCH("2", "'query':'sqrt'"), 200, "'name':'sqrt'");
}

Test(mcp_endpoint, answers_a_ping_with_the_id_as_it_came)
{
	static const char *const ids[] = {"7", "'text'", "'\\u0041'", "9007199254740993"};

	serving_start("");
	initialize("/mcp");
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		char text[128];
		char part[64];

		snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':%s,'method':'ping'}", ids[i]);
		snprintf(part, sizeof(part), "'id':%s", strcmp(ids[i], "'\\u0041'") ? ids[i] : "");
		expect_posted("/mcp", text, 200, part);
		cr_expect_not_null(strstr(http_body, "\"result\":{}"), "%s", http_body);
	}
}

Test(mcp_endpoint, refuses_messages_that_are_none)
{
	static const struct {
		const char *text;
		int status;
		const char *part;
	} cases[] = {
		{"{'jsonrpc':'2.0','id':1,", 400, "-32700"},
		{"[]", 400, "-32600"},
		{"5", 400, "-32600"},
		{"{'jsonrpc':'1.0','id':1,'method':'ping'}", 400, "-32600"},
		{"{'jsonrpc':'2.0','id':{},'method':'ping'}", 400, "-32600"},
		{"{'jsonrpc':'2.0','id':1,'method':5}", 400, "-32600"},
		{REQUEST("1", "tools/call", ""), 200, "-32602"},
		{REQUEST("1", "tools/call", "'name':5"), 200, "-32602"},
		{REQUEST("1", "tools/call", "'name':'none'"), 200, "-32602"},
		{REQUEST("1", "tools/call", "'name':'sqrt','arguments':[]"), 200, "-32602"},
	};

	serving_start("");
	initialize("/mcp");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_posted("/mcp", cases[i].text, cases[i].status, cases[i].part);
}

Test(mcp_endpoint, accepts_notifications_without_a_body)
{
	serving_start("");
	initialize("/mcp");
	cr_expect_eq(post("/mcp", "{'jsonrpc':'2.0','method':'notifications/initialized'}"), 202);
	cr_expect_str_empty(http_body);
	cr_expect_eq(post("/mcp", "{'jsonrpc':'2.0','method':'notifications/unheard_of'}"), 202);
	cr_expect_eq(post("/mcp", "{'jsonrpc':'2.0','id':99,'result':{}}"), 202);
}

Test(mcp_endpoint, ends_a_session_by_delete)
{
	serving_start("");
	initialize("/mcp");
	cr_expect_eq(n_fdatasyncs(), 0);
	cr_expect_leq(http_ask("DELETE /mcp", session_field, ""), 204, "%s", http_response);
	cr_expect_eq(post("/mcp", REQUEST("2", "tools/list", "")), 404, "%s", http_response);
	while (n_fdatasyncs() == 0)
		http_ask("GET /health", "", "");
	cr_expect_eq(http_ask("DELETE /mcp", session_field, ""), 404, "%s", http_response);
	snprintf(session_field, sizeof(session_field), "Mcp-Session-Id: made-up\r\n");
	cr_expect_eq(post("/mcp", REQUEST("2", "tools/list", "")), 404, "%s", http_response);
}

Test(mcp_endpoint, needs_no_session_in_the_modern_era)
{
	static const char modern[] =
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
	static const char meta[] =
		"'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
		"'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'},"
		"'io.modelcontextprotocol/clientCapabilities':{}}";
	char text[512];

	serving_start("");
	snprintf(session_field, sizeof(session_field), "%s", modern);
	snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{%s}}",
		meta);
	expect_posted("/mcp", text, 200, "'name':'libm__sqrt'");
	cr_expect_null(strcasestr(http_response, "Mcp-Session-Id"));
}

Test(mcp_endpoint, has_a_stream_for_a_client_that_accepts_one)
{
	cleanup(buffer_deinit) struct buffer fields = {0};
	int fd;

	serving_start("");
	initialize("/mcp");
	fd = http_begin("GET /mcp", session_field, "");
	http_read_until(fd, "HTTP/1.1 4");
	close(fd);
	buffer_printf(&fields, "%sAccept: text/event-stream\r\n", session_field);
	fd = http_begin("GET /mcp", buffer_terminate(&fields), "");
	http_read_until(fd, "Content-Type: text/event-stream");
	cr_expect_not_null(strstr(http_response, "HTTP/1.1 200 OK"), "%s", http_response);
	close(fd);
}

Test(mcp_endpoint, shows_a_guest_the_tools_of_its_profile)
{
	serving_start("");
	serving_use_token(GUEST_TOKEN);
	initialize("/mcp");
	expect_posted("/mcp", REQUEST("2", "tools/list", ""), 200, "'name':'libm__sqrt'");
	cr_expect_null(strstr(http_body, "pow"), "%s", http_body);
	expect_posted("/mcp", REQUEST("3", "tools/call", "'name':'libm__pow','arguments':{}"), 200,
		"-32602");
}

/* Append @n values, with commas. */
static void append_values(struct buffer *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buffer_append_string(text, i > 0 ? ",1" : "1");
}

/* While a body is read in the loop, its values take 16 bytes each, eight times what they have. */
Test(mcp_endpoint, takes_no_more_values_than_a_message_has)
{
	cleanup(buffer_deinit) struct buffer call = {0};
	cleanup(buffer_deinit) struct buffer decision = {0};

	serving_start_http(",'limits':{'body_bytes':1000000}", ",'limits':{'args_bytes':1024}");
	initialize("/mcp");
	buffer_append_string(&call, "{'jsonrpc':'2.0','id':2,'method':'tools/list','more':[");
	append_values(&call, 1024 / 2 + CONFIG_MORE_VALUES);
	buffer_append_string(&call, "]}");
	cr_assert(buffer_terminate(&call));
	expect_posted("/mcp", call.data, 400, "'id':2,");
	cr_expect(strstr(http_body, "expected fewer values"), "%s", http_body);
	serving_use_token(OPERATOR_TOKEN);
	buffer_append_string(&decision, "{'decision':'yes','more':[");
	append_values(&decision, 1024 / 2 + CONFIG_MORE_VALUES);
	buffer_append_string(&decision, "]}");
	cr_assert(buffer_terminate(&decision));
	cr_expect_eq(
		http_ask("POST /v1/approvals/0123456789abcdef0123456789abcdef", "", decision.data),
		400);
	cr_expect(strstr(http_body, "expected fewer values"), "%s", http_body);
}

/* Without its state folder it would have no tasks. */
Test(mcp_endpoint, is_whole_or_reports_that_memory_is_short)
{
	static struct service service;
	size_t n = 0;

	setenv("HOME", "/home/me", 1);
	for (; scarce_once_after(n); n++) {
		struct mcp_endpoint *endpoint = NULL;
		int r = mcp_endpoint_new(&service, NULL, &endpoint);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		mcp_endpoint_free(endpoint);
	}
	cr_expect_gt(n, 3);
}
