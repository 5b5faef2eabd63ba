/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "logged.h"
#include "message/response.h"
#include "quotes.h"
#include "util/clock.h"
#include "util/log.h"

/* The agent on a bus of our own, with the test in the place of all others. JSON is written with '
 * in place of ". No model answers. */

#define STEP_MS   5
#define STEPS_MAX 1000

static struct loop *loop;
static struct bus *server;
static struct agent *agent;
static struct buffer heard; /* all frames, one a line */

static void hear(void *data, const char *text, size_t size)
{
	(void)data;
	buffer_append(&heard, text, size);
	buffer_append_char(&heard, '\n');
}

static void set_up(void)
{
	static const struct bus_handler handler = {.frame = hear};
	struct bus_address address = bus_address_default;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	address.port = 0;
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, NULL, &server),
		0);
}

static void tear_down(void)
{
	agent_free(agent);
	agent = NULL;
	bus_free(server);
	loop_free(loop);
	buffer_deinit(&heard);
}

TestSuite(agent, .timeout = 60, .init = set_up, .fini = tear_down);

static struct config_agent make_config(bool is_fallback, uint32_t priority)
{
	return (struct config_agent){
		.bus = *bus_address(server),
		.base_url = strdup("http://127.0.0.1:1/v1"),
		.listen = {.is_fallback = is_fallback, .priority = priority},
		.turn_ms = 60000,
		.max_rounds = 8,
	};
}

static size_t count_heard(const char *part)
{
	size_t n = 0;
	const char *at;

	cr_assert(buffer_terminate(&heard));
	at = heard.data;
	while ((at = strstr(at, part))) {
		at += strlen(part);
		n++;
	}
	return n;
}

/* Run until @part has come @n times. */
static void expect_heard_times(const char *part, size_t n)
{
	cleanup_free char *text = quoted(part);

	for (int i = 0; i < STEPS_MAX && count_heard(text) < n; i++)
		loop_run(loop, STEP_MS);
	cr_expect_eq(count_heard(text), n, "%s: %s", text, heard.data);
}

static void expect_heard(const char *part)
{
	expect_heard_times(part, 1);
}

/* Begin to listen anew. */
static void forget_heard(void)
{
	buffer_reset(&heard);
}

/* Send @topic with @data in the session x. */
static void tell(const char *topic, const char *data)
{
	cleanup_free char *json = quoted(data);
	struct buffer message = {0};

	bus_request_begin(&message, topic,
		"{\"source\":\"me\",\"session\":{\"session_id\":\"x\"},\"utterance_id\":\"u\"}");
	buffer_append_string(&message, json);
	bus_message_end(&message);
	cr_assert_eq(bus_send(server, &message, BUS_SHARE_OWN), 0);
}

/* The same, and wait for the answer to a later message: this one is read, too. */
static void tell_and_wait(const char *topic, const char *data)
{
	size_t n = count_heard("is_alive.response");

	tell(topic, data);
	tell("mycroft.toolbox-agent.is_alive", "{}");
	expect_heard_times("is_alive.response", n + 1);
}

static void start(bool is_fallback)
{
	struct config_agent config = make_config(is_fallback, 90);

	cr_assert_eq(agent_new(loop, &config, &agent), 0);
	for (int i = 0; i < STEPS_MAX && bus_counters(server)->clients == 0; i++)
		loop_run(loop, STEP_MS);
	cr_assert_eq(bus_counters(server)->clients, 1);
	tell_and_wait("nothing", "{}");
	forget_heard();
}

static void chat(void)
{
	tell("ovos.tools.chat", "{'utterance':'well'}");
	expect_heard("'type': 'ovos.tools.list'");
}

Test(agent, says_that_it_is_alive_and_ready)
{
	start(false);
	tell("mycroft.toolbox-agent.is_alive", "{}");
	tell("mycroft.toolbox-agent.is_ready", "{}");
	expect_heard("'type': 'mycroft.toolbox-agent.is_alive.response'");
	expect_heard("'type': 'mycroft.toolbox-agent.is_ready.response'");
	expect_heard_times("'data': {'status':true}", 2);
}

Test(agent, serves_requests_about_chats)
{
	start(false);
	chat();
	tell("ovos.tools.chat.cancel", "{}");
	expect_heard("'finish':'cancelled'");
	expect_heard("{'cancelled':true}");
	tell("ovos.tools.chat.history", "{'limit':1}");
	expect_heard("{'messages':[{'role':'assistant','text':'[interrupted]','time':");
	tell("ovos.tools.chat.reset", "{}");
	expect_heard("{'reset':true}");
	tell("ovos.tools.chat.history", "{}");
	expect_heard("{'messages':[]}");
}

