/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/tasks.h"

#include <errno.h>
#include <stdio.h>

#include "client.h"
#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"

/* A server with tasks, whose door keeps what it is asked and what it sends. The test answers. */

static struct mcp_engine engine;
static struct mcp_tools tools;
static char sent[8][1024];
static size_t n_sent;
static char asked[64];
static size_t n_asked, n_cancels, n_calls;
static bool is_task;
static int ask_status;

#define ONE             "0123456789abcdef0123456789abcdef"
#define OTHER           "fedcba9876543210fedcba9876543210"
#define NEWS(id, state) "{'job_id':'" id "','state':'" state "','started':'S','ttl_ms':7}"

static int join_any(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	(void)exchange;
	(void)ret_error;
	return 0;
}

static void keep(const struct buffer *text)
{
	cr_assert_lt(n_sent, 8);
	snprintf(sent[n_sent++], sizeof(*sent), "%.*s", (int)text->size, text->data);
}

static void keep_response(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	(void)exchange;
	(void)status;
	keep(text);
}

static void keep_notification(struct mcp_exchange *exchange, struct buffer *message)
{
	(void)exchange;
	keep(message);
}

static const struct mcp_tools *list_tools(struct mcp_exchange *exchange)
{
	(void)exchange;
	return &tools;
}

static int begin_call(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool)
{
	(void)tool;
	n_calls++;
	is_task = exchange->is_task;
	return 0;
}

static int ask_job(struct mcp_exchange *exchange, bool cancels, struct text_view id)
{
	(void)exchange;
	n_asked++;
	n_cancels += cancels;
	snprintf(asked, sizeof(asked), "%.*s", (int)id.size, id.text);
	return ask_status;
}

static const struct mcp_door door = {
	.join = join_any,
	.respond = keep_response,
	.notify = keep_notification,
	.list = list_tools,
	.call = begin_call,
	.ask_job = ask_job,
};

static void set_up(void)
{
	static const struct mcp_listed_tool listed[] = {
		{.listed = "may", .toolbox_id = "box", .name = "may", .may_be_task = true},
		{.listed = "must",
			.toolbox_id = "box",
			.name = "must",
			.may_be_task = true,
			.must_be_task = true},
		{.listed = "never", .toolbox_id = "box", .name = "never"},
	};

	mcp_engine_init(&engine, &door, "1", 0);
	engine.server.has_tasks = true;
	cr_assert_eq(mcp_tools_begin(&tools, 3), 0);
	for (size_t i = 0; i < 3; i++)
		mcp_tools_add(&tools, &listed[i]);
	cr_assert_eq(mcp_tools_end(&tools), 0);
}

static void tear_down(void)
{
	mcp_tools_deinit(&tools);
}

TestSuite(mcp_server_tasks, .init = set_up, .fini = tear_down);

/* The bytes of a request, which are gone once it is served, and a copy of them. */
static char request[4096], last[4096];

/* Take the request with the members @params (' for ") of a client that @knows tasks. */
static void take(struct mcp_exchange *exchange, bool knows, const char *method, const char *params)
{
	cleanup_free char *members = quoted(params);

	snprintf(request, sizeof(request),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"_meta\":{"
		"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientCapabilities\":{%s}}%s}}",
		method, knows ? "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}" : "",
		members);
	mcp_exchange_init(exchange, &engine);
	mcp_take(exchange, request, strlen(request), NULL);
	memcpy(last, request, sizeof(last));
	memset(request, 'x', sizeof(request));
}

/* Check that the message @i that was sent has @part (' for "). */
static void expect_sent(size_t i, const char *part)
{
	cleanup_free char *wanted = quoted(part);

	cr_assert_lt(i, n_sent, "%s was not sent", part);
	cr_expect(strstr(sent[i], wanted), "%s is not in %s", wanted, sent[i]);
}

/* Call @use with the job or error @text (' for "). */
static void with_data(struct mcp_exchange *exchange, bool is_answer, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};
	cleanup_free char *json = quoted(text);

	cr_assert_eq(json_tape_read(&data, json, strlen(json), 16, NULL), 0, "%s", json);
	if (is_answer)
		mcp_exchange_answer(exchange, &data, false);
	else
		mcp_engine_report_job(&engine, &data);
}

static void answer(struct mcp_exchange *exchange, const char *text)
{
	with_data(exchange, true, text);
}

