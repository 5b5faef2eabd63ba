/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_http.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/clock.h"
#include "worker/driver.h"

/* Servers over HTTP: their requests, and the reasons that callers and authors of manifests read. */

TestSuite(mcp_http, .init = server_set_up, .fini = server_tear_down, .timeout = 60);

#define LEGACY "'legacy':true,"

#define BEGUN_IS   "the server cannot be used: "
#define UNANSWERED BEGUN_IS "it does not answer server/discover and initialize: "
#define REFUSED    BEGUN_IS "it has refused server/discover and initialize: "
#define UNREACHED  BEGUN_IS "it cannot be reached: "
#define OLDER      "it may be a server of the older transport HTTP+SSE, which is not supported"

#define HUNDRED                                                                                    \
	"aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaa" \
	"aa"                                                                                       \
	"bbbbbbbbbb"

/* Expect that a server that answers everything with @answer is refused with @reason. */
static void expect_refused(const char *answer, const char *reason)
{
	server_use((struct script[]){{.in = "", .answer = answer}, {0}});
	cr_expect_eq(server_load(LEGACY, ""), DRIVER_E_REFUSED, "%s", answer);
	cr_expect_str_eq(server_refused(), reason, "%s: %s", answer, server_refused());
}

/* ── the reasons ─────────────────────────────────────────────────────────────────────────────── */

Test(mcp_http, tells_why_a_status_is_no_answer)
{
	static const struct {
		const char *answer;
		const char *reason;
	} rows[] = {
		{"401 x\r\n\r\n",
			UNANSWERED "it answers with the status 401: it wants a token, such as in "
				   "mcp.headers.Authorization; logins by OAuth are not supported"},
		{"405 x\r\n\r\n",
			REFUSED "it answers with the status 405, so it takes no POST: " OLDER},
		{"404 x\r\n\r\n",
			REFUSED "it answers with the status 404: if the path is right, " OLDER},
		{"400 x\r\n\r\n", REFUSED "it answers with the status 400"},
		{"300 x\r\n\r\n", UNANSWERED "it answers with the status 300"},
		{"302 x\r\nLocation: http://other.example/x\r\n\r\n",
			UNANSWERED "it redirects to http://other.example/x, which is not followed"},
		{"503 x\r\nContent-Type: text/plain\r\n\r\nbusy\n",
			UNANSWERED "it answers with the status 503: busy\\u000a"},
		{"503 x\r\nContent-Type: text/html\r\n\r\nbusy",
			UNANSWERED "it answers with the status 503"},
		{"503 x\r\nContent-Type: text/plain\r\n\r\n" HUNDRED HUNDRED,
			UNANSWERED "it answers with the status 503: " HUNDRED HUNDRED},
		{"503 x\r\nContent-Type: text/plain\r\n\r\n" HUNDRED HUNDRED "c",
			UNANSWERED "it answers with the status 503: " HUNDRED HUNDRED},
		{"503 x\r\nContent-Type: text/plain\r\n\r\n\xC3\xA4" HUNDRED HUNDRED, UNANSWERED
			"it answers with the status 503: \xC3\xA4" HUNDRED
			"aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaa"
			"aaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbb"},
		{"503 x\r\n" IS_JSON "\r\n{'no':1}",
			UNANSWERED "it answers with the status 503: {\"no\":1}"},
		{"503 x\r\n" IS_JSON "\r\n[", UNANSWERED "it answers with the status 503: ["},
		{"401 x\r\n" IS_JSON
		 "\r\n{'jsonrpc':'2.0','id':1,'error':{'code':-1,'message':'m'}}",
			UNANSWERED "it answers with the status 401: it wants a token, such as in "
				   "mcp.headers.Authorization; logins by OAuth are not supported"},
	};
	char answer[1024] = "HTTP/1.1 ";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(answer + strlen("HTTP/1.1 "), rows[i].answer);
		expect_refused(answer, rows[i].reason);
	}
}

