/* SPDX-License-Identifier: Apache-2.0 */
#include "client_session.h"

#include <errno.h>
#include <stdio.h>

#include "mcp/client/pages.h"
#include "scarce.h"

#define LEGACY_LIST(id) SENT(id, "tools/list", "")
#define MODERN_LIST(id) SENT(id, "tools/list", CLIENT_META "}")
#define LISTEN(id)                                                                                 \
	SENT(id, "subscriptions/listen",                                                           \
		CLIENT_META "},\"notifications\":{\"toolsListChanged\":true}")
#define DISCOVERED_LISTEN(id)                                                                      \
	ANSWER(id, "\"supportedVersions\":[\"2027-01-01\",\"2026-07-28\"],"                        \
		   "\"capabilities\":{\"tools\":{\"listChanged\":true}}")
#define UNSUPPORTED(id, version)                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32022,\"message\":\"No.\","       \
	"\"data\":{\"supported\":[\"" version "\"],\"requested\":\"2026-07-28\"}}}"
#define LIST_CHANGED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define ACKNOWLEDGED                                                                               \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","            \
	"\"params\":{\"notifications\":{\"toolsListChanged\":true}}}"
#define CALLED(id, arguments)                                                                      \
	SENT(id, "tools/call",                                                                     \
		"\"_meta\":{\"progressToken\":" id "},\"name\":\"add\",\"arguments\":" arguments)
#define NO_CONTENT "\"content\":[]"

static struct session session;

static void call_add(uint64_t call, const char *arguments, int wanted)
{
	cr_expect_eq(mcp_client_call(session.client, call, TEXT_VIEW("add"), TEXT_VIEW(arguments)),
		wanted);
}

static void begin_stdio(void)
{
	begin(&session, (struct mcp_client_options){0});
}

/* Be ready with a legacy server, which has one tool. */
static void begin_ready(struct mcp_client_options options)
{
	options.is_legacy = true;
	begin(&session, options);
	take(&session, INITIALIZED("1"));
	take(&session, ANSWER("2", "\"tools\":[{\"name\":\"add\"}]"));
	expect_actions(&session, SENT_INITIALIZE("1") "ready legacy\n" SENT_INITIALIZED LEGACY_LIST(
					 "2") "tools [{\"name\":\"add\"}]\n");
}

static void end_session(void)
{
	end(&session);
}

TestSuite(mcp_client, .fini = end_session);

