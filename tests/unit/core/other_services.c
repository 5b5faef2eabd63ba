/* SPDX-License-Identifier: Apache-2.0 */
#include "core/other_services.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "logged.h"
#include "pass.h"
#include "util/cleanup.h"

/* Other tool services on a bus of our own: a test sends the messages that they would send. */

#define PATIENCE_MS 30000
#define TURN_MS     5

/* Much less than a pause, much more than a busy machine needs for a few turns. */
#define MARGIN_MS 5000

/* The time in which a probe is answered. */
#define ANSWER_MS 2000

#define OTHER_KEY "0123456789abcdef"

static struct loop *loop;
static struct bus *bus;
static struct other_services rivals;
static char probe[1024]; /* the last one that was sent */
static unsigned int n_probes;

static bool wants(void *data, const char *topic, size_t size)
{
	(void)data;
	return text_is(topic, size, OTHER_SERVICES_TOPIC) ||
	       other_services_hear(&rivals, topic, size);
}

static bool take(const char *text, size_t size)
{
	struct bus_envelope envelope = {0};
	bool is_ours;

	cr_assert_eq(bus_envelope_read(&envelope, text, size, 64), 0, "%s", text);
	is_ours = other_services_take(&rivals, &envelope);
	bus_envelope_deinit(&envelope);
	return is_ours;
}

static void on_frame(void *data, const char *text, size_t size)
{
	(void)data;
	if (!take(text, size))
		return;
	snprintf(probe, sizeof(probe), "%.*s", (int)size, text);
	n_probes++;
	loop_stop(loop);
}

static void set_up(void)
{
	static const struct bus_handler handler = {.wants = wants, .frame = on_frame};
	struct bus_address address = bus_address_default;

	address.port = 0;
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, NULL, &bus), 0);
	cr_assert_eq(other_services_init(&rivals, loop), 0);
	rivals.bus = bus;
	logged_begin();
}

static void tear_down(void)
{
	other_services_deinit(&rivals);
	bus_free(bus);
	loop_free(loop);
}

TestSuite(other_services, .init = set_up, .fini = tear_down, .timeout = 60);

/* Let our probe number @n be sent. */
static void expect_probe(unsigned int n)
{
	if (n_probes < n)
		cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(n_probes, n, "%u instead of %u", n_probes, n);
}

static void turn(uint64_t ms)
{
	pass(loop, ms);
	loop_run(loop, TURN_MS);
}

/* Take the probe of another service, with this text as the value of its mark. */
static void take_probe(const char *mark)
{
	char text[512];
	int size = snprintf(text, sizeof(text),
		"{\"type\":\"ovos.tools.get\",\"data\":{},\"context\":{\"toolboxd\":%s}}", mark);

	cr_expect_not(take(text, (size_t)size), "it is not ours");
}

/* Take the answer with @data to the probe with @key. */
static void take_answer(const char *key, const char *data)
{
	char text[512];
	int size = snprintf(text, sizeof(text),
		"{\"type\":\"ovos.tools.get.response\",\"data\":%s,"
		"\"context\":{\"toolboxd\":{\"key\":\"%s\"}}}",
		data, key);

	cr_expect_not(take(text, (size_t)size));
}

/* Let the time for answers pass, and check what is logged since then. */
static void expect_verdict(const char *expected)
{
	logged_end();
	logged_begin();
	turn(ANSWER_MS);
	cr_expect_str_eq(logged_end(), expected);
	logged_begin();
}

static void expect_status(const char *expected)
{
	struct answer answer;
	size_t size;
	const char *text;
	const char *data;

	answer_begin_broadcast(&answer, "t");
	other_services_write(&rivals, &answer);
	text = bus_message_text(&answer.message, &size);
	data = (const char *)memmem(text, size, "\"data\": {", 9) + 9;
	cr_expect(text_is(data, size - (size_t)(data - text), expected), "%.*s", (int)size, text);
	answer_deinit(&answer);
}

Test(other_services, are_asked_by_a_probe_of_our_process)
{
	char mark[256];

	other_services_begin(&rivals);
	expect_probe(1);
	snprintf(mark, sizeof(mark),
		"\"toolboxd\":{\"key\":\"%s\",\"host\":\"%s\",\"pid\":%" PRIu64 "}", rivals.key,
		rivals.self.host, (uint64_t)getpid());
	cr_expect(strstr(probe, mark), "%s", probe);
	cr_expect(strstr(probe, "\"toolboxd:probe\""), "%s", probe);
	expect_verdict("");
	expect_status("");
	turn(2 * OTHER_SERVICES_PAUSE_MS);
	expect_probe(1);
}

Test(other_services, are_another_toolboxd_when_they_answer_with_a_code)
{
	other_services_begin(&rivals);
	expect_probe(1);
	take_probe("{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\",\"pid\":7}");
	turn(OTHER_SERVICES_RETURN_MS);
	expect_probe(2);
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	expect_verdict(
		"ERROR Another toolboxd is on this bus, process 7 of elsewhere: every request "
		"gets two answers. Stop one of them\n");
	expect_status(
		"\"other_services\":[{\"service\":\"toolboxd\",\"host\":\"elsewhere\",\"pid\":"
		"7}]");

	/* It is still there at the next probe, which is no news, and has gone at the one after. */
	turn(OTHER_SERVICES_PAUSE_MS);
	expect_probe(3);
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	expect_verdict("");
	expect_status(
		"\"other_services\":[{\"service\":\"toolboxd\",\"host\":\"elsewhere\",\"pid\":"
		"7}]");
	turn(OTHER_SERVICES_PAUSE_MS);
	expect_probe(4);
	expect_verdict("INFO  No other tool service answers on this bus any more\n");
	expect_status("");
}