Test(mcp_http, tells_what_is_wrong_with_an_answer)
{
	expect_refused(OK "\r\n", UNREACHED "its answer is empty");
	expect_refused(OK IS_JSON "\r\n", UNREACHED "its answer is empty");
	expect_refused(OK IS_EVENT "\r\n", UNREACHED "its answer is empty");
	expect_refused(EVENTS(": nothing\n\n"), UNREACHED "it has ended its answer early");
	expect_refused(OK "\r\nx", UNREACHED
		"it answers with no type, not with application/json or text/event-stream");
	expect_refused(OK "Content-Type: text/html\r\n\r\nx", UNREACHED
		"it answers with text/html, not with application/json or text/event-stream");
	expect_refused(OK IS_JSON "Content-Encoding: br\r\n\r\n{}",
		UNREACHED "it answers with the encoding br, which is not asked for");
	expect_refused(JSON("["), UNREACHED "it has sent what is no message: at byte 1: expected a "
					    "value, but the text ends: [");
	expect_refused(EVENTS("data: [\n\n"),
		UNREACHED "it has sent what is no message: at byte 1: expected a value, but the "
			  "text ends: [");
	expect_refused(OK IS_JSON "Content-Length: 5\r\n\r\n{}",
		UNREACHED "transfer closed with 3 bytes remaining to read");
	expect_refused("", UNREACHED "Empty reply from server");
}

Test(mcp_http, takes_the_types_in_any_case_and_with_parameters)
{
	server_use((struct script[]){
		{.in = "'initialize'",
			.answer = OK "Content-Type: APPLICATION/json; charset=utf-8\r\n\r\n" BEGUN},
		{.in = "'notifications/", .answer = ACCEPTED},
		{.in = "'tools/list'",
			.answer = OK "Content-Type: Text/Event-Stream;x=y\r\n\r\n"
				     "data: " LISTED("2") "\n\n"},
		{0}});
	cr_expect_eq(server_load(LEGACY, ""), 0, "%s", server_refused());
}

Test(mcp_http, tells_the_same_reason_for_the_same_failure)
{
	cr_expect_eq(server_load(LEGACY, ",'proxy':'http://127.0.0.1:1'"), DRIVER_E_REFUSED);
	cr_expect(strstr(server_refused(), "127.0.0.1 port 1"), "%s", server_refused());
	cr_expect_null(strstr(server_refused(), " after "), "%s", server_refused());
	cr_expect_null(strstr(server_refused(), " ms"), "%s", server_refused());
}

Test(mcp_http, tells_no_secret_that_the_server_repeats)
{
	setenv("UNIT_SECRET", "s3cret-value", 1);
	server_use((struct script[]){
		{.in = "",
			.answer = "HTTP/1.1 503 x\r\nContent-Type: text/plain\r\n\r\n"
				  "no s3cret-value"},
		{0}});
	cr_expect_eq(
		server_load(LEGACY, ",'headers':{'X-Key':'${env:UNIT_SECRET}'}"), DRIVER_E_REFUSED);
	cr_expect_str_eq(server_refused(), UNANSWERED "it answers with the status 503: no ***");
	cr_expect_eq(server_count("X-Key: s3cret-value\r\n"), 1);
}

Test(mcp_http, waits_no_longer_for_its_list_than_it_may)
{
	server_use((struct script[]){{.in = "", .stays = true}, {0}});
	cr_expect_eq(server_load_within(100, LEGACY, ""), DRIVER_E_REFUSED);
	cr_expect_str_eq(server_refused(),
		BEGUN_IS "it has not responded to server/discover and initialize in time");
}

/* ── what it is sent ─────────────────────────────────────────────────────────────────────────── */

Test(mcp_http, sends_the_headers_of_the_protocol_and_of_the_manifest)
{
	server_use((struct script[]){LEGACY_SESSION,
		{.in = "'tools/call'", .answer = JSON(RESPONSE("3", "{'content':[]}"))}, {0}});
	server_load_tools(LEGACY, ",'headers':{'X-A':'b','X-Empty':''}");
	server_call(7, READS);
	server_expect(WIRE_RESULT, 7, "{'content':[]}");
	server_unload();
	cr_expect_eq(server_count("POST /mcp HTTP/1.1\r\n"), 4);
	cr_expect_eq(server_count("\r\nContent-Type: application/json\r\n"), 4);
	cr_expect_eq(server_count("\r\nAccept: application/json, text/event-stream\r\n"), 4);
	cr_expect_eq(server_count("\r\nX-A: b\r\n"), 4);
	cr_expect_eq(server_count("\r\nX-Empty:\r\n"), 4);
	cr_expect_eq(server_count("\r\nUser-Agent: toolboxd/"), 4);
	cr_expect_eq(server_count("\r\nExpect:"), 0);
	cr_expect_eq(server_count("\r\nMCP-Protocol-Version: 2025-06-18\r\n"), 3);
	cr_expect_eq(server_count("\r\nMcp-Method:"), 0);
	cr_expect_eq(server_count("\r\nMcp-Session-Id:"), 0);
	cr_expect_eq(server_count("DELETE "), 0, "without a session nothing ends");
}