/* ── the handshake ───────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, finds_a_modern_server)
{
	begin_stdio();
	expect_actions(&session, SENT_DISCOVER("1"));
	cr_expect(mcp_client_is_probing(session.client));
	take(&session, DISCOVERED("1"));
	expect_actions(&session, "ready modern\n" MODERN_LIST("2"));
	cr_expect_not(mcp_client_is_probing(session.client));
}

Test(mcp_client, finds_a_legacy_server_by_any_error)
{
	begin_stdio();
	take(&session, ERROR("1", "-32000"));
	take(&session, INITIALIZED("2"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_INITIALIZE(
					 "2") "ready legacy\n" SENT_INITIALIZED LEGACY_LIST("3"));
}

Test(mcp_client, finds_a_legacy_server_that_discovers_other_versions)
{
	begin_stdio();
	take(&session, ANSWER("1", "\"supportedVersions\":[\"2031-01-01\"],\"capabilities\":{}"));
	take(&session, ANSWER("2", "\"protocolVersion\":\"2031-01-01\""));
	expect_actions(
		&session, SENT_DISCOVER("1") SENT_INITIALIZE(
				  "2") "over it has refused server/discover and initialize\n");
}

Test(mcp_client, discovers_once_more_when_the_version_that_is_refused_is_supported)
{
	begin_stdio();
	take(&session, UNSUPPORTED("1", "2026-07-28"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_DISCOVER("2"));
	take(&session, DISCOVERED("2"));
	expect_actions(&session, "ready modern\n" MODERN_LIST("3"));
}

Test(mcp_client, gives_up_a_server_that_refuses_the_version_it_supports)
{
	begin_stdio();
	take(&session, UNSUPPORTED("1", "2026-07-28"));
	take(&session, UNSUPPORTED("2", "2026-07-28"));
	expect_actions(
		&session, SENT_DISCOVER("1") SENT_DISCOVER(
				  "2") "over it has refused server/discover and initialize: No.\n");
}

Test(mcp_client, finds_a_legacy_server_by_the_versions_that_it_supports)
{
	begin_stdio();
	take(&session, UNSUPPORTED("1", "2025-11-25"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_INITIALIZE("2"));
}

Test(mcp_client, does_not_take_silence_for_a_verdict)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS - 1);
	expect_actions(&session, SENT_DISCOVER("1"));
	pass(&session, 1);
	cr_expect(mcp_client_is_probing(session.client));
	take(&session, INITIALIZED("2"));
	expect_actions(&session,
		SENT_INITIALIZE("2") "ready legacy, no verdict\n" SENT_INITIALIZED LEGACY_LIST(
			"3"));
	take(&session, ERROR("1", "-32601"));
	expect_actions(&session, "");
}

Test(mcp_client, takes_a_late_discovery)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, DISCOVERED("1"));
	take(&session, INITIALIZED("2"));
	expect_actions(&session,
		SENT_DISCOVER("1") SENT_INITIALIZE("2") "ready modern\n" MODERN_LIST("3"));
}

Test(mcp_client, has_a_verdict_by_a_late_refusal)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, ERROR("1", "-32601"));
	take(&session, INITIALIZED("2"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_INITIALIZE(
					 "2") "ready legacy\n" SENT_INITIALIZED LEGACY_LIST("3"));
}

Test(mcp_client, discovers_once_more_after_a_refusal)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, ERROR("2", "-32601"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_INITIALIZE("2") SENT_DISCOVER("3"));
	take(&session, ERROR("1", "-32601"));
	expect_actions(&session, "");
	take(&session, DISCOVERED("3"));
	expect_actions(&session, "ready modern\n" MODERN_LIST("4"));
}

Test(mcp_client, takes_the_first_discovery_during_the_second)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, ERROR("2", "-32601"));
	take(&session, DISCOVERED("1"));
	take(&session, DISCOVERED("3"));
	expect_actions(&session, SENT_DISCOVER("1") SENT_INITIALIZE("2")
					 SENT_DISCOVER("3") "ready modern\n" MODERN_LIST("4"));
}

Test(mcp_client, gives_up_a_server_that_refuses_everything)
{
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, ERROR("2", "-32601"));
	take(&session, ERROR("3", "-32601"));
	take(&session, DISCOVERED("1"));
	expect_actions(
		&session, SENT_DISCOVER("1") SENT_INITIALIZE("2") SENT_DISCOVER(
				  "3") "over it has refused server/discover and initialize: No.\n");
	cr_expect_eq(mcp_client_due_ms(session.client), UINT64_MAX);
}

Test(mcp_client, gives_up_a_handshake_that_takes_long)
{
	begin_stdio();
	pass(&session, 60000);
	expect_actions(&session,
		SENT_DISCOVER("1") SENT_INITIALIZE("2") "over it has not responded to "
							"server/discover and initialize in time\n");
}

Test(mcp_client, begins_with_the_verdict_that_was_kept)
{
	begin(&session, (struct mcp_client_options){.is_legacy = true});
	take(&session, ERROR("1", "-32601"));
	take(&session, DISCOVERED("2"));
	expect_actions(&session,
		SENT_INITIALIZE("1") SENT_DISCOVER("2") "ready modern\n" MODERN_LIST("3"));
}

Test(mcp_client, sends_no_initialize_to_a_server_that_has_ended_on_it)
{
	begin(&session, (struct mcp_client_options){.ends_on_initialize = true});
	pass(&session, 2 * MCP_PROBE_MS);
	expect_actions(&session, SENT_DISCOVER("1"));
	take(&session, DISCOVERED("1"));
	expect_actions(&session, "ready modern\n" MODERN_LIST("2"));
	cr_expect(!mcp_client_has_doubted(session.client));
	end(&session);
	begin(&session, (struct mcp_client_options){.ends_on_initialize = true});
	take(&session, ERROR("1", "-32601"));
	expect_actions(&session,
		SENT_DISCOVER("1") "over it has refused server/discover and initialize: No.\n");
}

Test(mcp_client, has_doubted_a_server_that_discovers_late)
{
	begin_stdio();
	cr_expect(!mcp_client_has_doubted(session.client));
	pass(&session, MCP_PROBE_MS);
	cr_expect(!mcp_client_has_doubted(session.client), "its era is open");
	take(&session, DISCOVERED("1"));
	cr_expect(mcp_client_has_doubted(session.client));
	end(&session);
	begin_stdio();
	take(&session, DISCOVERED("1"));
	cr_expect(!mcp_client_has_doubted(session.client), "initialize was not sent");
	end(&session);
	begin_stdio();
	pass(&session, MCP_PROBE_MS);
	take(&session, INITIALIZED("2"));
	cr_expect(!mcp_client_has_doubted(session.client), "it speaks the legacy era");
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, lists_in_pages)
{
	begin_stdio();
	take(&session, DISCOVERED("1"));
	take(&session, ANSWER("2", "\"tools\":[{\"name\": \"a\"},{}],\"nextCursor\":\"\""));
	take(&session, ANSWER("3", "\"tools\":[],\"nextCursor\":\"\\u00e9\""));
	take(&session, ANSWER("4", "\"tools\":[1],\"nextCursor\":null"));
	expect_actions(&session,
		SENT_DISCOVER("1") "ready modern\n" MODERN_LIST("2") SENT(
			"3", "tools/list", CLIENT_META "},\"cursor\":\"\"") SENT("4", "tools/list",
			CLIENT_META "},\"cursor\":\"\\u00e9\"") "tools [{\"name\":\"a\"},{},1]\n");
}

Test(mcp_client, ends_a_list_at_a_cursor_that_it_has_seen)
{
	begin_ready((struct mcp_client_options){0});
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	take(&session, ANSWER("3", "\"tools\":[1],\"nextCursor\":\"a\""));
	take(&session, ANSWER("4", "\"tools\":[2],\"nextCursor\":\"b\""));
	take(&session, ANSWER("5", "\"tools\":[3],\"nextCursor\":\"\\u0061\""));
	expect_actions(&session,
		LEGACY_LIST("3") SENT("4", "tools/list", "\"cursor\":\"a\"") SENT(
			"5", "tools/list", "\"cursor\":\"b\"") "tools [1,2,3] (its list of tools "
							       "comes back to an earlier page)\n");
}

Test(mcp_client, ends_a_list_after_1000_pages)
{
	char page[128];

	begin_ready((struct mcp_client_options){0});
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	for (unsigned int i = 0; i < MCP_PAGES_MAX; i++) {
		buffer_reset(&session.record);
		snprintf(page, sizeof(page), ANSWER("%u", "\"tools\":[],\"nextCursor\":\"%u\""),
			i + 3, i);
		take(&session, page);
	}
	expect_actions(&session, "tools [] (its list of tools has more than 1000 pages)\n");
}

Test(mcp_client, ends_a_list_of_64_mib)
{
	static char page[(1 << 20) + 1];
	size_t head;
	unsigned int i;

	begin_ready((struct mcp_client_options){0});
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	for (i = 0; i < 65; i++) {
		buffer_reset(&session.record);
		head = (size_t)snprintf(page, sizeof(page),
			"{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"nextCursor\":\"%u\","
			"\"tools\":[%u,\"",
			i + 3, i, i);
		memset(page + head, 'x', sizeof(page) - head - strlen("\"]}}") - 1);
		memcpy(page + sizeof(page) - sizeof("\"]}}"), "\"]}}", sizeof("\"]}}"));
		take(&session, page);
		if (strncmp(session.record.data, "tools", 5) == 0)
			break;
	}
	cr_expect_eq(i, 64, "%u", i);
	cr_assert_not_null(buffer_terminate(&session.record));
	cr_expect_not_null(strstr(session.record.data, "more than 64 MiB"));
}

Test(mcp_client, lists_from_the_start_when_a_cursor_is_refused)
{
	begin_ready((struct mcp_client_options){0});
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	take(&session, ANSWER("3", "\"tools\":[1],\"nextCursor\":\"a\""));
	take(&session, ERROR("4", "-32602"));
	take(&session, ANSWER("5", "\"tools\":[2],\"nextCursor\":\"a\""));
	take(&session, ERROR("6", "-32602"));
	expect_actions(&session,
		LEGACY_LIST("3") SENT("4", "tools/list", "\"cursor\":\"a\"") LEGACY_LIST("5") SENT(
			"6", "tools/list",
			"\"cursor\":\"a\"") "no tools (it has not listed its tools: No.)\n");
}

Test(mcp_client, tries_a_list_that_fails_again_and_again)
{
	static const uint64_t waits_ms[] = {1250, 2500, 5000, 10000, 20000, 40000, 75000, 75000};
	char text[256];

	begin(&session, (struct mcp_client_options){.is_legacy = true, .jitter_percent = 25});
	take(&session, INITIALIZED("1"));
	for (unsigned int i = 0; i < sizeof(waits_ms) / sizeof(*waits_ms); i++) {
		snprintf(text, sizeof(text), ERROR("%u", "-32603"), i + 2);
		take(&session, text);
		buffer_reset(&session.record);
		pass(&session, waits_ms[i] - 1);
		expect_actions(&session, "");
		pass(&session, 1);
		snprintf(text, sizeof(text), LEGACY_LIST("%u"), i + 3);
		expect_actions(&session, text);
	}
	take(&session, ANSWER("10", "\"tools\":[]"));
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	take(&session, ERROR("11", "-32603"));
	buffer_reset(&session.record);
	pass(&session, 1250);
	expect_actions(&session, LEGACY_LIST("12"));
}

Test(mcp_client, refuses_a_list_that_is_none)
{
	static const char *const results[] = {"\"tools\":{}", "", "\"tools\":[],\"nextCursor\":1"};
	char text[256];

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		begin(&session, (struct mcp_client_options){.is_legacy = true});
		take(&session, INITIALIZED("1"));
		buffer_reset(&session.record);
		snprintf(text, sizeof(text), ANSWER("2", "%s"), results[i]);
		take(&session, text);
		expect_actions(&session, "no tools (it has not listed its tools)\n");
		if (i + 1 < sizeof(results) / sizeof(*results))
			end(&session);
	}
}

Test(mcp_client, waits_for_a_page_as_long_as_30_s)
{
	begin(&session, (struct mcp_client_options){.is_legacy = true});
	take(&session, INITIALIZED("1"));
	buffer_reset(&session.record);
	take(&session, LIST_CHANGED);
	pass(&session, MCP_LIST_MS);
	expect_actions(&session,
		SENT_CANCELLED("2", "timeout") "no tools (it has not listed its tools in time)\n");
	take(&session, ANSWER("2", "\"tools\":[]"));
	expect_actions(&session, "");
	pass(&session, 1000);
	expect_actions(&session, LEGACY_LIST("3"));
}

Test(mcp_client, lists_once_a_second_whatever_changes)
{
	begin_ready((struct mcp_client_options){0});
	for (unsigned int i = 0; i < 100; i++) {
		take(&session, LIST_CHANGED);
		pass(&session, 5);
	}
	expect_actions(&session, "");
	pass(&session, 500);
	expect_actions(&session, LEGACY_LIST("3"));
	take(&session, LIST_CHANGED);
	pass(&session, 2000);
	expect_actions(&session, "");
	take(&session, ANSWER("3", "\"tools\":[]"));
	pass(&session, 0);
	expect_actions(&session, "tools []\n" LEGACY_LIST("4"));
}

Test(mcp_client, lists_again_when_a_list_expires)
{
	begin_stdio();
	take(&session, DISCOVERED("1"));
	take(&session, ANSWER("2", "\"tools\":[],\"ttlMs\":5"));
	buffer_reset(&session.record);
	pass(&session, MCP_TTL_LEAST_MS - 1);
	expect_actions(&session, "");
	pass(&session, 1);
	expect_actions(&session, MODERN_LIST("3"));
	take(&session, ANSWER("3", "\"tools\":[],\"ttlMs\":120000"));
	mcp_client_set_stream(session.client, true);
	cr_expect_eq(mcp_client_due_ms(session.client), UINT64_MAX);
	mcp_client_set_stream(session.client, false);
	cr_expect_eq(mcp_client_due_ms(session.client), session.now_ms + 120000);
}

Test(mcp_client, lists_what_it_may_have_missed_between_two_streams)
{
	begin_stdio();
	take(&session, DISCOVERED("1"));
	take(&session, ANSWER("2", "\"tools\":[]"));
	mcp_client_set_stream(session.client, true);
	cr_expect_eq(mcp_client_due_ms(session.client), UINT64_MAX, "the first one misses nothing");
	mcp_client_set_stream(session.client, false);
	mcp_client_set_stream(session.client, true);
	pass(&session, 1000);
	expect_actions(&session,
		SENT_DISCOVER("1") "ready modern\n" MODERN_LIST("2") "tools []\n" MODERN_LIST("3"));
}

/* ── the subscription ────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, subscribes_to_changes)
{
	begin_stdio();
	take(&session, DISCOVERED_LISTEN("1"));
	take(&session, ACKNOWLEDGED);
	take(&session, ANSWER("3", "\"tools\":[],\"ttlMs\":1"));
	expect_actions(&session,
		SENT_DISCOVER("1") "ready modern\n" LISTEN("2") MODERN_LIST("3") "tools []\n");
	cr_expect_eq(mcp_client_due_ms(session.client), UINT64_MAX);
	take(&session, LIST_CHANGED);
	pass(&session, 1000);
	expect_actions(&session, MODERN_LIST("4"));
}

Test(mcp_client, subscribes_again_and_lists_what_it_may_have_missed)
{
	begin_stdio();
	take(&session, DISCOVERED_LISTEN("1"));
	take(&session, ACKNOWLEDGED);
	take(&session, ANSWER("3", "\"tools\":[]"));
	pass(&session, 5000);
	take(&session, ANSWER("2", "\"resultType\":\"complete\""));
	buffer_reset(&session.record);
	pass(&session, 999);
	expect_actions(&session, "");
	pass(&session, 1);
	expect_actions(&session, LISTEN("4"));
	take(&session, ACKNOWLEDGED);
	pass(&session, 0);
	expect_actions(&session, MODERN_LIST("5"));
	take(&session, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		       "\"params\":{\"requestId\":4}}");
	pass(&session, 1999);
	expect_actions(&session, "");
	pass(&session, 1);
	expect_actions(&session, LISTEN("6"));
}

Test(mcp_client, subscribes_less_and_less_often_when_it_does_not_last)
{
	static const struct {
		uint64_t lasts_ms;
		uint64_t wait_ms;
	} subscriptions[] = {{0, 1000}, {0, 2000}, {3999, 4000}, {0, 8000}, {0, 16000}, {0, 32000},
		{0, 60000}, {0, 60000}, {60000, 1000}, {0, 2000}};

	begin_stdio();
	take(&session, DISCOVERED_LISTEN("1"));
	for (int i = 0; i < (int)(sizeof(subscriptions) / sizeof(*subscriptions)); i++) {
		char ended[64];
		char listed[64];
		uint64_t due_ms;

		snprintf(ended, sizeof(ended), ANSWER("%d", ""), 2 + 2 * i);
		snprintf(listed, sizeof(listed), ANSWER("%d", "\"tools\":[]"), 3 + 2 * i);
		take(&session, ACKNOWLEDGED);
		pass(&session, 0);
		take(&session, listed);
		pass(&session, subscriptions[i].lasts_ms);
		take(&session, ended);
		due_ms = mcp_client_due_ms(session.client);
		cr_assert_eq(due_ms - session.now_ms, subscriptions[i].wait_ms, "%d: %d ms", i,
			(int)(due_ms - session.now_ms));
		pass(&session, subscriptions[i].wait_ms);
	}
}

Test(mcp_client, does_not_insist_on_a_subscription)
{
	begin_stdio();
	take(&session, DISCOVERED_LISTEN("1"));
	take(&session, ERROR("2", "-32601"));
	take(&session, ANSWER("3", "\"tools\":[]"));
	cr_expect_eq(mcp_client_due_ms(session.client), UINT64_MAX);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, calls_in_both_eras)
{
	begin_ready((struct mcp_client_options){0});
	call_add(7, "{\"a\":\r\n [1]}", 0);
	take(&session, ANSWER("3", "\"content\":[{\"type\": \"text\",\"text\":\"2\"}],"
				   "\"structuredContent\":{\"sum\":2.0}"));
	expect_actions(&session,
		CALLED("3", "{\"a\":   [1]}") "result 7 "
					      "{\"content\":[{\"type\":\"text\",\"text\":\"2\"}],"
					      "\"structured\":{\"sum\":2.0}}\n");
	end(&session);
	begin_stdio();
	take(&session, DISCOVERED("1"));
	buffer_reset(&session.record);
	call_add(7, "{}", 0);
	cr_expect_eq(mcp_client_request_id(session.client, 7), 3);
	cr_expect_eq(mcp_client_request_id(session.client, 8), 0);
	expect_actions(&session,
		SENT("3", "tools/call",
			CLIENT_META ",\"progressToken\":3},\"name\":\"add\",\"arguments\":{}"));
}

Test(mcp_client, asks_for_a_result_that_is_no_content)
{
	static const struct {
		const char *params;
		const char *sent;
		const char *response;
		const char *end;
	} cases[] = {
		{"{\"uri\":\"x\"}", ",\"uri\":\"x\"", ANSWER("3", "\"a\": [1.10,\"\\\"\"]"),
			"result 7 {\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":[1.10,"
			"\\\"\\\\\\\"\\\"]}\"}],\"structured\":{\"a\":[1.10,\"\\\"\"]}}\n"},
		{" { \n} ", "", ERROR("3", "-32602"), "failed 7 No.\n"},
		{"{}", "", "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":7}",
			"failed 7 The server has sent a result that is not an object.\n"},
		{"{}", "", ANSWER("3", "\"resultType\":\"input_required\""),
			"failed 7 The tool asks for input, which toolboxd does not give.\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char wanted[1024];

		begin_ready((struct mcp_client_options){0});
		cr_expect_eq(mcp_client_ask(session.client, 7, "resources/read",
				     TEXT_VIEW(cases[i].params)),
			0);
		take(&session, cases[i].response);
		snprintf(wanted, sizeof(wanted),
			SENT("3", "resources/read", "\"_meta\":{\"progressToken\":3}%s") "%s",
			cases[i].sent, cases[i].end);
		expect_actions(&session, wanted);
		end(&session);
	}
	begin_ready((struct mcp_client_options){0});
}

Test(mcp_client, calls_only_when_it_can)
{
	begin_stdio();
	call_add(1, "{}", MCP_E_UNREADY);
	end(&session);
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	call_add(2, "{}", 0);
	call_add(3, "{}", MCP_E_BUSY);
	take(&session, ANSWER("4", NO_CONTENT));
	take(&session, ANSWER("3", NO_CONTENT));
	call_add(3, "{}", 0);
	expect_actions(&session, CALLED("3", "{}") CALLED("4",
					 "{}") "result 2 {\"content\":[]}\n"
					       "result 1 {\"content\":[]}\n" CALLED("5", "{}"));
}

Test(mcp_client, ignores_responses_to_no_request_of_its_own)
{
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	take(&session, ANSWER("3", NO_CONTENT));
	take(&session, ANSWER("3", NO_CONTENT));
	take(&session, ANSWER("\"3\"", NO_CONTENT));
	take(&session, ANSWER("0", NO_CONTENT));
	take(&session, ANSWER("99", NO_CONTENT));
	take(&session, ERROR("null", "-32700"));
	expect_actions(&session,
		CALLED("3", "{}") "result 1 {\"content\":[]}\n"
				  "note it has sent a response to an unknown request: 3\n"
				  "note it has sent a response to an unknown request: "
				  "\"3\"\n"
				  "note it has sent a response to an unknown request: 0\n"
				  "note it has sent a response to an unknown request: 99\n"
				  "note it has sent a response to an unknown request: "
				  "without an id\n");
}

Test(mcp_client, reports_progress)
{
#define PROGRESS(params)                                                                           \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{" params "}}"
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	buffer_reset(&session.record);
	take(&session,
		PROGRESS("\"progressToken\":3,\"progress\":1,\"total\":4,\"message\":\"a\""));
	take(&session, PROGRESS("\"progressToken\":3,\"progress\":50"));
	take(&session, PROGRESS("\"progressToken\":3,\"progress\":5,\"total\":4"));
	take(&session, PROGRESS("\"progressToken\":3,\"progress\":5,\"total\":0"));
	take(&session, PROGRESS("\"progressToken\":3,\"progress\":-5,\"total\":1"));
	take(&session, PROGRESS("\"progressToken\":4,\"progress\":1,\"total\":4"));
	take(&session, PROGRESS("\"progressToken\":\"3\",\"progress\":1,\"total\":4"));
	take(&session, PROGRESS("\"progress\":1"));
	expect_actions(&session, "progress 1 0.25 a\nprogress 1 -1 \nprogress 1 1 \n"
				 "progress 1 -1 \nprogress 1 -1 \n");
}

Test(mcp_client, cancels_by_a_notification)
{
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	cr_expect_eq(mcp_client_cancel(session.client, 1, false, session.now_ms), 0);
	cr_expect_eq(mcp_client_cancel(session.client, 1, false, session.now_ms), 0);
	take(&session, ANSWER("3", NO_CONTENT));
	expect_actions(&session, CALLED("3", "{}") SENT_CANCELLED("3", "cancelled"));
	take(&session, ANSWER("3", NO_CONTENT));
	expect_actions(&session, "note it has sent a response to an unknown request: 3\n");
}

#define SENT_PING(id) SENT(id, "ping", "")
#define PONG(id)      "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define DEAD                                                                                       \
	"over it has sent nothing until the deadlines of 3 calls, and has not answered a "         \
	"ping\n"

/* Let the call @name reach its deadline. */
static void call_late(uint64_t name)
{
	call_add(name, "{}", 0);
	buffer_reset(&session.record);
	cr_expect_eq(mcp_client_cancel(session.client, name, true, session.now_ms), 0);
}

