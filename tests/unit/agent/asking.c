/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/asking.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "message/response.h"
#include "pass.h"
#include "util/log.h"

/* Requests to a tool service that a test plays. */

static struct loop *loop;
static struct asking asking;
static struct asked asked;
static struct buffer sent; /* the last message */
static unsigned int n_sent;
static int send_status;
static unsigned int n_ends;
static bool was_away;
static char answer[64];

static int keep_message(void *data, struct buffer *message)
{
	size_t size;
	const char *text = bus_message_text(message, &size);

	(void)data;
	buffer_reset(&sent);
	buffer_append(&sent, text, size);
	buffer_terminate(&sent);
	buffer_deinit(message);
	n_sent++;
	return send_status;
}

static void take_response(void *data, const struct json_tape *response)
{
	size_t size;
	const char *text;

	cr_expect_eq(data, &asked);
	n_ends++;
	was_away = response == NULL;
	if (!response)
		return;
	text = json_value_text(response, 0, &size);
	snprintf(answer, sizeof(answer), "%.*s", (int)size, text);
}

static void set_up(void)
{
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(asking_init(&asking, loop, keep_message, NULL), 0);
}

static void tear_down(void)
{
	asking_deinit(&asking);
	loop_free(loop);
	buffer_deinit(&sent);
}

TestSuite(asking, .timeout = 60, .init = set_up, .fini = tear_down);

static int send_list(void)
{
	cleanup(buffer_deinit) struct buffer person = {0};
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&person, "\"source\":\"me\"");
	buffer_append_string(&data, "{\"a\":1}");
	return asking_send(
		&asking, &asked, "ovos.tools.list", &person, &data, take_response, &asked);
}

/* Let a response to @topic come with the number @number of the process @key. */
static void respond_with(const char *key, const char *topic, const char *number, const char *data)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	char text[512];

	snprintf(text, sizeof(text),
		"{\"type\":\"%s\",\"data\":%s,\"context\":{\"toolbox_agent\":\"%s-%s\"}}", topic,
		data, key, number);
	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), 16), 0);
	if (asking_wants(&asking, topic, strlen(topic)))
		asking_take(&asking, &envelope);
}

static void respond(const char *topic, const char *number, const char *data)
{
	respond_with(asking.key, topic, number, data);
}

static void wait_for(uint64_t ms)
{
	pass(loop, ms);
	loop_run(loop, 5);
}

Test(asking, sends_in_the_name_of_a_person)
{
	char context[128];

	cr_assert_eq(send_list(), 0);
	snprintf(context, sizeof(context),
		"\"context\": "
		"{\"source\":\"me\",\"via\":\"toolbox-agent\",\"toolbox_agent\":\"%s-1\"}",
		asking.key);
	cr_expect(strstr(sent.data, context), "%s", sent.data);
	cr_expect(strstr(sent.data, "\"data\": {\"a\":1}"), "%s", sent.data);
}

Test(asking, takes_the_response_with_its_number)
{
	cr_assert_eq(send_list(), 0);
	respond("ovos.tools.list.response", "2", "{}");
	respond("ovos.tools.search.response", "1", "{}");
	cr_expect_eq(n_ends, 0);
	respond("ovos.tools.list.response", "1", "{\"tools\":[]}");
	cr_expect_eq(n_ends, 1);
	cr_expect_str_eq(answer, "{\"tools\":[]}");
	respond("ovos.tools.list.response", "1", "{}");
	cr_expect_eq(n_ends, 1);
	cr_expect_not(asked_is_open(&asked));
}

Test(asking, is_not_answered_by_another_number)
{
	static const char *const numbers[] = {"1x", "", "-1", "123456789012345678901234"};

	cr_assert_eq(send_list(), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		respond("ovos.tools.list.response", numbers[i], "{}");
	cr_expect_eq(n_ends, 0);
}

Test(asking, is_not_answered_with_another_key)
{
	cr_assert_eq(send_list(), 0);
	respond_with("0123456789abcdef", "ovos.tools.list.response", "1", "{}");
	cr_expect_eq(n_ends, 0);
}

Test(asking, forgets_a_request)
{
	cr_assert_eq(send_list(), 0);
	asked_forget(&asked);
	respond("ovos.tools.list.response", "1", "{}");
	cr_expect_eq(n_ends, 0);
	asked_forget(&asked);
}

Test(asking, looks_for_a_service_that_is_slow)
{
	cr_assert_eq(send_list(), 0);
	wait_for(ASKING_PATIENCE_MS);
	cr_expect(strstr(sent.data, "mycroft.toolboxd.is_alive"), "%s", sent.data);
	respond("mycroft.toolboxd.is_alive.response", "0", "{\"status\":true}");
	for (int i = 0; i < 5; i++) {
		wait_for(ASKING_PATIENCE_MS);
		respond("mycroft.toolboxd.is_alive.response", "0", "{\"status\":true}");
	}
	cr_expect_eq(n_ends, 0);
	respond("ovos.tools.list.response", "1", "{}");
	cr_expect_eq(n_ends, 1);
}

Test(asking, gives_up_a_service_that_is_away)
{
	cr_assert_eq(send_list(), 0);
	wait_for(ASKING_PATIENCE_MS);
	wait_for(ASKING_PATIENCE_MS);
	cr_expect_eq(n_ends, 1);
	cr_expect(was_away);
	/* It is not waited for as long again. */
	n_sent = 0;
	cr_assert_eq(send_list(), 0);
	cr_expect_eq(n_sent, 2);
	wait_for(ASKING_AWAY_MS);
	cr_expect_eq(n_ends, 2);
}

Test(asking, finds_a_service_that_is_back)
{
	asking.is_away = true;
	cr_assert_eq(send_list(), 0);
	respond("ovos.tools.list.response", "1", "{}");
	cr_expect_not(asking.is_away);
}

Test(asking, ends_all_when_the_bus_is_lost)
{
	cr_assert_eq(send_list(), 0);
	asking_lose(&asking);
	cr_expect_eq(n_ends, 1);
	cr_expect(was_away);
}

Test(asking, reports_a_bus_that_is_away)
{
	send_status = -ENOTCONN;
	cr_expect_eq(send_list(), -ENOTCONN);
	cr_expect_not(asked_is_open(&asked));
}

Test(asking, wants_only_what_it_waits_for)
{
	static const char topic[] = "ovos.tools.list.response";

	cr_expect_not(asking_wants(&asking, topic, strlen(topic)));
	cr_assert_eq(send_list(), 0);
	cr_expect(asking_wants(&asking, topic, strlen(topic)));
	cr_expect_not(asking_wants(&asking, topic, strlen(topic) - 1));
}