/* The rows of a session of the modern era up to its list. */
#define MODERN_SESSION                                                                             \
	{.in = "'server/discover'",                                                                \
		.answer = JSON(RESPONSE("1", "{'resultType':'complete','supportedVersions':"       \
					     "['2026-07-28'],'capabilities':{'tools':{}}}"))},     \
	{                                                                                          \
		.in = "'tools/list'",                                                              \
		.answer = JSON(RESPONSE(                                                           \
			"2", "{'resultType':'complete','ttlMs':600000,'tools':" TOOLS "}"))        \
	}

Test(mcp_http, sends_the_headers_of_the_modern_era)
{
	server_use((struct script[]){MODERN_SESSION,
		{.in = "'tools/call'",
			.answer = JSON(RESPONSE("3", "{'resultType':'complete','content':[]}"))},
		{0}});
	server_load_tools("", "");
	server_call(7, READS);
	server_expect(WIRE_RESULT, 7, "{'content':[]}");
	cr_expect_eq(server_count("\r\nMCP-Protocol-Version: 2026-07-28\r\n"), 3);
	cr_expect_eq(server_count("\r\nMcp-Method: server/discover\r\n"), 1);
	cr_expect_eq(server_count("\r\nMcp-Method: tools/list\r\n"), 1);
	cr_expect_eq(server_count("\r\nMcp-Method: tools/call\r\n"), 1);
	cr_expect_eq(server_count("\r\nMcp-Name: reads\r\n"), 1);
	cr_expect_eq(server_count("\r\nMcp-Name:"), 1);
	cr_expect_eq(server_count("\r\nMcp-Param-First: 1\r\n"), 1);
}

Test(mcp_http, closes_the_connection_of_a_cancelled_call_in_the_modern_era)
{
	server_use((struct script[]){MODERN_SESSION, {.in = "'tools/call'", .stays = true}, {0}});
	server_load_tools("", "");
	server_call(7, READS);
	server_await();
	server_call(8, READS);
	server_await();
	server_cancel(7);
	server_expect(WIRE_FAILED, 7, "cancelled");
	server_await_close(0);
	cr_expect_not_null(server_driver()->requests, "the other call goes on");
	cr_expect_null(server_driver()->requests->next);
}

Test(mcp_http, leaves_at_most_16_messages_without_an_answer_open)
{
	static const struct mcp_action note = {.kind = MCP_ACT_SEND,
		.text = {"{}", 2},
		.method = "notifications/x",
		.era = MCP_LEGACY};
	const struct http_request *first;
	unsigned int n = 0;

	server_use((struct script[]){LEGACY_SESSION, {0}});
	server_load_tools(LEGACY, "");
	while (server_driver()->requests)
		http_request_close(server_driver(), server_driver()->requests->id);
	server_call(7, READS);
	for (int i = 0; i < 16; i++)
		cr_assert_eq(http_request_post(server_driver(), &note), 0);
	for (first = server_driver()->requests; first->next->next; first = first->next)
		n++;
	cr_expect_eq(n + 2, 17, "with the call");
	cr_assert_eq(http_request_post(server_driver(), &note), 0);
	n = 0;
	for (const struct http_request *at = server_driver()->requests; at; at = at->next) {
		cr_expect(at != first || n == 0, "the oldest one is closed");
		n++;
	}
	cr_expect_eq(n, 17);
}

/* ── how much it takes ───────────────────────────────────────────────────────────────────────── */

/* Expect that a call whose response has @size bytes is answered so. */
static void expect_sized(size_t size, enum wire_kind kind, const char *payload)
{
	server_use((struct script[]){LEGACY_SESSION,
		{.in = "'tools/call'",
			.answer = JSON(RESPONSE("3", "{'content':[]}")),
			.body = size},
		{0}});
	server_load_tools(LEGACY, "");
	server_call(7, READS);
	server_expect(kind, 7, payload);
}