Test(mcp_client, gives_up_a_server_that_is_silent_for_three_calls_and_a_ping)
{
	begin_ready((struct mcp_client_options){.workers = 8});
	call_add(10, "{}", 0);
	call_late(1);
	expect_actions(&session, SENT_CANCELLED("4", "timeout") SENT_PING("5"));
	call_late(2);
	expect_actions(&session, SENT_CANCELLED("6", "timeout"));
	call_late(3);
	pass(&session, MCP_PING_MS - 1);
	expect_actions(&session, SENT_CANCELLED("7", "timeout"));
	pass(&session, 1);
	expect_actions(&session, DEAD "lost 10\n");
	call_add(11, "{}", MCP_E_UNREADY);
}

Test(mcp_client, leaves_a_server_that_answers_a_ping_and_no_call)
{
	begin_ready((struct mcp_client_options){.workers = 8});
	call_late(1);
	expect_actions(&session, SENT_CANCELLED("3", "timeout") SENT_PING("4"));
	take(&session, PONG("4"));
	call_late(2);
	expect_actions(&session, SENT_CANCELLED("5", "timeout") SENT_PING("6"));
	take(&session, ERROR("6", "-32601"));
	call_late(3);
	call_late(4);
	pass(&session, 3 * MCP_PING_MS);
	expect_actions(&session, SENT_CANCELLED("9", "timeout"));
	take(&session, PONG("8"));
	expect_actions(&session, "");
}