Test(agent, is_interrupted_by_a_person)
{
	static const char *const topics[] = {"mycroft.stop", "ovos.stop",
		"recognizer_loop:record_begin", "ovos.listener.record.started"};

	start(false);
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		chat();
		tell(topics[i], "{}");
		expect_heard("'finish':'cancelled'");
		forget_heard();
	}
}

/* Begin a turn with a call as its first step. */
static void call(void)
{
	struct config_agent config = make_config(false, 90);

	config.matches_first = true;
	cr_assert_eq(agent_reload(agent, &config), 0);
	tell("ovos.tools.chat", "{'utterance':'well'}");
	expect_heard("'type': 'ovos.tools.match'");
}

/* Answer the last request of the agent, of @topic. */
static void respond(const char *topic, const char *data)
{
	static const char mark[] = "\"toolbox_agent\":\"";
	cleanup_free char *json = quoted(data);
	cleanup(buffer_deinit) struct buffer context = {0};
	struct buffer message = {0};
	const char *number = NULL;

	cr_assert(buffer_terminate(&heard));
	for (const char *at = heard.data; (at = strstr(at, mark));)
		number = at += strlen(mark);
	cr_assert(number);
	buffer_printf(&context, "{\"toolbox_agent\":\"%.*s\"}", (int)strcspn(number, "\""), number);
	cr_assert(buffer_terminate(&context));
	bus_request_begin(&message, topic, context.data);
	buffer_append_string(&message, json);
	bus_message_end(&message);
	cr_assert_eq(bus_send(server, &message, BUS_SHARE_OWN), 0);
}

Test(agent, is_not_interrupted_by_a_voice_while_a_call_asks_the_person)
{
	start(false);
	call();
	respond("ovos.tools.match.response",
		"{'name':'add','toolbox_id':'m','args':{},'complete':true}");
	expect_heard("'type': 'ovos.tools.get'");
	respond("ovos.tools.get.response", "{'name':'add','toolbox_id':'m'}");
	expect_heard("'type': 'ovos.tools.invoke'");

	tell("skill.converse.get_response.enable", "{}");
	tell_and_wait("recognizer_loop:record_begin", "{}");
	cr_expect_eq(count_heard("cancelled"), 0);
	tell("skill.converse.get_response.disable", "{}");
	tell_and_wait("nothing", "{}");
	cr_expect_eq(count_heard("cancelled"), 0);
	tell("recognizer_loop:record_begin", "{}");
	expect_heard("'finish':'cancelled'");
}

Test(agent, is_interrupted_by_a_stop_while_a_call_asks_the_person)
{
	start(false);
	call();
	respond("ovos.tools.match.response",
		"{'name':'add','toolbox_id':'m','args':{},'complete':true}");
	expect_heard("'type': 'ovos.tools.get'");
	respond("ovos.tools.get.response", "{'name':'add','toolbox_id':'m'}");
	expect_heard("'type': 'ovos.tools.invoke'");
	tell("skill.converse.get_response.enable", "{}");
	tell("mycroft.stop", "{}");
	expect_heard("'finish':'cancelled'");
	expect_heard("'type': 'ovos.tools.cancel'");
}

Test(agent, reads_a_flood_of_signs_up_to_a_burst)
{
	start(true);
	for (int i = 0; i < 400; i++)
		tell("toolbox-agent.converse.ping", "{}");
	tell_and_wait("nothing", "{}");
	cr_expect_geq(count_heard("skill.converse.pong"), 200);
	cr_expect_lt(count_heard("skill.converse.pong"), 400);
	/* Each topic has its own pace. */
	tell("ovos.skills.fallback.ping", "{}");
	expect_heard("'type': 'ovos.skills.fallback.pong'");
}

/* ── as a fallback skill ─────────────────────────────────────────────────────────────────────── */

#define REGISTER   "'type': 'ovos.skills.fallback.register'"
#define DEREGISTER "'type': 'ovos.skills.fallback.deregister'"

Test(agent, registers_as_a_fallback_skill_when_ovos_is_ready)
{
	struct config_agent config = make_config(true, 90);

	cr_assert_eq(agent_new(loop, &config, &agent), 0);
	expect_heard(REGISTER);
	expect_heard("{'skill_id':'toolbox-agent','priority':90}");
	tell("mycroft.skills.initialized", "{}");
	expect_heard_times(REGISTER, 2);
	tell("mycroft.ready", "{}");
	expect_heard_times(REGISTER, 3);
}