Test(mcp_http, takes_a_response_of_64_mib)
{
	expect_sized(HTTP_BYTES_MAX, WIRE_RESULT, "{'content':[]}");
}

Test(mcp_http, takes_no_response_of_more)
{
	expect_sized(HTTP_BYTES_MAX + 1, WIRE_ERROR,
		"{'code':'too_large','actual':67108865,'max':1000}");
	cr_expect_eq(server_count("'tools/call'"), 1);
}

/* ── the id of a session ─────────────────────────────────────────────────────────────────────── */

/* Begin a session with the header @line, and return how many requests had @part. */
static unsigned int count_with_header(const char *line, const char *part)
{
	char answer[4096];

	snprintf(answer, sizeof(answer), OK IS_JSON "%s\r\n\r\n" BEGUN, line);
	server_use(
		(struct script[]){{.in = "'initialize'", .answer = answer}, LEGACY_SESSION, {0}});
	cr_expect_eq(server_load(LEGACY, ",'headers':{'X-A':'b'}"), 0, "%s", server_refused());
	server_unload();
	return server_count(part);
}

Test(mcp_http, sends_the_id_of_its_session_and_ends_it)
{
	cr_expect_eq(
		count_with_header("mcp-SESSION-id: \t one two \t", "Mcp-Session-Id: one two\r\n"),
		3);
	cr_expect_eq(server_count("DELETE /mcp HTTP/1.1\r\n"), 1);
	cr_expect_eq(server_count("X-A: b\r\n"), 4);
	cr_expect_eq(server_count("MCP-Protocol-Version: 2025-06-18\r\n"), 2);
}

Test(mcp_http, takes_no_other_header_for_the_id_of_a_session)
{
	cr_expect_eq(count_with_header("Mcp-Session-Idx: one", "Mcp-Session-Id"), 0);
}

Test(mcp_http, takes_no_empty_id_of_a_session)
{
	cr_expect_eq(count_with_header("Mcp-Session-Id: \t", "Mcp-Session-Id"), 0);
}

Test(mcp_http, takes_an_id_of_1024_bytes)
{
	char line[2048];

	snprintf(line, sizeof(line), "Mcp-Session-Id: %01024d", 7);
	cr_expect_eq(count_with_header(line, line), 3);
}

Test(mcp_http, takes_no_id_of_1025_bytes)
{
	char line[2048];

	snprintf(line, sizeof(line), "Mcp-Session-Id: %01025d", 7);
	cr_expect_eq(count_with_header(line, "Mcp-Session-Id"), 0);
}

#define BEGUN_WITH_ID OK IS_JSON "Mcp-Session-Id: one\r\n\r\n" BEGUN

/* Expect that a call of a session that the server answers with @lost is sent once more in another
 * session, or else answered by @kind with @payload. */
static void expect_forgotten(const char *lost, bool is_again)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_ID, .times = 1},
		{.in = "'initialize'",
			.answer = OK IS_JSON "Mcp-Session-Id: two\r\n\r\n" RESPONSE("4",
				"{'protocolVersion':'2025-06-18','capabilities':{'tools':{}}}")},
		{.in = "'id':5,", .answer = JSON(LISTED("5"))}, LEGACY_SESSION,
		{.in = "Mcp-Session-Id: two\r\n", .answer = JSON(RESPONSE("6", "{'content':[]}"))},
		{.in = "'tools/call'", .answer = lost}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, WRITES);
	server_expect(is_again ? WIRE_RESULT : WIRE_FAILED, 7, is_again ? "{'content':[]}" : "no");
	cr_expect_eq(server_count("'tools/call'"), is_again ? 2 : 1, "%s", lost);
}

Test(mcp_http, sends_a_call_again_to_a_server_that_has_forgotten_its_session)
{
	expect_forgotten("HTTP/1.1 404 x\r\n\r\n", true);
}

