/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "core/voice/listening.h"
#include "util/array.h"

/* Utterances that are calls, over a bus: by ovos.tools.utterance, and as a fallback skill. */

#define FALLBACK "ovos.skills.fallback."
#define OWN      FALLBACK "toolboxd."

#define BOX                                                                                        \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so','risk':'read',"    \
	"'tools':[{'name':'behave','triggers':['behave (?<value>.+)'],'spoken':{'en':{"            \
	"'done':'It is {result}.','failed':'No: {error}'},'de':{'done':'Es ist {result}.'}},"      \
	"'native':{'symbol':'behave','parameters':[{'name':'value','type':'i32'}],"                \
	"'returns':{'type':'i32'}}},"                                                              \
	"{'name':'crash','triggers':['crash'],'spoken':{'en':{'failed':'No: {error}'}},"           \
	"'native':{'symbol':'abort','returns':{'type':'void'}}},"                                  \
	"{'name':'hang','triggers':['hang'],'spoken':{'en':{'wait':'One moment.',"                 \
	"'failed':'No: {error}'}},'timeout_ms':60000,'native':{'symbol':'hang'}}]}"

/* A request without an answer. Each call runs alone, and its end ends the calls that wait. */
#define ALONE                                                                                      \
	"{'kind':'bus','risk':'read','tools':[{'name':'rest','triggers':['rest'],'spoken':{'en':{" \
	"'failed':'No: {error}'}},'timeout_ms':60000,'parallel':false,'cooldown_s':60,"            \
	"'bus':{'topic':'rest.get','session':'default'}},"                                         \
	"{'name':'quiet','triggers':['quiet'],'spoken':{'en':{'done':'It is quiet.',"              \
	"'failed':'No: {error}'}},'bus':{'topic':'mycroft.stop','reply':false}}]}"

static void start(const char *listen)
{
	char configuration[128];

	snprintf(configuration, sizeof(configuration), "{\"toolboxd\":{\"listen\":%s}}", listen);
	asking_set_up();
	write_user_file(configuration);
	write_box("box.json", BOX);
	write_box("alone.json", ALONE);
	asking_start();
}

static void start_listening(void)
{
	start("\"fallback\"");
	/* A question before the first catalogue is answered at once: nothing matches. */
	ask_for("ovos.tools.list", "{}");
}

static void start_deaf(void)
{
	start("false");
}

TestSuite(utterance, .init = start_deaf, .fini = asking_tear_down, .timeout = 300);

Test(utterance, is_answered_by_the_tool_in_its_words)
{
	expect_part(ask_for("ovos.tools.utterance", "{'utterance':'behave forty two'}"),
		"{'matched':true,'name':'behave','result':{'result':42},'speech':'It is 42.'}");
	expect_part(ask_for("ovos.tools.utterance",
			    "{'utterance':'behave zweiundvierzig','lang':'de'}"),
		"'speech':'Es ist 42.'}");
	cr_expect_eq(n_unseen("speak"), 0);
}

Test(utterance, that_means_no_tool_is_not_matched)
{
	cr_expect_str_eq(ask_for("ovos.tools.utterance", "{'utterance':'behave yourself'}"),
		"{\"matched\":false}");
	cr_expect_str_eq(
		ask_for("ovos.tools.utterance", "{'utterance':''}"), "{\"matched\":false}");
}

Test(utterance, whose_call_fails_has_the_reason)
{
	expect_part(
		ask_for("ovos.tools.utterance", "{'utterance':'crash'}"), "'code':'host_crashed'");
	expect_part(ask_for("ovos.tools.utterance", "{'utterance':'crash'}"), "'speech':'No: ");
}

Test(utterance, is_spoken_if_asked_for)
{
	send_request("ovos.tools.utterance", "{'utterance':'behave 3','speak':true}",
		"{'source':'me','session':{'session_id':'s'}}");
	expect_part(wait_for("speak"),
		"{'utterance':'It is 3.','expect_response':false,'meta':{'skill':'toolboxd'},"
		"'lang':'en'}");
	expect_part(wait_for("ovos.tools.utterance.response"), "'speech':'It is 3.'");
}

Test(utterance, with_a_wrong_field_is_refused)
{
	expect_part(
		ask_for("ovos.tools.utterance", "{'utterance':'x','speak':1}"), "'field':'speak'");
	expect_part(
		ask_for("ovos.tools.utterance", "{'utterance':'x','lang':[]}"), "'field':'lang'");
}

