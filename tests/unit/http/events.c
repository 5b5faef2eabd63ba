/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "asking.h"
#include "serving.h"

/* Streams of events, and calls with a stream as their response. */

TestSuite(events, .init = serving_set_up, .fini = serving_tear_down, .timeout = 120);

/* Expect the parts of the text one after the other. */
static void expect_in_order(const char *text, const char *const *parts, size_t n)
{
	const char *at = text;

	for (size_t i = 0; i < n; i++) {
		at = strstr(at, parts[i]);
		cr_assert_not_null(at, "%s is not in %s", parts[i], text);
		at += strlen(parts[i]);
	}
}

Test(events, announce_the_life_of_a_call_to_an_operator)
{
	int fd;

	serving_start("");
	serving_use_token(OPERATOR_TOKEN);
	fd = http_begin("GET /v1/events", "", "");
	http_read_until(fd, "\r\n\r\n");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':16}"), 200);
	http_read_until(fd, "event: call.completed");
	cr_expect_not_null(strstr(http_response, "event: call.started"), "%s", http_response);
	cr_expect_not_null(strstr(http_response, "\"name\":\"sqrt\""));
	close(fd);
}

Test(events, tell_a_guest_nothing_of_calls)
{
	int fd;

	serving_start("");
	serving_use_token(GUEST_TOKEN);
	fd = http_begin("GET /v1/events", "", "");
	http_read_until(fd, "text/event-stream");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':16}"), 200);
	serving_use_token(OPERATOR_TOKEN);
	write_box("more.json", "{'kind':'native','library':'libm.so.6','tools':[{'name':'root',"
			       "'risk':'read','native':{'symbol':'sqrt','parameters':["
			       "{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}");
	cr_expect_eq(http_ask("POST /v1/reload", "", ""), 200);
	http_read_until(fd, "event: changed");
	cr_expect_not_null(strstr(http_response, "data: {}"), "%s", http_response);
	cr_expect_null(strstr(http_response, "call."));
	close(fd);
}

Test(events, are_the_response_of_a_call_that_asks_for_them)
{
	static const char *const parts[] = {"200 OK", "Content-Type: text/event-stream",
		"event: result", "data: {", "\"result\":"};
	static const char *const failed[] = {"200 OK", "event: error", "\"code\":\"timeout\""};

	serving_start("");
	cr_expect_eq(
		http_ask("POST /v1/tools/sqrt", "Accept: text/event-stream\r\n", "{'x':16}"), 200);
	expect_in_order(http_response, parts, sizeof(parts) / sizeof(*parts));
	http_ask("POST /v1/tools/wait?timeout_ms=50", "Accept: text/event-stream\r\n",
		"{'us':20000000}");
	expect_in_order(http_response, failed, sizeof(failed) / sizeof(*failed));
}

Test(events, are_not_what_a_dry_run_asks_for)
{
	serving_start("");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt?dry_run=1", "Accept: text/event-stream\r\n",
			     "{'x':16}"),
		200);
	expect_field("Content-Type: application/json; charset=utf-8");
}