Test(mcp_http, forgets_the_id_of_a_session_with_it)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_ID, .times = 1},
		{.in = "'initialize'",
			.answer = JSON(RESPONSE("4", "{'protocolVersion':'2025-06-18',"
						     "'capabilities':{'tools':{}}}"))},
		{.in = "'id':5,", .answer = JSON(LISTED("5"))}, LEGACY_SESSION,
		{.in = "'id':3,", .answer = "HTTP/1.1 404 x\r\n\r\n"},
		{.in = "'tools/call'", .answer = JSON(RESPONSE("6", "{'content':[]}"))}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, WRITES);
	server_expect(WIRE_RESULT, 7, "{'content':[]}");
	server_unload();
	cr_expect_eq(server_count("Mcp-Session-Id: one\r\n"), 3);
	cr_expect_eq(server_count("DELETE "), 0);
}

Test(mcp_http, takes_an_error_without_the_id_of_the_call_for_a_forgotten_session)
{
	expect_forgotten("HTTP/1.1 400 x\r\n" IS_JSON
			 "\r\n{'jsonrpc':'2.0','error':{'code':-1,'message':'no'}}",
		true);
}

Test(mcp_http, takes_an_error_with_the_id_of_the_call_for_its_answer)
{
	expect_forgotten("HTTP/1.1 400 x\r\n" IS_JSON
			 "\r\n{'jsonrpc':'2.0','id':3,'error':{'code':-1,'message':'no'}}",
		false);
}

/* ── a call without an answer ────────────────────────────────────────────────────────────────── */

/* Expect that a call of @tool, answered with @answer, is sent @n times and ends with @payload. */
static void expect_lost(
	const char *answer, uint32_t tool, unsigned int n, enum wire_kind kind, const char *payload)
{
	server_use(
		(struct script[]){LEGACY_SESSION, {.in = "'tools/call'", .answer = answer}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, tool);
	server_expect(kind, 7, payload);
	cr_expect_eq(server_count("'tools/call'"), n, "%s", answer);
}

#define NOT_ANSWERED "the server has not answered: "
#define GONE(text)   "{'code':'unavailable','message':'" NOT_ANSWERED text "'}"

Test(mcp_http, sends_a_call_that_only_reads_once_more_when_its_connection_breaks)
{
	expect_lost("", READS, 2, WIRE_ERROR, GONE("Empty reply from server"));
}

Test(mcp_http, sends_no_other_call_once_more)
{
	expect_lost("", WRITES, 1, WIRE_ERROR, GONE("Empty reply from server"));
}

Test(mcp_http, sends_a_call_that_only_reads_once_more_when_its_events_end)
{
	expect_lost(EVENTS(": none\n\n"), READS, 2, WIRE_FAILED,
		NOT_ANSWERED "it has ended its answer early");
}

Test(mcp_http, sends_no_call_once_more_that_the_server_has_refused)
{
	expect_lost("HTTP/1.1 500 x\r\n\r\n", READS, 1, WIRE_ERROR,
		GONE("it answers with the status 500"));
}

Test(mcp_http, sends_no_call_once_more_whose_answer_is_wrong)
{
	expect_lost(OK "Content-Type: text/html\r\n\r\nx", READS, 1, WIRE_FAILED,
		NOT_ANSWERED
		"it answers with text/html, not with application/json or text/event-stream");
}

Test(mcp_http, takes_an_error_of_any_status_for_the_answer)
{
	expect_lost("HTTP/1.1 500 x\r\n" IS_JSON
		    "\r\n{'jsonrpc':'2.0','id':3,'error':{'code':-1,'message':'no'}}",
		READS, 1, WIRE_FAILED, "no");
}

Test(mcp_http, takes_no_error_for_the_answer_when_credentials_are_wanted)
{
	expect_lost("HTTP/1.1 403 x\r\n" IS_JSON
		    "\r\n{'jsonrpc':'2.0','id':3,'error':{'code':-1,'message':'no'}}",
		READS, 1, WIRE_ERROR, GONE("it answers with the status 403: no"));
}

Test(mcp_http, takes_no_error_for_the_answer_without_a_token)
{
	expect_lost("HTTP/1.1 401 x\r\n" IS_JSON
		    "\r\n{'jsonrpc':'2.0','id':3,'error':{'code':-1,'message':'no'}}",
		READS, 1, WIRE_ERROR,
		GONE("it answers with the status 401: it wants a token, such as in "
		     "mcp.headers.Authorization; logins by OAuth are not supported"));
}

Test(mcp_http, takes_a_response_with_any_status_of_success)
{
	expect_lost("HTTP/1.1 299 x\r\n" IS_JSON "\r\n" RESPONSE("3", "{'content':[]}"), READS, 1,
		WIRE_RESULT, "{'content':[]}");
}

Test(mcp_http, takes_no_response_with_another_status)
{
	expect_lost("HTTP/1.1 300 x\r\n" IS_JSON "\r\n" RESPONSE("3", "{'content':[]}"), READS, 1,
		WIRE_ERROR, GONE("it answers with the status 300"));
}

Test(mcp_http, begins_no_other_session_for_a_list)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_ID},
		{.in = "'notifications/", .answer = ACCEPTED},
		{.in = "'tools/list'", .answer = "HTTP/1.1 404 x\r\n\r\n"}, {0}});
	cr_expect_eq(server_load(LEGACY, ""), DRIVER_E_REFUSED);
	cr_expect_eq(server_count("'initialize'"), 1);
}