Test(utterance, is_forgotten_with_its_call_at_the_end)
{
	send_request("ovos.tools.utterance", "{'utterance':'hang','speak':true}", "{}");
	expect_part(wait_for("speak"), "'utterance':'One moment.'");
	/* The fixture ends the service while the call runs. */
}

/* ── a fallback skill ────────────────────────────────────────────────────────────────────────── */

TestSuite(listening, .init = start_listening, .fini = asking_tear_down, .timeout = 300);

Test(listening, registers_when_a_core_has_started)
{
	send_request("mycroft.skills.initialized", "{}", "{}");
	expect_part(wait_for(FALLBACK "register"), "{'skill_id':'toolboxd','priority':50}");
	send_request("mycroft.ready", "{}", "{}");
	expect_part(wait_for(FALLBACK "register"), "{'skill_id':'toolboxd','priority':50}");
}

Test(listening, answers_each_question)
{
	send_request(FALLBACK "ping", "{'utterances':['hm','behave two'],'lang':'en'}", "{}");
	expect_part(wait_for(FALLBACK "pong"), "{'skill_id':'toolboxd','can_handle':true}");
	send_request(FALLBACK "ping", "{'utterances':['hm'],'lang':'en'}", "{}");
	expect_part(wait_for(FALLBACK "pong"), "{'skill_id':'toolboxd','can_handle':false}");
	send_request(FALLBACK "ping", "{'utterances':7}", "{}");
	expect_part(wait_for(FALLBACK "pong"), "'can_handle':false");
}

/* Ask about @n_before utterances without a tool, and one with a tool. */
static void expect_handled(size_t n_before, bool can_handle)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&data, "{'utterances':[");
	for (size_t i = 0; i < n_before; i++)
		buffer_append_string(&data, i % 2 == 0 ? "'hm'," : "7,");
	buffer_append_string(&data, "'behave two'],'lang':'en'}");
	send_request(FALLBACK "ping", buffer_terminate(&data), "{}");
	expect_part(
		wait_for(FALLBACK "pong"), can_handle ? "'can_handle':true" : "'can_handle':false");
}

Test(listening, tries_the_first_16_utterances_of_a_question)
{
	expect_handled(LISTENING_UTTERANCES_MAX - 1, true);
	expect_handled(LISTENING_UTTERANCES_MAX, false);
}

Test(listening, leaves_the_timeout_of_another_skill_alone)
{
	send_request(OWN "request", "{'utterances':['hang'],'lang':'en'}", "{}");
	wait_for(OWN "start");
	send_request(FALLBACK "force_timeout", "{'skill_id':'another'}", "{}");
	expect_part(wait_for("speak"), "'utterance':'One moment.'");
	cr_expect_eq(n_unseen(OWN "killed"), 0);
	send_request(FALLBACK "force_timeout", "{'skill_id':'toolboxd'}", "{}");
	expect_part(wait_for(OWN "killed"), "{'error':'timed out'}");
}

Test(listening, calls_the_tool_and_has_it_spoken)
{
	send_request(OWN "request", "{'utterances':['behave two'],'lang':'en'}",
		"{'session':{'session_id':'s'},'utterance_id':'u'}");
	expect_part(wait_for(OWN "start"), "{}");
	expect_part(wait_for("speak"), "'utterance':'It is 2.'");
	expect_part(wait_for(OWN "response"), "{'result':true,'fallback_handler':'toolboxd'}");
	ask_for("mycroft.toolboxd.is_alive", "{}");
	cr_expect_eq(n_unseen("ovos.utterance.handled"), 0);
}

Test(listening, ends_the_utterance_of_an_older_core)
{
	send_request(OWN "request", "{'utterances':['good night'],'lang':'en'}", "{}");
	expect_part(wait_for(OWN "response"), "{'result':false,'fallback_handler':null}");
	expect_part(wait_for("ovos.utterance.handled"), "{}");
}

Test(listening, is_silent_after_force_timeout)
{
	send_request(OWN "request", "{'utterances':['hang'],'lang':'en'}", "{}");
	wait_for(OWN "start");
	send_request(FALLBACK "force_timeout", "{}", "{'session':{'session_id':'other'}}");
	send_request(FALLBACK "force_timeout", "{}", "{'session':{'session_id':'default'}}");
	expect_part(wait_for(OWN "killed"), "{'error':'timed out'}");
	expect_part(wait_for(OWN "response"), "'result':false");
	cr_expect_eq(n_unseen("speak"), 0);
}

