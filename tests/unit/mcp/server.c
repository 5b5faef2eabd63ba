/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "json/member.h"
#include "scarce.h"

/* A door whose client keeps its last message. */
static struct mcp_engine engine;
static struct mcp_tools tools;
static char last[4096];
static unsigned int last_status;
static size_t n_responses, n_notifications, n_cancelled;
static bool is_answered_at_once;

/* A request of this door. */
struct visit {
	struct mcp_exchange exchange;
	char text[1024];
};

static int join_any(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	(void)exchange;
	(void)ret_error;
	return 0;
}

static void keep_last(const struct buffer *text)
{
	snprintf(last, sizeof(last), "%.*s", (int)text->size, text->size ? text->data : "");
}

static void keep_response(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	(void)exchange;
	n_responses++;
	last_status = status;
	last[0] = '\0';
	if (text)
		keep_last(text);
}

static void keep_notification(struct mcp_exchange *exchange, struct buffer *message)
{
	(void)exchange;
	n_notifications++;
	keep_last(message);
}

static bool takes_report(struct mcp_exchange *exchange, double value)
{
	(void)exchange;
	return !(value > 0.5);
}

static const struct mcp_tools *list_tools(struct mcp_exchange *exchange)
{
	(void)exchange;
	return &tools;
}

static int begin_call(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool)
{
	cr_expect_eq(exchange->has_content, tool && tool->has_content);
	if (is_answered_at_once)
		mcp_exchange_fail(exchange, "{\"error\":\"at once\",\"code\":\"tool_failed\"}");
	return 0;
}

static size_t most_found; /* the limit of the last search */

static int begin_search(struct mcp_exchange *exchange, uint32_t query)
{
	cr_expect(json_is_text(&exchange->message.tape, query, "sums"));
	most_found = exchange->search.limit;
	return 0;
}

static int listen_always(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	(void)exchange;
	(void)ret_error;
	return 0;
}

static void end_cancelled(struct mcp_exchange *exchange)
{
	n_cancelled++;
	mcp_exchange_deinit(exchange);
}

static const struct mcp_door door = {
	.join = join_any,
	.respond = keep_response,
	.notify = keep_notification,
	.takes_report = takes_report,
	.list = list_tools,
	.call = begin_call,
	.search = begin_search,
	.listen = listen_always,
	.cancel = end_cancelled,
};

static void set_up(void)
{
	static const struct mcp_listed_tool add = {
		"box__add", "box", "add", NULL, false, false, false, 0};
	static const struct mcp_listed_tool show = {
		"box__show", "box", "show", NULL, true, false, false, 0};

	mcp_engine_init(&engine, &door, "1", 3);
	cr_assert_eq(mcp_tools_begin(&tools, 2), 0);
	buffer_append_string(&tools.text, "{\"name\":\"box__show\"}");
	mcp_tools_add(&tools, &show);
	buffer_append_string(&tools.text, "{\"name\":\"box__add\"}");
	mcp_tools_add(&tools, &add);
	cr_assert_eq(mcp_tools_end(&tools), 0);
}

static void tear_down(void)
{
	mcp_tools_deinit(&tools);
}

TestSuite(mcp_server, .init = set_up, .fini = tear_down);

/* Let @visit, of @session, be the message @text, whose bytes are gone afterwards. */
static void take(struct visit *visit, const char *session, const char *text)
{
	mcp_exchange_init(&visit->exchange, &engine);
	visit->exchange.session = session;
	snprintf(visit->text, sizeof(visit->text), "%s", text);
	mcp_take(&visit->exchange, visit->text, strlen(text), NULL);
	memset(visit->text, 'x', sizeof(visit->text));
}

/* The same for a message with its response at once. */
static void take_whole(const char *session, const char *text)
{
	struct visit visit;

	take(&visit, session, text);
	cr_expect_not(mcp_exchange_is_open(&visit.exchange), "%s", text);
	mcp_exchange_deinit(&visit.exchange);
}

static void expect_last(const char *part)
{
	cr_expect(strstr(last, part), "%s is not in %s", part, last);
}

#define CALL(id)                                                                                   \
	LEGACY(id, "tools/call", "\"name\":\"box__add\",\"_meta\":{\"progressToken\":\"p\"}")