Test(other_services, are_named_as_processes_of_this_machine)
{
	char mark[256];

	other_services_begin(&rivals);
	expect_probe(1);
	snprintf(mark, sizeof(mark), "{\"key\":\"" OTHER_KEY "\",\"host\":\"%s\",\"pid\":7}",
		rivals.self.host);
	take_probe(mark);
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	expect_verdict("ERROR Another toolboxd is on this bus, process 7 of this machine: every "
		       "request gets two answers. Stop one of them (systemctl status 7 names its "
		       "unit)\n");
}

Test(other_services, are_the_plugin_when_they_answer_without_a_code)
{
	other_services_begin(&rivals);
	expect_probe(1);
	take_answer(rivals.key, "{}");
	expect_verdict(
		"ERROR Another tool service answers on this bus, most likely the Python plugin "
		"ovos-PHAL-plugin-tools: every request gets two answers. Switch it off: "
		"\"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": false}} in "
		"mycroft.conf, or pip uninstall ovos-phal-plugin-tools\n");
	expect_status("\"other_services\":[{\"service\":\"ovos-PHAL-plugin-tools\"}]");
	turn(OTHER_SERVICES_PAUSE_MS);
	expect_probe(2);
	take_answer(rivals.key, "{}");
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	expect_verdict(
		"ERROR Another toolboxd is on this bus: every request gets two answers. Stop "
		"one of them\n");
	expect_status("\"other_services\":[{\"service\":\"toolboxd\"},{\"service\":"
		      "\"ovos-PHAL-plugin-tools\"}]");
}

Test(other_services, are_not_found_by_answers_that_are_not_to_our_probe)
{
	other_services_begin(&rivals);
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	expect_probe(1);
	take_answer(OTHER_KEY, "{\"code\":\"unknown_tool\"}");
	take_answer("", "{}");
	expect_verdict("");
	take_answer(rivals.key, "{\"code\":\"unknown_tool\"}");
	turn(2 * OTHER_SERVICES_PAUSE_MS);
	expect_status("");
	expect_probe(1);
}

/* A mark that is not whole names no process. */
Test(other_services, are_not_named_by_a_mark_that_is_not_whole)
{
	static const char *const marks[] = {"{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\"}",
		"{\"key\":\"" OTHER_KEY "\",\"pid\":7}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\",\"pid\":\"7\"}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\",\"pid\":-7}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":7,\"pid\":7}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":\"\",\"pid\":7}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":\"a\\u0000b\",\"pid\":7}",
		"{\"key\":\"" OTHER_KEY "\",\"host\":\"1234567890123456789012345678901234567890"
		"1234567890123456789012345\",\"pid\":7}",
		"{\"host\":\"elsewhere\",\"pid\":7}",
		"{\"key\":7,\"host\":\"elsewhere\",\"pid\":7}", "[]"};

	other_services_begin(&rivals);
	expect_probe(1);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		take_probe(marks[i]);
		cr_expect_str_eq(rivals.found.process.host, "", "%s", marks[i]);
		cr_expect_eq(rivals.found.process.pid, 0u, "%s", marks[i]);
	}
	take_probe("{\"key\":\"" OTHER_KEY "\",\"host\":\"1234567890123456789012345678901234567890"
		   "123456789012345678901234\",\"pid\":7}");
	cr_expect_eq(strlen(rivals.found.process.host), OTHER_SERVICES_HOST_BYTES - 1u);
}

Test(other_services, are_probed_soon_once_for_each_of_their_probes)
{
	other_services_begin(&rivals);
	expect_probe(1);
	take_probe("{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\",\"pid\":7}");
	turn(OTHER_SERVICES_RETURN_MS);
	expect_probe(2);
	take_probe("{\"key\":\"" OTHER_KEY "\",\"host\":\"elsewhere\",\"pid\":7}");
	take_probe("{\"key\":\"short\",\"host\":\"elsewhere\",\"pid\":7}");
	turn(OTHER_SERVICES_PAUSE_MS - MARGIN_MS);
	expect_probe(2);
	turn(MARGIN_MS);
	expect_probe(3);
}

/* As many messages about tools as we have sent are ours. */
Test(other_services, are_probed_when_there_are_more_messages_than_ours)
{
	static const char topic[] = "ovos.tools.list.response";

	other_services_begin(&rivals);
	expect_probe(1);
	turn(ANSWER_MS);
	bus_count_answers(bus, 2);
	for (int i = 0; i < 2; i++)
		cr_expect_not(wants(NULL, topic, strlen(topic)));
	cr_expect_not(wants(NULL, "ovos.other", 10));
	turn(2 * OTHER_SERVICES_PAUSE_MS);
	expect_probe(1);
	cr_expect_not(wants(NULL, topic, strlen(topic)));
	turn(OTHER_SERVICES_PAUSE_MS);
	expect_probe(2);
	cr_expect(wants(NULL, OTHER_SERVICES_RESPONSE, strlen(OTHER_SERVICES_RESPONSE)),
		"a probe is open");
	turn(ANSWER_MS);
}