Test(mcp_http, ends_no_call_by_the_refusal_of_a_notification)
{
	server_use((struct script[]){
		{.in = "'notifications/cancelled'",
			.answer = "HTTP/1.1 400 x\r\n" IS_JSON
				  "\r\n{'jsonrpc':'2.0','error':{'code':-1,'message':'no'}}"},
		LEGACY_SESSION, {.in = "'id':3,", .stays = true},
		{.in = "'id':4,", .answer = "HTTP/1.1 404 x\r\n\r\n"}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, WRITES);
	server_await();
	server_cancel(7);
	server_expect(WIRE_FAILED, 7, "cancelled");
	server_call(8, WRITES);
	server_expect(WIRE_ERROR, 8, GONE("it answers with the status 404"));
}

Test(mcp_http, answers_the_calls_that_wait_for_a_session_that_fails)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_ID, .times = 1},
		{.in = "'initialize'", .answer = "HTTP/1.1 403 x\r\n\r\n"}, LEGACY_SESSION,
		{.in = "'tools/call'", .answer = "HTTP/1.1 404 x\r\n\r\n"}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, WRITES);
	server_expect(WIRE_ERROR, 7,
		"{'code':'unavailable','message':'" UNANSWERED "it answers with the status 403'}");
	server_call(8, WRITES);
	server_expect(WIRE_ERROR, 8,
		"{'code':'unavailable','message':'" UNANSWERED "it answers with the status 403'}");
	cr_expect_eq(server_count("'initialize'"), 3);
}

/* ── events that go on ───────────────────────────────────────────────────────────────────────── */

Test(mcp_http, goes_on_with_the_events_of_a_call_after_the_last_one)
{
	server_use(
		(struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_ID}, LEGACY_SESSION,
			{.in = "'tools/call'", .answer = EVENTS("id: e1\nretry: 1\ndata:\n\n")},
			{.in = "Last-Event-ID: e1\r\n", .answer = EVENTS("id: e2\ndata:\n\n")},
			{.in = "Last-Event-ID: e2\r\n",
				.answer = EVENTS("data: " RESPONSE("3", "{'content':[]}") "\n\n")},
			{0}});
	server_load_tools(LEGACY, ",'headers':{'X-A':'b'}");
	server_call(7, WRITES);
	server_expect(WIRE_RESULT, 7, "{'content':[]}");
	cr_expect_eq(server_count("GET /mcp HTTP/1.1\r\n"), 2);
	cr_expect_eq(server_count("'tools/call'"), 1);
	cr_expect_eq(server_count("\r\nAccept: text/event-stream\r\n"), 2);
	cr_expect_eq(server_count("Mcp-Session-Id: one\r\n"), 5);
	cr_expect_eq(server_count("X-A: b\r\n"), 6);
}

Test(mcp_http, ends_a_call_whose_events_go_on_by_its_cancel)
{
	server_use((struct script[]){LEGACY_SESSION,
		{.in = "'tools/call'", .answer = EVENTS("id: e1\nretry: 60000\ndata:\n\n")}, {0}});
	server_load_tools(LEGACY, "");
	server_call(7, WRITES);
	server_cancel(7);
	server_expect(WIRE_FAILED, 7, "cancelled");
}

