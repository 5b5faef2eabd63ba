/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/bus_calls.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"

/* Calls that are messages, in a whole service. The client of the bus calls, and answers itself. */

#define VOLUME                                                                                     \
	"{'kind':'bus','risk':'write','tools':["                                                   \
	"{'name':'get','timeout_ms':60000,'bus':{'topic':'volume.get','session':'default',"        \
	"'result':{'percent':{'at':'/percent','scale':100}}}},"                                    \
	"{'name':'hurried','timeout_ms':20,'bus':{'topic':'volume.get','session':'default'}},"     \
	"{'name':'after','timeout_ms':60000,'bus':{'topic':'volume.get','session':'default',"      \
	"'unasked':true}},"                                                                        \
	"{'name':'set','argument_schema':{'type':'object','properties':{'p':{'type':'number'}}},"  \
	"'bus':{'topic':'volume.set','data':{'p':{'arg':'p','scale':0.01}},'reply':false}},"       \
	"{'name':'same','timeout_ms':60000,'bus':{'topic':'state','data':{'b':1,'a':[]},"          \
	"'reply':'state'}},"                                                                       \
	"{'name':'say','timeout_ms':60000,'argument_schema':{'type':'object','properties':{"       \
	"'t':{}}},'bus':{'messages':[{'topic':'one','data':{'t':'{t}'}},{'topic':'two'}],"         \
	"'collect':{'topics':'part','at':'/x'}}}]}"
#define TALK                                                                                       \
	"{'kind':'bus','tools':[{'name':'converse','risk':'write','argument_schema':{'type':"      \
	"'object','properties':{'m':{'type':'string'}}},'bus':{'ask':'{m}','listen_ms':60000,"     \
	"'result':'/utterances/0','as':'answer'}}]}"

#define INVOKE   "ovos.tools.invoke"
#define RESPONSE INVOKE ".response"
#define DEFAULT  "{'session':{'session_id':'default'}}"
#define ANSWER   "toolboxd.converse.get_response"
#define DISABLE  "skill.converse.get_response.disable"

TestSuite(bus_calls, .init = asking_set_up, .fini = asking_tear_down, .timeout = 120);

static void start(void (*how)(void), const char *configuration)
{
	write_box("volume.json", VOLUME);
	write_box("talk.json", TALK);
	if (configuration)
		write_user_file(configuration);
	how();
	ask_for("ovos.tools.status", "{}");
}

static void call(const char *name, const char *arguments)
{
	char data[4096];

	snprintf(data, sizeof(data), "{'name':'%s','args':%s,'call_id':'%s'}", name, arguments,
		name);
	send_request(INVOKE, data, "{'source':'test'}");
}

static void expect_answer(const char *part)
{
	expect_part(wait_for(RESPONSE), part);
}

/* Serve until all that was sent before has been read. */
static void settle(void)
{
	ask_for("mycroft.toolboxd.is_alive", "{}");
}

static void expect_replies(void)
{
	call("get", "{}");
	expect_part(wait_for("volume.get"), "{}");
	send_request("volume.get.response", "{'percent':0.29}", DEFAULT);
	expect_answer("'result':{'percent':29}");
	call("set", "{'p':50}");
	expect_part(wait_for("volume.set"), "{'p':0.5}");
	expect_answer("'result':{'sent':true}");
	cr_expect_eq(n_unseen(RESPONSE), 0);
}

Test(bus_calls, take_their_replies_from_our_own_bus)
{
	start(asking_start, NULL);
	expect_replies();
}

Test(bus_calls, take_their_replies_from_a_bus)
{
	start(asking_start_as_client, NULL);
	expect_replies();
}

Test(bus_calls, want_topics_only_while_they_wait)
{
	start(asking_start, NULL);
	cr_expect_eq(service->bus_calls.interests.n_interests, 0);
	call("get", "{}");
	wait_for("volume.get");
	cr_expect(bus_calls_want(&service->bus_calls, "volume.get.response", 19));
	cr_expect(!bus_calls_want(&service->bus_calls, "volume.get", 10));
	send_request("volume.get.response", "{'percent':1}", DEFAULT);
	expect_answer("'percent':100");
	/* An unmarked reply may be doubled. */
	while (service->bus_calls.interests.n_interests > 0)
		asking_step();
	cr_expect(!bus_calls_want(&service->bus_calls, "volume.get.response", 19));
	cr_expect(list_is_empty(&service->bus_calls.runs));
	cr_expect_eq(service->bus_calls.n_spare, 1);
}

