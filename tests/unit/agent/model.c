/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/model/model.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"
#include "scripted.h"
#include "util/cleanup.h"
#include "util/log.h"

/* A client of a scripted server. Waits are not waited for: the time of the loop's timers is
 * advanced. */

#define TURN_MS   5
#define TURNS_MAX 6000

static struct loop *loop;
static struct model *model;
static struct model_settings settings;
static char url[64];

/* The outcome of the request. */
static bool is_done;
static enum model_end end;
static char reason[MODEL_REASON_BYTES];
static struct buffer text;
static unsigned int n_parts; /* calls of take_text() */
static struct reply reply;

static void take_text(void *data, const char *bytes, size_t size)
{
	(void)data;
	n_parts++;
	buffer_append(&text, bytes, size);
}

static void take_end(void *data, const struct model_outcome *outcome)
{
	(void)data;
	cr_expect_not(is_done);
	is_done = true;
	end = outcome->end;
	snprintf(reason, sizeof(reason), "%s", outcome->reason);
	reply_deinit(&reply);
	reply = *outcome->reply;
	*outcome->reply = (struct reply){0};
	loop_stop(loop);
}

static const struct model_handler handler = {take_text, take_end};

static void start_model(const char *const *responses)
{
	const char *why;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/", script_start(responses));
	settings.base_url = url;
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(model_new(loop, &settings, &model, &why), 0);
}

static struct model_request *send_request(void)
{
	struct buffer body = {0};

	is_done = false;
	buffer_append_string(&body, "{\"model\":\"m\"");
	return model_ask(model, &body, &handler, NULL);
}

static void wait_for_end(void)
{
	for (int i = 0; i < TURNS_MAX && !is_done; i++)
		loop_run(loop, TURN_MS);
	cr_assert(is_done);
}

/* Wait until a request has come. */
static void wait_for_request(void)
{
	for (int i = 0; i < TURNS_MAX && script_n_requests() < 1; i++)
		loop_run(loop, TURN_MS);
}

static void ask(void)
{
	struct model_request *request = send_request();

	cr_assert(request);
	wait_for_end();
	model_request_free(request);
}

static void tear_down(void)
{
	reply_deinit(&reply);
	buffer_deinit(&text);
	model_free(model);
	loop_free(loop);
}

TestSuite(model, .timeout = 120, .fini = tear_down);

static void expect_text(const char *expected)
{
	cr_expect_eq(text.size, strlen(expected), "%.*s", (int)text.size, text.data);
	cr_expect(text.size == 0 || memcmp(text.data, expected, text.size) == 0);
}

#define PART(words) "data: {\"choices\":[{\"delta\":{\"content\":\"" words "\"}}]}\n\n"
#define END         "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define GOOD        SCRIPT_STREAM(PART("Hi.") END "data: [DONE]\n\n")