#define LISTEN(id)                                                                                 \
	MODERN(id, "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}")
#define CANCEL(id)                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"                                         \
	"cancelled\",\"params\":{\"requestId\":" id "}}"

static void answer(struct visit *visit, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};

	cr_assert_eq(json_tape_read(&data, text, strlen(text), 8, NULL), 0);
	mcp_exchange_answer(&visit->exchange, &data, visit->exchange.has_content);
	mcp_exchange_deinit(&visit->exchange);
}

static void report(struct visit *visit, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape event = {0};

	cr_assert_eq(json_tape_read(&event, text, strlen(text), 8, NULL), 0);
	mcp_exchange_report(&visit->exchange, &event);
}

Test(mcp_server, has_one_response_to_each_message)
{
	take_whole("s", LEGACY("1", "initialize", "\"protocolVersion\":\"2025-11-25\""));
	expect_last("\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"");
	take_whole("s", LEGACY("\"a\"", "ping", ""));
	expect_last("\"id\":\"a\",\"result\":{}");
	take_whole("s", MODERN("2", "server/discover", ""));
	expect_last("supportedVersions");
	take_whole("s", LEGACY("3", "tools/list", ""));
	expect_last("\"tools\":[{\"name\":\"box__show\"},{\"name\":\"box__add\"}]");
	take_whole("s", LEGACY("4", "prompts/get", "\"name\":\"x\""));
	expect_last("-32601");
	take_whole("s", "{");
	expect_last("-32700");
	cr_expect_eq(n_responses, 6);
	take_whole("s", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	cr_expect_str_eq(last, "");
	cr_expect_eq(last_status, 202);
	cr_expect(list_is_empty(&engine.requests));
}

Test(mcp_server, answers_a_call_when_its_tool_has)
{
	struct visit call;

	take(&call, "s", CALL("7"));
	cr_expect_eq(n_responses, 0);
	cr_expect_eq(mcp_engine_first(&engine, MCP_CALLING), &call.exchange);
	answer(&call, "{\"result\":{\"n\":1}}");
	expect_last("\"id\":7,\"result\":{");
	expect_last("\"structuredContent\":{\"n\":1}");
	cr_expect_eq(n_responses, 1);
	cr_expect_null(mcp_engine_first(&engine, MCP_CALLING));
	is_answered_at_once = true;
	take_whole("s", CALL("7"));
	expect_last("at once");
}

Test(mcp_server, knows_the_tools_with_rich_content)
{
	struct visit call;

	take(&call, "s", LEGACY("1", "tools/call", "\"name\":\"box__show\""));
	answer(&call, "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}");
	expect_last("\"content\":[{\"type\":\"text\",\"text\":\"x\"}]");
	take(&call, "s", LEGACY("2", "tools/call", "\"name\":\"box__sho\\u0000w\""));
	answer(&call, "{\"error\":\"Unknown tool\",\"code\":\"unknown_tool\"}");
	expect_last("\"id\":2,\"error\":{\"code\":-32602");
}

Test(mcp_server, refuses_the_id_of_a_request_in_flight_of_its_session_alone)
{
	struct visit first, second, third;

	take(&first, "s", CALL("1"));
	take_whole("s", CALL("1.0"));
	expect_last("A request in flight has this id.");
	take(&second, "other", CALL("1"));
	cr_expect(mcp_exchange_is_open(&second.exchange));
	take(&third, NULL, CALL("1"));
	cr_expect(mcp_exchange_is_open(&third.exchange));
	mcp_exchange_deinit(&first.exchange);
	mcp_exchange_deinit(&second.exchange);
	mcp_exchange_deinit(&third.exchange);
}

Test(mcp_server, refuses_more_requests_than_it_has_room_for)
{
	struct visit visits[4];

	mcp_exchange_init(&visits[3].exchange, &engine);
	mcp_exchange_listen(&visits[3].exchange);
	take(&visits[0], "s", CALL("0"));
	take(&visits[1], "s", CALL("1"));
	cr_expect(mcp_engine_has_room(&engine));
	take(&visits[2], "s", LISTEN("2"));
	cr_expect_not(mcp_engine_has_room(&engine));
	take_whole("s", CALL("3"));
	expect_last("3 requests are in flight: wait for one.");
	expect_last("\"isError\":true");
	take_whole("s", LISTEN("4"));
	expect_last("-32603");
	cr_expect_eq(last_status, 503);
	for (size_t i = 0; i < 4; i++)
		mcp_exchange_deinit(&visits[i].exchange);
	cr_expect(mcp_engine_has_room(&engine));
}

Test(mcp_server, cancels_the_request_that_a_notification_of_its_session_means)
{
	struct visit call, other;

	take(&call, "s", CALL("1"));
	take(&other, "other", CALL("1"));
	take_whole(NULL, CANCEL("1"));
	take_whole("s", CANCEL("2"));
	take_whole("s", CANCEL("\"1\""));
	cr_expect_eq(n_cancelled, 0);
	take_whole("s", CANCEL("1"));
	cr_expect_eq(n_cancelled, 1);
	cr_expect_not(mcp_exchange_is_open(&call.exchange));
	cr_expect(mcp_exchange_is_open(&other.exchange));
	take_whole("s", CANCEL("1"));
	cr_expect_eq(n_cancelled, 1);
	mcp_exchange_deinit(&other.exchange);
}

Test(mcp_server, cancels_all_requests_of_a_session_that_ends)
{
	struct visit call, listen, stream, other;

	take(&call, "s", CALL("1"));
	take(&listen, "s", LISTEN("2"));
	mcp_exchange_init(&stream.exchange, &engine);
	stream.exchange.session = "s";
	mcp_exchange_listen(&stream.exchange);
	take(&other, "other", CALL("1"));
	mcp_engine_cancel(&engine, "s", (struct text_view){0});
	cr_expect_eq(n_cancelled, 3);
	cr_expect(mcp_exchange_is_open(&other.exchange));
	mcp_exchange_deinit(&other.exchange);
}

Test(mcp_server, reports_the_progress_that_is_wanted_and_can_be_sent)
{
	struct visit with, without;

	take(&with, "s", CALL("1"));
	take(&without, "s", LEGACY("2", "tools/call", "\"name\":\"box__add\""));
	report(&without, "{\"progress\":0.25}");
	cr_expect_eq(n_notifications, 0);
	report(&with, "{\"progress\":0.25,\"text\":\"a \\\"b\\\"\"}");
	cr_expect_str_eq(last,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		"{\"progressToken\":\"p\",\"progress\":0.25,\"total\":1,"
		"\"message\":\"a \\\"b\\\"\"}}");
	report(&with, "{\"progress\":0.75}");
	report(&with, "{\"progress\":\"x\"}");
	cr_expect_eq(n_notifications, 1);
	mcp_exchange_report_text(&with.exchange, TEXT_VIEW("waits"));
	expect_last("\"message\":\"waits\"");
	cr_expect_eq(n_notifications, 2);
	mcp_exchange_deinit(&with.exchange);
	mcp_exchange_deinit(&without.exchange);
}

Test(mcp_server, notifies_the_listeners_that_want_it_until_they_end)
{
	struct visit wants, deaf, legacy;

	take(&wants, NULL, LISTEN("\"w\""));
	expect_last("\"notifications\":{\"toolsListChanged\":true}");
	take(&deaf, NULL, MODERN("2", "subscriptions/listen", ",\"notifications\":{}"));
	expect_last("\"notifications\":{}");
	mcp_exchange_init(&legacy.exchange, &engine);
	mcp_exchange_listen(&legacy.exchange);
	cr_expect_eq(n_notifications, 2);
	mcp_engine_changed(&engine);
	cr_expect_eq(n_notifications, 4);
	cr_expect_str_eq(
		last, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
	mcp_exchange_finish(&legacy.exchange);
	cr_expect_eq(n_responses, 0);
	mcp_exchange_finish(&wants.exchange);
	expect_last("\"id\":\"w\",\"result\":{");
	expect_last("subscriptionId\":\"w\"");
	mcp_exchange_deinit(&legacy.exchange);
	mcp_engine_changed(&engine);
	cr_expect_eq(n_notifications, 4);
	mcp_exchange_deinit(&wants.exchange);
	mcp_exchange_deinit(&deaf.exchange);
}

Test(mcp_server, responds_or_is_in_flight_without_memory)
{
	static const char *const texts[] = {CALL("1"), LISTEN("1"), LEGACY("1", "tools/list", "")};

	for (size_t i = 0; i < 3; i++)
		for (size_t n = 0; scarce_once_after(n); n++) {
			struct visit visit;
			size_t before = n_responses;

			take(&visit, "s", texts[i]);
			cr_expect_eq(mcp_exchange_is_open(&visit.exchange), n_responses == before);
			scarce_has_failed();
			mcp_exchange_deinit(&visit.exchange);
		}
}

/* ── three tools in place of a list ──────────────────────────────────────────────────────────── */

static const char *describe_box(void *data, const char *toolbox_id)
{
	(void)data;
	(void)toolbox_id;
	return "Sums.";
}

/* A call of @name with @arguments, the text of an object. */
#define LAZY(name, arguments)                                                                      \
	LEGACY("1", "tools/call", "\"name\":\"" name "\",\"arguments\":" arguments)

Test(mcp_server, fails_a_lazy_call_with_the_rule_of_its_argument)
{
	static const char query[] = "'query' must be a string, the words to search for.";
	static const char limit[] = "'limit' must be an integer from 1 to 50.";
	static const char name[] = "'name' must be a string, the name of a tool.";
	static const char *const rows[][2] = {
		{LAZY("search_tools", "{}"), query},
		{LAZY("search_tools", "{\"query\":1}"), query},
		{LEGACY("1", "tools/call", "\"name\":\"search_tools\""), query},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":0}"), limit},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":51}"), limit},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":\"1\"}"), limit},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":1.5}"), limit},
		{LAZY("get_tool", "{}"), name},
		{LAZY("get_tool", "{\"name\":1}"), name},
		{LAZY("get_tool", "{\"name\":\"box__none\"}"),
			"'name' must be the name of a tool: search_tools finds the names."},
		{LAZY("call_tool", "{}"), name},
		{LAZY("call_tool", "{\"name\":\"box__add\",\"arguments\":[]}"),
			"'arguments' must be an object, the arguments of the tool."},
		{LAZY("call_tool", "{\"name\":\"box__add\",\"arguments\":1}"),
			"'arguments' must be an object, the arguments of the tool."},
	};

	cr_assert_eq(mcp_lazy_make(&tools, describe_box, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		take_whole("s", rows[i][0]);
		expect_last(rows[i][1]);
		expect_last("\"isError\":true");
	}
}