Test(mcp_client, over_http_takes_a_refused_ping_for_a_sign_of_life)
{
	begin_ready((struct mcp_client_options){.workers = 8, .is_http = true});
	for (uint64_t call = 1; call <= 3; call++)
		call_late(call);
	mcp_client_lose(session.client, 4, 404, session.now_ms);
	pass(&session, MCP_PING_MS);
	buffer_reset(&session.record);
	for (uint64_t call = 4; call <= 6; call++)
		call_late(call);
	buffer_reset(&session.record);
	mcp_client_lose(session.client, 8, 0, session.now_ms);
	pass(&session, MCP_PING_MS);
	expect_actions(&session, DEAD);
}

Test(mcp_client, in_the_modern_era_pings_by_server_discover)
{
	begin(&session, (struct mcp_client_options){.workers = 8});
	take(&session, DISCOVERED_LISTEN("1"));
	call_late(1);
	expect_actions(&session, SENT_CANCELLED("4", "timeout") SENT_DISCOVER("5"));
	take(&session, DISCOVERED_LISTEN("5"));
	expect_actions(&session, "");
}

Test(mcp_client, fails_a_call_by_an_error)
{
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	call_add(2, "{}", 0);
	take(&session, ERROR("3", "-32000"));
	pass(&session, 5000);
	expect_actions(&session, CALLED("3", "{}") CALLED("4", "{}") "failed 1 No.\n");
	take(&session, ERROR("4", "-32602"));
	pass(&session, 0);
	expect_actions(&session, "failed 2 No.\n" LEGACY_LIST("5"));
}