/* ── the stream of changes ───────────────────────────────────────────────────────────────────── */

#define BEGUN_WITH_CHANGES                                                                         \
	OK IS_JSON "Mcp-Session-Id: one\r\n\r\n" RESPONSE("1",                                     \
		"{'protocolVersion':'2025-06-18','capabilities':{'tools':{'listChanged':true}}}")

Test(mcp_http, opens_a_stream_for_changes_of_the_list)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES},
		LEGACY_SESSION, {.in = "GET /mcp ", .answer = EVENTS("id: c1\n\n"), .stays = true},
		{0}});
	server_load_tools(LEGACY, ",'headers':{'X-A':'b'}");
	server_await();
	cr_expect_not_null(server_driver()->changes);
	cr_expect_eq(server_count("GET "), 1);
	cr_expect_eq(server_count("X-A: b\r\n"), 4);
	cr_expect_eq(server_count("Mcp-Session-Id: one\r\n"), 3);
	cr_expect_eq(server_count("MCP-Protocol-Version: 2025-06-18\r\n"), 3);
	cr_expect_eq(server_count("Last-Event-ID"), 0);
}

Test(mcp_http, notes_when_the_stream_for_changes_begins)
{
	uint64_t before_ms = clock_now_ms();

	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES},
		LEGACY_SESSION, {.in = "GET /mcp ", .answer = OK IS_EVENT "\r\n", .stays = true},
		{0}});
	server_load_tools(LEGACY, "");
	server_await();
	while (server_driver()->changes_began_ms == 0)
		server_turn();
	cr_expect_geq(server_driver()->changes_began_ms, before_ms);
	cr_expect_not(server_driver()->changes_have_begun);
}

Test(mcp_http, notes_no_beginning_of_a_stream_that_is_refused)
{
	server_use((struct script[]){{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES},
		LEGACY_SESSION, {.in = "GET /mcp ", .answer = "HTTP/1.1 405 x\r\n" IS_EVENT "\r\n"},
		{0}});
	server_load_tools(LEGACY, "");
	while (server_driver()->changes_at_ms == 0)
		server_turn();
	cr_expect_eq(server_driver()->changes_at_ms, UINT64_MAX);
	cr_expect_eq(server_driver()->changes_began_ms, 0);
}

Test(mcp_http, opens_no_stream_when_the_list_is_only_asked_for)
{
	uint64_t due_ms = UINT64_MAX;

	server_use((struct script[]){
		{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES}, LEGACY_SESSION, {0}});
	cr_assert_eq(server_load(LEGACY, ""), 0, "%s", server_refused());
	cr_expect_eq(http_changes_attend(server_driver(), &due_ms), 0);
	cr_expect_null(server_driver()->changes);
	cr_expect_eq(due_ms, UINT64_MAX);
}

/* Let the stream end with @status, and expect it to be opened again after @wait_ms; 0: never. */
static void expect_wait(struct http *http, long status, uint64_t retry_ms, uint64_t wait_ms)
{
	uint64_t due_ms = UINT64_MAX;
	uint64_t before_ms;

	http->changes_at_ms = 0;
	cr_assert_eq(http_changes_attend(http, &due_ms), 0);
	cr_assert_not_null(http->changes);
	http->changes->events.retry_ms = retry_ms;
	before_ms = clock_now_ms();
	http_changes_end(http, status);
	cr_expect_null(http->changes);
	if (wait_ms == 0) {
		cr_expect_eq(http->changes_at_ms, UINT64_MAX, "%ld", status);
		return;
	}
	cr_expect_geq(http->changes_at_ms, before_ms + wait_ms, "%ld", status);
	cr_expect_leq(http->changes_at_ms, clock_now_ms() + wait_ms, "%ld", status);
	cr_expect_eq(http_changes_attend(http, &due_ms), 0);
	cr_expect_eq(due_ms, http->changes_at_ms);
	cr_expect_null(http->changes, "it is not due");
}