Test(bus_calls, count_what_is_no_reply_for_nothing)
{
	start(asking_start, NULL);
	call("get", "{}");
	wait_for("volume.get");
	send_request("volume.get.response", "{'percent':0.9}", "{'session':{'session_id':'x'}}");
	send_request("volume.get.response", "{'percent':0.9}", "{'_namespace_compat_twin':true}");
	send_request("volume.get.response", "{'percent':0.9}", "{'_intent_compat_twin':1}");
	send_request("volume.get.response", "{'percent':0.9}", "{'toolboxd_call':'another'}");
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0);
	send_request("volume.get.response", "{'percent':0.1}",
		"{'_namespace_compat_twin':false,'session':null}");
	expect_answer("'percent':10");
}

Test(bus_calls, do_not_take_their_own_message_for_its_reply)
{
	start(asking_start, NULL);
	call("same", "{}");
	wait_for("state");
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0, "it has come back");
	/* The same once more, in another spelling, is a reply. */
	send_request("state", "{ 'a':[], 'b':1 }", DEFAULT);
	expect_answer("'result':{ 'a':[], 'b':1 }");
}

Test(bus_calls, of_one_topic_and_session_wait_for_each_other)
{
	start(asking_start, NULL);
	call("get", "{}");
	call("get", "{}");
	wait_for("volume.get");
	settle();
	cr_expect_eq(n_unseen("volume.get"), 0);
	send_request("volume.get.response", "{'percent':0.1}", DEFAULT);
	send_request("volume.get.response", "{'percent':0.1}", DEFAULT);
	expect_answer("'percent':10");
	wait_for("volume.get");
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0, "the doubled reply is dropped");
	send_request("volume.get.response", "{'percent':0.2}", DEFAULT);
	expect_answer("'percent':20");
}

Test(bus_calls, keep_their_place_for_a_late_reply)
{
	start(asking_start, NULL);
	call("hurried", "{}");
	wait_for("volume.get");
	expect_answer("(nobody answered volume.get)");
	call("get", "{}");
	settle();
	cr_expect_eq(n_unseen("volume.get"), 0);
	send_request("volume.get.response", "{'percent':0.9}", DEFAULT);
	wait_for("volume.get");
	send_request("volume.get.response", "{'percent':0.3}", DEFAULT);
	expect_answer("'percent':30");
}

Test(bus_calls, leave_the_queue_when_they_are_cancelled)
{
	start(asking_start, NULL);
	call("get", "{}");
	call("after", "{}");
	wait_for("volume.get");
	send_request("ovos.tools.cancel", "{'call_id':'after'}", "{'source':'test'}");
	expect_answer("'code':'cancelled'");
	send_request("ovos.tools.cancel", "{'call_id':'get'}", "{'source':'test'}");
	expect_answer("'code':'cancelled'");
	cr_expect_eq(n_unseen("volume.get"), 0);
}

Test(bus_calls, wait_for_what_comes_unasked)
{
	start(asking_start, NULL);
	call("set", "{'p':1}");
	expect_answer("'sent':true");
	call("after", "{}");
	settle();
	cr_expect_eq(n_unseen("volume.get"), 0);
	send_request("volume.get.response", "{'percent':0.01}", DEFAULT);
	wait_for("volume.get");
	send_request("volume.get.response", "{'percent':0.02}", DEFAULT);
	expect_answer("'result':{'percent':0.02}");
}

Test(bus_calls, send_their_messages_in_order_and_collect)
{
	start(asking_start, NULL);
	call("say", "{'t':[1.10]}");
	expect_part(wait_for("one"), "{'t':[1.10]}");
	expect_part(wait_for("two"), "{}");
	send_request("part", "{'x':1}", DEFAULT);
	send_request("part", "{'y':2}", DEFAULT);
	send_request("part", "{'x':{'z':3}}", "{}");
	send_request("two.response", "{'done':true}", DEFAULT);
	expect_answer("'result':{'collected':[1,{'z':3}],'topic':'two.response',"
		      "'reply':{'done':true}}");
}