Test(listening, is_silent_where_the_end_of_a_call_ends_others)
{
	for (int i = 0; i < 4; i++) {
		send_request(OWN "request", "{'utterances':['rest'],'lang':'en'}", "{}");
		wait_for(OWN "start");
	}
	send_request(FALLBACK "force_timeout", "{}", "{}");
	for (int i = 0; i < 4; i++)
		expect_part(wait_for(OWN "response"), "'result':false");
	cr_expect_eq(n_unseen("speak"), 0);
}

/* ── "stop" ──────────────────────────────────────────────────────────────────────────────────── */

#define SESSION(id) "{'session':{'session_id':'" id "'},'utterance_id':'u'}"

/* Expect the answer of ovos-core's question whether there is something to stop. */
static void expect_can_stop(const char *topic, const char *context, bool can_stop)
{
	send_request(topic, "{}", context);
	expect_part(wait_for("skill.stop.pong"),
		can_stop ? "{'skill_id':'toolboxd','can_handle':true}"
			 : "{'skill_id':'toolboxd','can_handle':false}");
}

Test(listening, can_stop_the_call_of_its_session)
{
	expect_can_stop("ovos.stop.ping", SESSION("s"), false);
	send_request(OWN "request", "{'utterances':['hang'],'lang':'en'}", SESSION("s"));
	wait_for(OWN "start");
	expect_can_stop("ovos.stop.ping", SESSION("s"), true);
	expect_can_stop("toolboxd.stop.ping", SESSION("s"), true);
	expect_can_stop("ovos.stop.ping", SESSION("other"), false);
	send_request("toolboxd:stop", "{'skill_id':'toolboxd'}", SESSION("other"));
	expect_part(wait_for("toolboxd.stop.response"), "'result':false");
	expect_can_stop("ovos.stop.ping", SESSION("s"), true);
	send_request("toolboxd:stop", "{'skill_id':'toolboxd'}", SESSION("s"));
	/* Something was done about the utterance: no other skill is asked. */
	expect_part(wait_for(OWN "response"), "{'result':true,'fallback_handler':'toolboxd'}");
	expect_part(wait_for("toolboxd.stop.response"), "{'skill_id':'toolboxd','result':true}");
	expect_part(wait_for("mycroft.skill.handler.complete"), "'intent_name':'stop'");
	expect_can_stop("ovos.stop.ping", SESSION("s"), false);
	cr_expect_eq(n_unseen("speak"), 0);
	cr_expect_eq(n_unseen(OWN "killed"), 0);
}

/* A core with an old client copies the mark of an utterance into the stop. */
Test(listening, stops_under_each_name_also_with_an_inherited_mark)
{
	static const char *const topics[] = {
		"toolboxd:stop", "toolboxd.stop", "ovos.stop", "mycroft.stop"};
	static const char *const contexts[] = {
		SESSION("s"), "{'session':{'session_id':'s'},'_namespace_compat_twin':true}"};

	for (size_t i = 0; i < ARRAY_SIZE(topics) * ARRAY_SIZE(contexts); i++) {
		send_request(OWN "request", "{'utterances':['hang'],'lang':'en'}", SESSION("s"));
		wait_for(OWN "start");
		send_request(topics[i / 2], "{}", contexts[i % 2]);
		expect_part(wait_for(OWN "response"), "'result':true");
	}
}

Test(listening, answers_a_stop_with_two_names_once)
{
	send_request(OWN "request", "{'utterances':['hang'],'lang':'en'}", SESSION("s"));
	wait_for(OWN "start");
	send_request("toolboxd:stop", "{}", SESSION("s"));
	send_request(
		"toolboxd.stop", "{}", "{'session':{'session_id':'s'},'_intent_compat_twin':true}");
	expect_part(wait_for(OWN "response"), "'result':true");
	expect_part(wait_for("toolboxd.stop.response"), "'result':true");
	expect_can_stop("ovos.stop.ping", SESSION("s"), false);
	cr_expect_eq(n_unseen("toolboxd.stop.response"), 0);
	cr_expect_eq(n_unseen("mycroft.skill.handler.complete"), 1);
}