Test(mcp_client, loses_its_calls_with_the_session)
{
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	call_add(2, "{}", 0);
	mcp_client_end(session.client);
	mcp_client_end(session.client);
	take(&session, ANSWER("3", NO_CONTENT));
	expect_actions(&session, CALLED("3", "{}") CALLED("4", "{}") "lost 1\nlost 2\n");
}

/* ── other messages ──────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, responds_to_ping_and_refuses_other_requests)
{
	begin_stdio();
	take(&session, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}");
	take(&session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}");
	expect_actions(&session,
		SENT_DISCOVER(
			"1") "send - {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n"
			     "send - {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
			     "\"message\":\"Method not found\"}}\n");
}

Test(mcp_client, ignores_a_request_with_a_long_id)
{
	char text[2048];

	begin_stdio();
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"%01024d\"}",
		0);
	take(&session, text);
	expect_actions(&session,
		SENT_DISCOVER("1") "note it has sent what is no message: \"id\" must be a "
				   "string or an integer of at most 1024 bytes: "
				   "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"000000000000"
				   "00000000000000000000000000000\n");
}

Test(mcp_client, ignores_what_is_no_message)
{
	static const char *const texts[] = {"", "Listening on stdio", "{}", "1", "[1,", "[]",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}"};

	begin_stdio();
	buffer_reset(&session.record);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		take(&session, texts[i]);
	cr_assert_not_null(buffer_terminate(&session.record));
	for (const char *at = session.record.data; *at; at = strchr(at, '\n') + 1)
		cr_expect_eq(strncmp(at, "note it has sent what is no message: ", 37), 0, "%s", at);
	cr_expect(mcp_client_is_probing(session.client) == false, "a notification is a message");
}

/* Each text that is received, and the failure of the call with the request 3. */
Test(mcp_client, fails_the_call_whose_answer_cannot_be_read)
{
	static const char *const texts[][2] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"v\":NaN}}", "at byte 38: "},
		{"{\"id\":3,\"result\":{\"content\":[]}}", "\"jsonrpc\" must be"},
		{"{\"jsonrpc\":\"2.0\",\"result\":{\"a\":\"\x80\",\"id\":9},\"id\":3}", "at byte "},
		{"{\"jsonrpc\":\"2.0\",\"id\" : \"3\",\"result\":{\"a\":1,\"a\":2,}}", "at byte "},
		{"DEBUG answering {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", "at byte 0: "},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{}"
		 "}",
			"at byte "},
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":\"\n\"", "at byte "},
		{"[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":1,}}]", "at byte "},
	};
	static const char wanted[] = "failed 7 the server has sent an answer that cannot be read: ";

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *found;

		begin_ready((struct mcp_client_options){0});
		call_add(7, "{}", 0);
		call_add(8, "{}", 0);
		buffer_reset(&session.record);
		take(&session, texts[i][0]);
		cr_assert_not_null(buffer_terminate(&session.record));
		cr_expect_eq(
			strncmp(session.record.data, "note it has sent what is no message: ", 37),
			0);
		found = strchr(session.record.data, '\n') + 1;
		cr_expect_eq(
			strncmp(found, wanted, strlen(wanted)), 0, "%s: %s", texts[i][0], found);
		cr_expect_not_null(strstr(found, texts[i][1]), "%s: %s", texts[i][0], found);
		cr_expect_null(strstr(found, "failed 8"));
		end(&session);
	}
	begin_stdio();
}