Test(mcp_http, opens_the_stream_again_after_longer_and_longer_waits)
{
	static const uint64_t waits[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
	struct http *http;

	server_use((struct script[]){
		{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES}, LEGACY_SESSION, {0}});
	server_load_tools(LEGACY, "");
	http = server_driver();
	http_changes_stop(http);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		expect_wait(http, i % 2 ? 0 : 500, 0, waits[i]);
	http_changes_stop(http);
	cr_expect_eq(http->changes_at_ms, 0);
	expect_wait(http, 399, 999, 1000);
	expect_wait(http, 399, 2001, 2001);
	expect_wait(http, 400, 0, 0);
	expect_wait(http, 499, 0, 0);
	expect_wait(http, 200, 0, 0);
}

Test(mcp_http, begins_with_the_shortest_wait_after_a_stream_that_has_lasted)
{
	struct http *http;

	server_use((struct script[]){
		{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES}, LEGACY_SESSION, {0}});
	server_load_tools(LEGACY, "");
	http = server_driver();
	http_changes_stop(http);
	http->changes_wait_ms = 4000;
	http->changes_have_begun = true;
	http_changes_note(http);
	cr_expect_not(http->changes_have_begun);
	expect_wait(http, 0, 0, 4000);
	cr_expect_eq(http->changes_wait_ms, 8000);
	http->changes_began_ms = clock_now_ms() - 8000;
	expect_wait(http, 0, 0, 1000);
	cr_expect_eq(http->changes_wait_ms, 2000);
}

Test(mcp_http, goes_on_after_the_last_event_of_the_stream_before)
{
	struct http *http;
	const struct curl_slist *header;

	server_use((struct script[]){
		{.in = "'initialize'", .answer = BEGUN_WITH_CHANGES}, LEGACY_SESSION, {0}});
	server_load_tools(LEGACY, "");
	http = server_driver();
	http_changes_stop(http);
	cr_assert_eq(http_changes_attend(http, &(uint64_t){UINT64_MAX}), 0);
	buffer_append_string(&http->changes->events.id, "c1");
	http_changes_end(http, 0);
	expect_wait(http, 0, 0, 2000);
	http->changes_at_ms = 0;
	cr_assert_eq(http_changes_attend(http, &(uint64_t){UINT64_MAX}), 0);
	header = http->changes->headers;
	while (header && strcmp(header->data, "Last-Event-ID: c1") != 0)
		header = header->next;
	cr_expect_not_null(header, "an event without an id takes no id away");
	http_changes_stop(http);
	cr_expect_eq(http->changes_id.size, 0);
}

/* ── redirects ───────────────────────────────────────────────────────────────────────────────── */

#define REDIRECT(status, path) "HTTP/1.1 " status " x\r\nLocation: " path "\r\n\r\n"

Test(mcp_http, follows_up_to_three_redirects_of_a_request_to_its_own_server)
{
	server_use((struct script[]){{.in = "POST /mcp ", .answer = REDIRECT("307", "/a")},
		{.in = "POST /a ", .answer = REDIRECT("308", "/b")},
		{.in = "POST /b ", .answer = REDIRECT("307", "/c")}, LEGACY_SESSION, {0}});
	cr_expect_eq(server_load(LEGACY, ""), 0, "%s", server_refused());
	cr_expect_eq(server_count("POST /c "), 3);
}

Test(mcp_http, follows_no_fourth_redirect)
{
	server_use((struct script[]){{.in = "", .answer = REDIRECT("307", "?again")}, {0}});
	cr_expect_eq(server_load(LEGACY, ""), DRIVER_E_REFUSED);
	cr_expect(strstr(server_refused(), "/mcp?again, which is not followed"), "%s",
		server_refused());
	cr_expect_eq(server_count("POST "), 4);
}

Test(mcp_http, follows_no_redirect_to_another_server)
{
	static const char *const targets[] = {"http://127.0.0.1:1/mcp", "http://127.0.0.2/mcp",
		"https://127.0.0.1/mcp", "//localhost/mcp"};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		char answer[256];

		snprintf(answer, sizeof(answer), REDIRECT("307", "%s"), targets[i]);
		server_use((struct script[]){{.in = "", .answer = answer}, {0}});
		cr_expect_eq(server_load(LEGACY, ""), DRIVER_E_REFUSED, "%s", targets[i]);
		cr_expect(
			strstr(server_refused(), "which is not followed"), "%s", server_refused());
	}
	cr_expect_eq(server_count("POST "), ARRAY_SIZE(targets));
}