Test(listening, stops_where_the_end_of_a_call_ends_others)
{
	for (int i = 0; i < 4; i++) {
		send_request(OWN "request", "{'utterances':['rest'],'lang':'en'}", "{}");
		wait_for(OWN "start");
	}
	send_request("mycroft.stop", "{}", "{}");
	for (int i = 0; i < 4; i++)
		expect_part(wait_for(OWN "response"), "'result':true");
	cr_expect_eq(n_unseen("speak"), 0);
}

Test(listening, does_not_stop_the_call_that_has_sent_the_stop)
{
	send_request(OWN "request", "{'utterances':['quiet'],'lang':'en'}", "{}");
	wait_for(OWN "start");
	expect_part(wait_for("mycroft.stop"), "{}");
	expect_part(wait_for("speak"), "'utterance':'It is quiet.'");
	expect_part(wait_for(OWN "response"), "'result':true");
}

Test(utterance, is_stopped_for_a_client_too)
{
	send_request("ovos.tools.utterance", "{'utterance':'hang','speak':true}", SESSION("s"));
	expect_part(wait_for("speak"), "'utterance':'One moment.'");
	send_request("mycroft.stop", "{}", SESSION("s"));
	expect_part(wait_for("ovos.tools.utterance.response"), "'code':'cancelled'");
	cr_expect_eq(n_unseen("speak"), 0);
}

Test(listening, wants_no_part_in_a_conversation)
{
	send_request(
		"toolboxd.converse.ping", "{'utterances':['behave 2']}", "{'utterance_id':'u'}");
	expect_part(wait_for("skill.converse.pong"), "{'skill_id':'toolboxd','can_handle':false}");
}

Test(utterance, leaves_the_questions_of_a_core_but_one_alone)
{
	send_request(FALLBACK "ping", "{'utterances':['behave two'],'lang':'en'}", "{}");
	send_request("toolboxd.converse.ping", "{}", "{}");
	expect_part(wait_for("skill.converse.pong"), "'can_handle':false");
	cr_expect_eq(n_unseen(FALLBACK "pong"), 0);
}

Test(listening, reads_no_more_questions_than_its_pace_allows)
{
	static struct listening listening = {.is_on = true};
	unsigned int n = 0;

	for (int i = 0; i < 2 * LISTENING_BURST; i++)
		n += listening_wants(&listening, FALLBACK "ping", strlen(FALLBACK "ping"));
	cr_expect_geq(n, LISTENING_BURST);
	cr_expect_lt(n, 2 * LISTENING_BURST);
	/* The signs of a core have a pace of their own. */
	cr_expect(listening_wants(&listening, "mycroft.ready", strlen("mycroft.ready")));
}

Test(listening, wants_only_its_topics)
{
	static struct listening listening = {.is_on = true};

	cr_expect_not(listening_wants(&listening, "recognizer_loop:utterance", 25));
	cr_expect_not(listening_wants(&listening, FALLBACK "pong", strlen(FALLBACK "pong")));
	cr_expect(listening_wants(&listening, "mycroft.stop", strlen("mycroft.stop")));
	listening.is_on = false;
	cr_expect_not(listening_wants(&listening, "mycroft.ready", strlen("mycroft.ready")));
	cr_expect(listening_has_topic("mycroft.ready", strlen("mycroft.ready")));
	cr_expect(listening_wants(&listening, "mycroft.stop", strlen("mycroft.stop")));
	cr_expect(listening_wants(&listening, "ovos.stop.ping", strlen("ovos.stop.ping")));
	cr_expect_not(listening_wants(&listening, "another.stop", strlen("another.stop")));
	cr_expect_not(listening_wants(&listening, "stop", strlen("stop")));
	cr_expect_not(listening_wants(&listening, "a", 1));
}

/* ── contexts ────────────────────────────────────────────────────────────────────────────────── */

static void expect_context(const char *before, const char *key, const char *after)
{
	cleanup(buffer_deinit) struct buffer context = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&context, before);
	speech_context_with(&context, key, "\"x\"", &out);
	cr_expect_str_eq(buffer_terminate(&out), after);
}

Test(speech, puts_a_member_into_a_context_that_stays_as_it_is)
{
	expect_context("{}", "skill_id", "{\"skill_id\":\"x\"}");
	expect_context("{\"n\": 1.10 }", "skill_id", "{\"n\": 1.10 , \"skill_id\":\"x\"}");
	expect_context("{\"skill_id\": {\"a\": [1]}, \"n\":NaN}", "skill_id",
		"{\"skill_id\": \"x\", \"n\":NaN}");
}