Test(bus_calls, collect_within_bounds)
{
	start(asking_start, NULL);
	call("say", "{}");
	wait_for("two");
	for (int i = 0; i <= BUS_COLLECTED_MAX; i++)
		send_request("part", "{'x':1}", DEFAULT);
	expect_answer("'code':'tool_failed'");
	/* The reply that comes nevertheless is not the next call's. */
	call("say", "{}");
	settle();
	cr_expect_eq(n_unseen("two"), 0);
	send_request("two.response", "{'n':1}", DEFAULT);
	wait_for("two");
	send_request("two.response", "{'n':2}", DEFAULT);
	expect_answer("'reply':{'n':2}");
}

Test(bus_calls, fail_by_a_message_that_is_too_large)
{
	static char text[3000];

	start(asking_start, "{\"toolboxd\":{\"limits\":{\"frame_bytes\":4096}}}");
	snprintf(text, sizeof(text), "{'t':'%2800d'}", 1);
	call("say", text);
	wait_for("two");
	send_request("two.response", "{}", DEFAULT);
	expect_answer("'collected'");
}

Test(bus_calls, end_when_the_bus_is_lost)
{
	start(asking_start, NULL);
	call("get", "{}");
	wait_for("volume.get");
	bus_calls_lose(&service->bus_calls);
	expect_answer("the bus was lost before a reply came");
}

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

static void expect_question(const char *text)
{
	expect_part(wait_for("ovos.session.sync"), "{}");
	expect_part(wait_for("intent.service.skills.activate"), "{'skill_id':'toolboxd'}");
	expect_part(wait_for("skill.converse.get_response.enable"), "{'skill_id':'toolboxd'}");
	expect_part(wait_for("speak"), text);
}

static void expect_closed(void)
{
	/* Once more, for an assistant that mixes up messages. */
	for (int i = 0; i < 2; i++)
		expect_part(wait_for(DISABLE), "{'skill_id':'toolboxd'}");
	settle();
	cr_expect_eq(n_unseen(DISABLE), 0);
}

Test(bus_calls, ask_a_person_and_close_the_question)
{
	start(asking_start, NULL);
	call("converse", "{'m':'Which?'}");
	expect_question("{'utterance':'Which?','expect_response':true,");
	send_request("recognizer_loop:record_begin", "{}", DEFAULT);
	send_request("recognizer_loop:record_end", "{}", DEFAULT);
	send_request(ANSWER, "{'utterances':['this one','that one']}", DEFAULT);
	expect_answer("'result':{'answer':'this one'}");
	expect_closed();
}

Test(bus_calls, close_a_question_that_a_person_or_a_caller_ends)
{
	static const char *const ends[][2] = {
		{"mycroft.stop", "{}"},
		{"mycroft.skills.abort_question", "{'skill_id':'toolboxd'}"},
		{"ovos.tools.cancel", "{'call_id':'converse'}"},
	};

	start(asking_start, NULL);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		call("converse", "{'m':'Which?'}");
		expect_question("Which?");
		send_request("mycroft.skills.abort_question", "{'skill_id':'other'}", DEFAULT);
		settle();
		cr_expect_eq(n_unseen(RESPONSE), 0);
		send_request(ends[i][0], ends[i][1],
			"{'source':'test','session':{'session_id':'default'}}");
		expect_answer("'code':'cancelled'");
		expect_closed();
	}
}

Test(bus_calls, ask_nobody_in_the_session_of_a_satellite)
{
	start(asking_start, NULL);
	send_request(INVOKE, "{'name':'converse','args':{'m':'Which?'}}",
		"{'session':{'session_id':'kitchen'}}");
	expect_answer("only the satellite of session ");
	cr_expect_eq(n_unseen("speak"), 0);
	cr_expect_eq(n_unseen(DISABLE), 0);
}