Test(model, streams_an_answer)
{
	static const char *const script[] = {GOOD, NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	expect_text("Hi.");
	cr_expect(strstr(script_head(0), "POST /v1/chat/completions HTTP/1.1\r\n"));
	cr_expect_str_eq(script_body(0), "{\"model\":\"m\",\"stream\":true,\"stream_options\":{"
					 "\"include_usage\":true}}");
	cr_expect(model_was_reachable(model, 60000));
}

Test(model, understands_a_server_that_does_not_stream)
{
	static const char *const script[] = {
		SCRIPT_STATUS(
			"200 OK", "", "\n {\"choices\":[{\"message\":{\"content\":\"Hi.\"}}]}"),
		NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	expect_text("Hi.");
}

Test(model, asks_again_without_options_that_a_server_does_not_know)
{
	static const char *const script[] = {
		SCRIPT_STATUS(
			"400 Bad Request", "", "{\"error\":\"unknown field stream_options\"}"),
		GOOD, GOOD, NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	cr_expect_str_eq(script_body(1), "{\"model\":\"m\",\"stream\":true}");
	ask();
	cr_expect_str_eq(script_body(2), "{\"model\":\"m\",\"stream\":true}");
}

Test(model, tries_three_times_after_a_server_error)
{
	static const char *const script[] = {SCRIPT_STATUS("503 Loading", "", "{}"),
		SCRIPT_STATUS("500 Oh", "", "{}"), GOOD, NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	cr_expect_eq(script_n_requests(), 3);
	expect_text("Hi.");
}

Test(model, gives_up_after_three_tries)
{
	static const char *const script[] = {SCRIPT_STATUS("503 Busy", "", "{}"),
		SCRIPT_STATUS("503 Busy", "", "{}"),
		SCRIPT_STATUS("503 Busy", "", "{\"error\":{\"message\":\"full\"}}"), NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "HTTP 503: full");
	cr_expect_eq(script_n_requests(), 3);
}

Test(model, waits_as_long_as_the_server_asks)
{
	static const char *const script[] = {
		SCRIPT_STATUS("429 Slow", "Retry-After: 9\r\n", "{}"), GOOD, NULL};
	struct model_request *request;

	start_model(script);
	request = send_request();
	wait_for_request();
	loop_run(loop, 1200);
	cr_expect_eq(script_n_requests(), 1);
	pass(loop, 9000);
	wait_for_end();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	model_request_free(request);
}

Test(model, reports_a_longer_wait)
{
	static const char *const script[] = {
		SCRIPT_STATUS("429 Slow", "Retry-After: 11\r\n", "{\"error\":\"quota\"}"), NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "HTTP 429: quota");
}

static void expect_one_try(const char *status)
{
	static const char *script[2];
	char response[256];

	snprintf(response, sizeof(response), SCRIPT_STATUS("%s", "", "{\"error\":\"no\"}"), status);
	script[0] = response;
	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_eq(script_n_requests(), 1);
}

Test(model, asks_once_after_400)
{
	expect_one_try("400 Bad");
}

Test(model, asks_once_after_401)
{
	expect_one_try("401 Who");
}

Test(model, asks_once_after_403)
{
	expect_one_try("403 No");
}

Test(model, asks_once_after_404)
{
	expect_one_try("404 Not");
}

Test(model, follows_no_redirection)
{
	static const char *const script[] = {
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n"
		"Connection: close\r\n\r\n",
		NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "HTTP 302");
}

Test(model, tries_again_when_no_byte_has_come)
{
	static const char *const script[] = {"", GOOD, NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	cr_expect_eq(script_n_requests(), 2);
}

Test(model, never_asks_again_after_a_byte)
{
	static const char *const script[] = {SCRIPT_STREAM(PART("Hi. ")), NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer was cut off");
	expect_text("Hi. ");
	cr_expect_eq(script_n_requests(), 1);
}

Test(model, drops_an_event_cut_in_a_letter)
{
	static const char *const script[] = {
		SCRIPT_STREAM(PART("Hi.") "data: {\"choices\":[{\"delta\":{\"content\":\"\xC3"),
		NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer was cut off");
}

Test(model, refuses_the_page_of_a_proxy)
{
	static const char *const script[] = {
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
		"<html>Please log in</html>",
		NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer is text/html, and no JSON");
}

Test(model, refuses_an_empty_answer)
{
	static const char *const script[] = {SCRIPT_STATUS("200 OK", "", ""), NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer is empty, and no JSON");
}

Test(model, refuses_an_event_that_is_no_json)
{
	static const char *const script[] = {SCRIPT_STREAM("data: nonsense\n\n"), NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect(strstr(reason, "no JSON object"), "%s", reason);
}

Test(model, refuses_a_stream_without_choices)
{
	static const char *const script[] = {SCRIPT_STREAM("data: [DONE]\n\n"), NULL};

	start_model(script);
	ask();
	cr_expect_str_eq(reason, "its answer has no choices");
}

/* Send @head, then the byte @fill until there are @size bytes. The thread that sends them may go on
 * after the test. */
static void serve_long(const char *head, char fill, size_t size)
{
	static const char *const script[] = {"long", NULL};
	static char body[MODEL_RESPONSE_BYTES + 200];

	cr_assert_leq(size, sizeof(body));
	memset(body, fill, size);
	memcpy(body, head, strlen(head));
	script_set_long(body, size);
	start_model(script);
	ask();
}

Test(model, refuses_a_response_of_more_than_8_mib)
{
	serve_long(
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", '\n', MODEL_RESPONSE_BYTES + 200);
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer has more than 8 MiB");
}

Test(model, refuses_an_event_of_more_than_a_mib)
{
	serve_long(SCRIPT_STREAM("data: {"), 'x', MODEL_EVENT_BYTES + 400);
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "an event of its answer has more than a MiB");
}

Test(model, gives_up_an_answer_that_stalls)
{
	static const char *const script[] = {SCRIPT_HELD SCRIPT_STREAM(PART("Hi.")), NULL};
	struct model_request *request;

	start_model(script);
	request = send_request();
	for (int i = 0; i < TURNS_MAX && text.size == 0; i++)
		loop_run(loop, TURN_MS);
	cr_expect_not(is_done);
	pass(loop, MODEL_STALL_MS);
	wait_for_end();
	cr_expect_eq(end, MODEL_FAILED);
	cr_expect_str_eq(reason, "its answer stalled for 20 s");
	model_request_free(request);
}

Test(model, keeps_a_finished_answer_that_stalls)
{
	static const char *const script[] = {SCRIPT_HELD SCRIPT_STREAM(PART("Hi.") END), NULL};
	struct model_request *request;

	start_model(script);
	request = send_request();
	for (int i = 0; i < TURNS_MAX && text.size == 0; i++)
		loop_run(loop, TURN_MS);
	pass(loop, MODEL_STALL_MS);
	wait_for_end();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	expect_text("Hi.");
	model_request_free(request);
}

Test(model, keeps_a_finished_answer_whose_connection_is_lost)
{
	static const char *const script[] = {
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9000\r\n"
		"\r\n" PART("Hi.") END,
		NULL};

	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	expect_text("Hi.");
}

Test(model, passes_the_text_of_many_events_at_once)
{
	static const char *const script[] = {"long", NULL};
	cleanup(buffer_deinit) struct buffer events = {0};

	buffer_append_string(&events, SCRIPT_STREAM(""));
	for (int i = 0; i < 2048; i++)
		buffer_append_string(&events, PART("x"));
	buffer_append_string(&events, END);
	script_set_long(events.data, events.size);
	start_model(script);
	ask();
	cr_expect_eq(end, MODEL_ANSWERED, "%s", reason);
	cr_expect_eq(text.size, 2048);
	cr_expect_lt(n_parts, 1024, "%u", n_parts);
}

Test(model, has_all_time_for_its_first_byte)
{
	static const char *const script[] = {SCRIPT_HELD, NULL};
	struct model_request *request;

	start_model(script);
	request = send_request();
	wait_for_request();
	pass(loop, MODEL_STALL_MS);
	loop_run(loop, TURN_MS);
	cr_expect_not(is_done);
	model_request_free(request);
}

Test(model, is_away_without_a_server)
{
	static const char *const script[] = {NULL};

	start_model(script);
	snprintf(url, sizeof(url), "http://127.0.0.1:1/v1");
	model_free(model);
	cr_assert_eq(model_new(loop, &settings, &model, &(const char *){NULL}), 0);
	ask();
	cr_expect_eq(end, MODEL_AWAY);
	cr_expect_str_eq(reason, "Connection refused");
	cr_expect_not(model_was_reachable(model, 60000));
	/* The pause is not over: there is no other try. */
	ask();
	cr_expect_eq(end, MODEL_AWAY);
	cr_expect_str_eq(reason, "it was away a moment ago");
}

Test(model, masks_its_key)
{
	static const char *const script[] = {
		SCRIPT_STATUS("401 No", "", "{\"error\":\"wrong key sk-12345, sk-12345\"}"), NULL};

	settings.key = "sk-12345";
	start_model(script);
	ask();
	cr_expect(strstr(script_head(0), "Authorization: Bearer sk-12345\r\n"));
	cr_expect_str_eq(reason, "HTTP 401: wrong key ********, ********");
}

Test(model, finds_out_whether_its_server_is_there)
{
	static const char *const script[] = {SCRIPT_STATUS("200 OK", "", "{\"data\":[]}"), NULL};

	start_model(script);
	cr_expect_not(model_was_reachable(model, 60000));
	model_probe(model);
	for (int i = 0; i < TURNS_MAX && !model_was_reachable(model, 60000); i++)
		loop_run(loop, TURN_MS);
	cr_expect(model_was_reachable(model, 60000));
	cr_expect(strstr(script_head(0), "GET /v1/models HTTP/1.1\r\n"));
}

Test(model, can_be_given_up)
{
	static const char *const script[] = {SCRIPT_HELD, NULL};
	struct model_request *request;

	start_model(script);
	request = send_request();
	wait_for_request();
	model_request_free(request);
	loop_run(loop, TURN_MS);
	cr_expect_not(is_done);
}