Test(agent, takes_no_part_in_fallbacks_unless_it_listens)
{
	start(false);
	tell("mycroft.ready", "{}");
	tell("ovos.skills.fallback.ping", "{}");
	tell_and_wait("ovos.skills.fallback.toolbox-agent.request", "{'utterances':['well']}");
	cr_expect_eq(count_heard("fallback.register"), 0);
	cr_expect_eq(count_heard("fallback.pong"), 0);
	cr_expect_eq(count_heard("toolbox-agent.start"), 0);
}

Test(agent, answers_ovos_as_a_fallback_skill)
{
	start(true);
	tell("ovos.skills.fallback.ping", "{}");
	expect_heard("'data': {'skill_id':'toolbox-agent','can_handle':false}");
	tell("toolbox-agent.converse.ping", "{}");
	expect_heard("'type': 'skill.converse.pong'");
	forget_heard();
	tell("ovos.skills.fallback.toolbox-agent.request", "{'utterances':['well']}");
	expect_heard("'type': 'ovos.tools.list'");
	expect_heard("'type': 'ovos.skills.fallback.toolbox-agent.start'");
	tell("ovos.skills.fallback.force_timeout", "{'skill_id':'toolbox-agent'}");
	expect_heard("'type': 'ovos.skills.fallback.toolbox-agent.killed'");
	expect_heard("{'result':false,'fallback_handler':null}");
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

Test(agent, registers_anew_with_each_configuration)
{
	struct config_agent config = make_config(true, 7);

	start(true);
	cr_assert_eq(agent_reload(agent, &config), 0);
	expect_heard(DEREGISTER);
	expect_heard("{'skill_id':'toolbox-agent','priority':7}");
	forget_heard();
	config = make_config(false, 7);
	cr_assert_eq(agent_reload(agent, &config), 0);
	expect_heard(DEREGISTER);
	tell_and_wait("mycroft.ready", "{}");
	cr_expect_eq(count_heard("fallback.register"), 0);
	forget_heard();
	config = make_config(true, 8);
	cr_assert_eq(agent_reload(agent, &config), 0);
	expect_heard("{'skill_id':'toolbox-agent','priority':8}");
	cr_expect_eq(count_heard("deregister"), 0);
}

Test(agent, keeps_its_bus_after_a_reload)
{
	struct config_agent config = make_config(false, 90);
	char expected[256];

	start(false);
	chat();
	logged_begin();
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	config.bus.port++;
	snprintf(expected, sizeof(expected),
		"WARN  The address of the bus is ws://127.0.0.1:%u/core now: it is used after a "
		"new start\nINFO  Reloaded: 1 turns end by the configuration before\n",
		config.bus.port);
	cr_assert_eq(agent_reload(agent, &config), 0);
	cr_expect_str_eq(logged_end(), expected);
	logged_begin();
	config = make_config(false, 90);
	cr_assert_eq(agent_reload(agent, &config), 0);
	cr_expect_str_eq(logged_end(), "INFO  Reloaded: 1 turns end by the configuration before\n");
	tell_and_wait("nothing", "{}");
	cr_expect_eq(bus_counters(server)->clients, 1);
	tell("ovos.tools.chat.cancel", "{}");
	expect_heard("'finish':'cancelled'");
}

Test(agent, ends_its_turns_and_leaves_the_skills_when_it_stops)
{
	start(true);
	chat();
	logged_begin();
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	agent_stop(agent);
	cr_expect(strstr(logged_end(), "INFO  Stopping: 1 turns\n"));
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	tell("mycroft.toolbox-agent.is_alive", "{}");
	tell("ovos.tools.chat", "{'utterance':'well'}");
	expect_heard("'finish':'cancelled'");
	expect_heard(DEREGISTER);
	expect_heard("'data': {'status':false}");
	cr_expect_eq(count_heard("'type': 'ovos.tools.list'"), 0);
}

Test(agent, stops_its_loop_when_all_is_sent)
{
	uint64_t begin_ms;

	start(false);
	agent_stop(agent);
	begin_ms = clock_now_ms();
	loop_run(loop, 30000);
	cr_expect_lt(clock_now_ms() - begin_ms, 30000);
}

Test(agent, without_its_bus_ends_its_turns)
{
	start(false);
	chat();
	logged_begin();
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	bus_free(server);
	server = NULL;
	for (int i = 0; i < 50; i++)
		loop_run(loop, STEP_MS);
	cr_expect(
		strstr(logged_end(), "INFO  A turn has ended without an answer: the bus was lost"));
}