Test(mcp_server_tasks, begin_where_tool_and_client_know_them)
{
	static const struct {
		const char *tool;
		bool knows;
		bool is_task;
	} cases[] = {{"may", true, true}, {"may", false, false}, {"must", true, true},
		{"never", true, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mcp_exchange exchange;
		char params[32];

		snprintf(params, sizeof(params), ",'name':'%s'", cases[i].tool);
		take(&exchange, cases[i].knows, "tools/call", params);
		cr_expect_eq(n_calls, i + 1);
		cr_expect_eq(is_task, cases[i].is_task, "%s", cases[i].tool);
		mcp_exchange_deinit(&exchange);
	}
}

Test(mcp_server_tasks, are_refused_to_a_client_that_does_not_know_them)
{
	static const char *const cases[][2] = {
		{"tools/call", ",'name':'must'"},
		{"tasks/get", ",'taskId':'" ONE "'"},
		{"tasks/cancel", ",'taskId':'" ONE "'"},
		{"tasks/update", ",'taskId':'" ONE "','inputResponses':{}"},
		{"subscriptions/listen", ",'notifications':{'taskIds':[]}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mcp_exchange exchange;

		take(&exchange, false, cases[i][0], cases[i][1]);
		expect_sent(i, "'error':{'code':-32021,");
		expect_sent(i, "'data':{'requiredCapabilities':{'extensions':{"
			       "'io.modelcontextprotocol/tasks':{}}}}");
		mcp_exchange_deinit(&exchange);
	}
	cr_expect_eq(n_calls + n_asked, 0);
}

Test(mcp_server_tasks, are_answered_with_the_job_that_has_begun)
{
	struct mcp_exchange exchange;

	take(&exchange, true, "tools/call", ",'name':'may'");
	answer(&exchange, "{'name':'may','job_id':'" ONE "','state':'running','started':'S',"
			  "'ttl_ms':7}");
	expect_sent(0, "'taskId':'" ONE "','status':'working','createdAt':'S'");
	expect_sent(0, "'resultType':'task'");
	cr_expect_null(exchange.message.tape.tokens, "the request is kept as long as its job");
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "tools/call", ",'name':'may'");
	answer(&exchange, "{'name':'may','error':'No','code':'denied'}");
	expect_sent(1, "'isError':true");
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, are_shown_updated_and_cancelled)
{
	struct mcp_exchange exchange;

	take(&exchange, true, "tasks/get", ",'taskId':'" ONE "'");
	cr_expect_str_eq(asked, "\"" ONE "\"");
	answer(&exchange, NEWS(ONE, "running"));
	expect_sent(0, "'status':'working'");
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "tasks/update", ",'taskId':'" ONE "','inputResponses':{'x':1}");
	answer(&exchange, NEWS(ONE, "running"));
	expect_sent(1, "'result':{'resultType':'complete'");
	mcp_exchange_deinit(&exchange);
	cr_expect_eq(n_cancels, 0);
	take(&exchange, true, "tasks/cancel", ",'taskId':'" ONE "'");
	answer(&exchange, "{'job_id':'" ONE "','cancelled':true}");
	expect_sent(2, "'result':{'resultType':'complete'");
	cr_expect_eq(n_cancels, 1);
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "tasks/get", ",'taskId':'" OTHER "'");
	answer(&exchange, "{'error':'Unknown job','code':'unknown_job'}");
	expect_sent(3, "'error':{'code':-32602,'message':'Unknown job'");
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, without_memory_are_an_error)
{
	struct mcp_exchange exchange;

	ask_status = -ENOMEM;
	take(&exchange, true, "tasks/get", ",'taskId':'" ONE "'");
	expect_sent(0, "'error':{'code':-32603");
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "subscriptions/listen", ",'notifications':{'taskIds':['" ONE "']}");
	expect_sent(1, "'notifications':{'taskIds':[]}");
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, are_watched_once_all_are_known)
{
	struct mcp_exchange exchange;

	take(&exchange, true, "subscriptions/listen",
		",'notifications':{'taskIds':['" ONE "','" OTHER "','" ONE "','short']}");
	cr_expect_eq(n_asked, 2);
	with_data(&exchange, false, NEWS(ONE, "running"));
	cr_expect_eq(n_sent, 0, "nobody knows yet whether the client may see it");
	answer(&exchange, NEWS(ONE, "running"));
	with_data(&exchange, false, NEWS(ONE, "cancelled"));
	cr_expect_eq(n_sent, 0);
	answer(&exchange, "{'error':'Unknown job','code':'unknown_job'}");
	expect_sent(0, "'notifications':{'taskIds':['" ONE "']}");
	expect_sent(1,
		"'method':'notifications/tasks','params':{'taskId':'" ONE "','status':'cancelled'");
	expect_sent(1, "'io.modelcontextprotocol/subscriptionId':1");
	with_data(&exchange, false, NEWS(OTHER, "running"));
	cr_expect_eq(n_sent, 2, "a job of another");
	with_data(&exchange, false, NEWS(ONE, "running"));
	expect_sent(2, "'status':'working'");
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, are_asked_about_again_after_a_time_without_the_service)
{
	struct mcp_exchange exchange;

	take(&exchange, true, "subscriptions/listen", ",'notifications':{'taskIds':['" ONE "']}");
	answer(&exchange, NEWS(ONE, "running"));
	cr_expect_eq(n_sent, 2);
	mcp_tasks_watch(&exchange);
	cr_expect_eq(n_asked, 2);
	answer(&exchange, NEWS(ONE, "cancelled"));
	cr_expect_eq(n_sent, 3);
	expect_sent(2, "'status':'cancelled'");
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, are_no_methods_of_a_server_without_them)
{
	struct mcp_exchange exchange;

	engine.server.has_tasks = false;
	take(&exchange, true, "tasks/get", ",'taskId':'" ONE "'");
	expect_sent(0, "-32601");
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "tools/call", ",'name':'must'");
	expect_sent(1, "-32603");
	mcp_exchange_deinit(&exchange);
	take(&exchange, true, "tools/call", ",'name':'may'");
	cr_expect_eq(n_calls, 1);
	cr_expect_not(is_task);
	mcp_exchange_deinit(&exchange);
}

Test(mcp_server_tasks, that_are_watched_need_memory)
{
	struct mcp_exchange exchange;

	take(&exchange, true, "subscriptions/listen", ",'notifications':{'taskIds':['" ONE "']}");
	mcp_exchange_deinit(&exchange);
	for (size_t n = 0; scarce_once_after(n); n++) {
		mcp_exchange_init(&exchange, &engine);
		mcp_take(&exchange, last, strlen(last), NULL);
		mcp_exchange_deinit(&exchange);
		n_sent = 0;
	}
	cr_expect_gt(n_asked, 1);
}