Test(mcp_server, searches_as_many_tools_as_are_wanted)
{
	static const struct {
		const char *text;
		size_t most;
	} rows[] = {
		{LAZY("search_tools", "{\"query\":\"sums\"}"), MCP_FOUND_DEFAULT},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":1}"), 1},
		{LAZY("search_tools", "{\"query\":\"sums\",\"limit\":50}"), 50},
	};
	struct visit search;

	cr_assert_eq(mcp_lazy_make(&tools, describe_box, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		take(&search, "s", rows[i].text);
		cr_expect_eq(most_found, rows[i].most);
		answer(&search,
			"{\"tools\":[{\"name\":\"x\",\"description\":\"D.\"}],\"total\":1}");
		expect_last("\"structuredContent\":{\"tools\":[{");
	}
	take(&search, "s", rows[0].text);
	answer(&search, "{\"error\":\"RuntimeError: Too many\",\"code\":\"busy\"}");
	expect_last("RuntimeError: Too many");
}

Test(mcp_server, gives_the_definition_of_a_tool_and_calls_it)
{
	struct visit call;

	cr_assert_eq(mcp_lazy_make(&tools, describe_box, NULL), 0);
	take_whole("s", LAZY("get_tool", "{\"name\":\"box__show\"}"));
	expect_last("\"structuredContent\":{\"name\":\"box__show\"}");
	take(&call, "s", LAZY("call_tool", "{\"name\":\"box__show\",\"arguments\":{\"a\":1}}"));
	cr_expect(call.exchange.has_content);
	answer(&call, "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}");
	expect_last("\"content\":[{\"type\":\"text\",\"text\":\"x\"}]");
	take(&call, "s", LAZY("call_tool", "{\"name\":\"box__add\"}"));
	cr_expect_eq(call.exchange.message.arguments, JSON_NONE);
	answer(&call, "{\"result\":7}");
	expect_last("\"id\":1,\"result\":{");
}