Test(mcp_client, leaves_calls_alone_that_a_text_only_mentions)
{
	static const char *const texts[] = {"{\"level\":\"info\",\"id\":3,\"msg\":\"x\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":{\"result\":NaN}}",
		"{\"a\":{\"id\":3,\"result\":1},}", "id 3 has the result \"x\"",
		"{\"id\":03,\"result\":1}", "{\"id\":3.5,\"result\":1}x"};

	begin_ready((struct mcp_client_options){0});
	call_add(7, "{}", 0);
	call_add(8, "{}", 0);
	buffer_reset(&session.record);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		take(&session, texts[i]);
	cr_assert_not_null(buffer_terminate(&session.record));
	cr_expect_null(strstr(session.record.data, "failed"), "%s", session.record.data);
}

/* As in the readers of all other clients. */
Test(mcp_client, takes_half_a_pair_of_surrogates_for_a_replacement_character)
{
	begin_ready((struct mcp_client_options){0});
	call_add(7, "{}", 0);
	buffer_reset(&session.record);
	take(&session,
		ANSWER("3", "\"content\":[],\"structuredContent\":\"a\\ud83d \\uDE00\\\\ud83d "
			    "\\ud83d\\ude00\\uD83D\\ud83d\\ude00\""));
	expect_actions(&session,
		"result 7 {\"content\":[],\"structured\":\"a\\ufffd \\ufffd\\\\ud83d "
		"\\ud83d\\ude00\\ufffd\\ud83d\\ude00\"}\n");
}

Test(mcp_client, takes_an_error_without_an_id_for_that_of_the_only_request)
{
	static const char error[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
				    "\"message\":\"Parse error\"}}";

	begin_ready((struct mcp_client_options){0});
	call_add(7, "{}", 0);
	call_add(8, "{}", 0);
	buffer_reset(&session.record);
	take(&session, error);
	expect_actions(&session, "note it has sent a response to an unknown request: "
				 "without an id\n");
	cr_expect_eq(
		mcp_client_take_response(session.client, 4, error, strlen(error), session.now_ms),
		0);
	expect_actions(&session, "failed 8 Parse error\n");
	take(&session, error);
	expect_actions(&session, "failed 7 Parse error\n");
}

Test(mcp_client, does_not_wait_for_a_list_that_cannot_be_read)
{
	begin(&session, (struct mcp_client_options){.is_legacy = true});
	take(&session, INITIALIZED("1"));
	buffer_reset(&session.record);
	take(&session, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[,]}}");
	cr_assert_not_null(buffer_terminate(&session.record));
	cr_expect_not_null(
		strstr(session.record.data, "no tools (it has not listed its tools: the server has "
					    "sent an answer that cannot be read: at byte "),
		"%s", session.record.data);
}

Test(mcp_client, takes_a_batch)
{
	begin_ready((struct mcp_client_options){0});
	call_add(1, "{}", 0);
	call_add(2, "{}", 0);
	buffer_reset(&session.record);
	take(&session, "[" ANSWER("4", NO_CONTENT) ", " ANSWER("3", NO_CONTENT) ",[]]");
	cr_assert_not_null(buffer_terminate(&session.record));
	cr_expect_eq(strncmp(session.record.data,
			     "result 2 {\"content\":[]}\nresult 1 {\"content\":[]}\nnote ", 52),
		0, "%s", session.record.data);
}

/* ── HTTP ────────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_client, over_http_takes_a_status_for_a_refusal_and_silence_for_an_outage)
{
	begin(&session, (struct mcp_client_options){.is_http = true});
	pass(&session, 10000);
	expect_actions(&session, SENT_DISCOVER("1"));
	cr_expect_eq(mcp_client_lose(session.client, 1, 404, session.now_ms), 0);
	expect_actions(&session, SENT_INITIALIZE("2"));
	cr_expect_eq(mcp_client_lose(session.client, 2, 404, session.now_ms), 0);
	expect_actions(&session, "over it has refused server/discover and initialize\n");
	end(&session);
	begin(&session, (struct mcp_client_options){.is_http = true});
	cr_expect_eq(mcp_client_lose(session.client, 1, 0, session.now_ms), 0);
	expect_actions(&session, SENT_DISCOVER("1") "over it cannot be reached\n");
}

Test(mcp_client, over_http_loses_single_requests)
{
	begin(&session, (struct mcp_client_options){.is_http = true});
	take(&session, DISCOVERED_LISTEN("1"));
	mcp_client_lose(session.client, 3, 0, session.now_ms);
	mcp_client_lose(session.client, 2, 0, session.now_ms);
	call_add(1, "{}", 0);
	buffer_reset(&session.record);
	mcp_client_lose(session.client, 4, 0, session.now_ms);
	mcp_client_lose(session.client, 4, 0, session.now_ms);
	expect_actions(&session, "lost 1\n");
	pass(&session, 1000);
	expect_actions(&session, MODERN_LIST("5") LISTEN("6"));
	call_add(1, "{}", 0);
	buffer_reset(&session.record);
	mcp_client_cancel(session.client, 1, false, session.now_ms);
	expect_actions(&session, "close 7\n");
	pass(&session, MCP_LIST_MS);
	expect_actions(&session, "close 5\nno tools (it has not listed its tools in time)\n");
	end(&session);
	begin_ready((struct mcp_client_options){.is_http = true});
	call_add(1, "{}", 0);
	mcp_client_cancel(session.client, 1, false, session.now_ms);
	expect_actions(&session, CALLED("3", "{}") SENT_CANCELLED("3", "cancelled") "close 3\n");
}

Test(mcp_client, over_http_begins_a_session_that_was_forgotten_again)
{
	begin_ready((struct mcp_client_options){.is_http = true});
	call_add(1, "{}", 0);
	call_add(2, "{}", 0);
	cr_expect_eq(mcp_client_renew(session.client, session.now_ms), 0);
	cr_expect_eq(mcp_client_lose(session.client, 4, 404, session.now_ms), 0);
	cr_expect_eq(mcp_client_renew(session.client, session.now_ms), 0);
	expect_actions(
		&session, CALLED("3", "{}") CALLED("4", "{}") SENT_INITIALIZE("5") "lost 2\n");
	call_add(3, "{}", MCP_E_UNREADY);
	take(&session, INITIALIZED("5"));
	expect_actions(&session, "ready legacy\n" SENT_INITIALIZED LEGACY_LIST("6"));
	take(&session, ANSWER("3", NO_CONTENT));
	expect_actions(&session, "result 1 {\"content\":[]}\n");
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

static void drop_action(void *data, const struct mcp_action *action)
{
	(void)data;
	(void)action;
}

/* Return the first failure of a whole session. */
static int run_session(void)
{
	static const struct mcp_client_options options = {
		.act = drop_action, .version = "1", .workers = 2, .start_ms = 1000};
	static const char *const texts[] = {DISCOVERED_LISTEN("1"), ACKNOWLEDGED,
		ANSWER("3", "\"tools\":[1,2],\"nextCursor\":\"\\u0061\""), ERROR("4", "-32602"),
		ANSWER("5", "\"tools\":{}"), "garbage", ANSWER("77", ""),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"};
	struct mcp_client *client = mcp_client_new(&options);
	int r = client ? mcp_client_tick(client, 0) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sizeof(texts) / sizeof(*texts); i++)
		r = mcp_client_take(client, texts[i], strlen(texts[i]), 1);
	if (r == 0)
		r = mcp_client_call(client, 1, TEXT_VIEW("a"), TEXT_VIEW("{}"));
	if (r == 0)
		r = mcp_client_take(
			client, ANSWER("6", NO_CONTENT), strlen(ANSWER("6", NO_CONTENT)), 1);
	mcp_client_free(client);
	return r;
}

Test(mcp_client, survives_that_memory_is_short, .fini = NULL)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = run_session();

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
	}
}
