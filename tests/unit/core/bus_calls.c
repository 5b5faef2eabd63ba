/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/bus_calls.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "util/clock.h"

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
	"'collect':{'topics':'part','at':'/x'}}},"                                                 \
	"{'name':'unless','timeout_ms':60000,'argument_schema':{'type':'object','properties':{"    \
	"'w':{'type':'boolean'}}},'bus':{'topic':'volume.get','unless':'w','error':'/e'}}]}"
#define TALK                                                                                       \
	"{'kind':'bus','tools':[{'name':'converse','risk':'write','argument_schema':{'type':"      \
	"'object','properties':{'m':{'type':'string'}}},'bus':{'ask':'{m}','listen_ms':60000,"     \
	"'result':'/utterances/0','as':'answer'}},"                                                \
	"{'name':'maybe','risk':'write','argument_schema':{'type':'object','properties':{"         \
	"'q':{'type':'boolean'}}},'bus':{'ask':'Well?','when':'q','listen_ms':60000}}]}"

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

/* ── hostile replies ─────────────────────────────────────────────────────────────────────────── */

Test(bus_calls, take_no_message_of_another_session_or_with_another_mark)
{
	static const char *const contexts[] = {
		"{'session':{'session_id':'Default'}}",
		"{'session':{'session_id':'default '}}",
		"{'session':{'session_id':''}}",
		"{'toolboxd_call':''}",
		"{'toolboxd_call':null}",
		"{'toolboxd_call':7}",
		"{'toolboxd_call':{},'session':{'session_id':'default'}}",
		"{'_namespace_compat_twin':0}",
		"{'_intent_compat_twin':'','_namespace_compat_twin':false}",
	};

	start(asking_start, NULL);
	call("get", "{}");
	wait_for("volume.get");
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		send_request("volume.get.response", "{'percent':0.9}", contexts[i]);
		settle();
		cr_expect_eq(n_unseen(RESPONSE), 0, "%s", contexts[i]);
	}
	send_request("volume.get.response", "{'percent':0.1}", DEFAULT);
	expect_answer("'percent':10");
}

Test(bus_calls, take_a_message_without_a_session_id_for_one_of_the_default_session)
{
	static const char *const contexts[] = {"{}", "{'session':{}}", "{'session':null}",
		"{'session':{'session_id':7}}", "{'session':{'session_id':null}}",
		"{'session':{'session_id':'d\\u0065fault'}}"};

	start(asking_start, NULL);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		call("get", "{}");
		wait_for("volume.get");
		send_request("volume.get.response", "{'percent':0.1}", contexts[i]);
		expect_answer("'percent':10");
	}
}

Test(bus_calls, fail_by_data_that_cannot_be_read)
{
	static const char *const cases[][2] = {
		{"{'percent':1,'percent':2}", "the data of the reply cannot be read: "},
		{"{'percent':'1'}", "the reply has no number of at most 400 digits at /percent, "
				    "but the type string"},
		{"{'percent':1e999}", "the reply has no number of at most 400 digits at /percent"},
		{"{'Percent':1}", "the reply has no /percent"},
	};

	start(asking_start, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		call("get", "{}");
		wait_for("volume.get");
		send_request("volume.get.response", cases[i][0], DEFAULT);
		expect_answer(cases[i][1]);
	}
	call("get", "{}");
	wait_for("volume.get");
	send_request("volume.get.response", "{'percent':1}", DEFAULT);
	expect_answer("'percent':100");
}

Test(bus_calls, do_not_read_a_reply_over_a_mebibyte)
{
	cleanup_free char *data = malloc(BUS_REPLY_BYTES + 64);

	cr_assert_not_null(data);
	snprintf(data, BUS_REPLY_BYTES + 64, "{'percent':1,'x':'%*d'}", (int)BUS_REPLY_BYTES, 1);
	start(asking_start, NULL);
	call("get", "{}");
	wait_for("volume.get");
	send_request("volume.get.response", data, DEFAULT);
	expect_answer("bytes; at most 1048576 are read");
}

Test(bus_calls, of_two_sessions_do_not_wait_for_each_other)
{
	start(asking_start, NULL);
	call("unless", "{}");
	send_request(INVOKE, "{'name':'unless','args':{}}", "{'session':{'session_id':'k'}}");
	wait_for("volume.get");
	wait_for("volume.get");
	send_request("volume.get.response", "{'of':'k'}", "{'session':{'session_id':'k'}}");
	expect_answer("'result':{'of':'k'}");
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0);
	send_request("volume.get.response", "{'of':'default'}", DEFAULT);
	expect_answer("'result':{'of':'default'}");
}

Test(bus_calls, await_no_reply_that_an_argument_rules_out)
{
	start(asking_start, NULL);
	call("unless", "{'w':false}");
	wait_for("volume.get");
	expect_answer("'result':{'sent':true}");
	cr_expect_eq(service->bus_calls.interests.n_interests, 0);
	call("unless", "{'w':true}");
	wait_for("volume.get");
	send_request("volume.get.response", "{'e':'no card'}", DEFAULT);
	expect_answer("no card");
}

Test(bus_calls, answer_once_however_many_replies_come)
{
	start(asking_start, NULL);
	call("get", "{}");
	wait_for("volume.get");
	for (int i = 0; i < 10; i++)
		send_request("volume.get.response", "{'percent':0.1}", DEFAULT);
	expect_answer("'percent':10");
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0);
}

Test(bus_calls, collect_no_more_bytes_than_their_bound)
{
	cleanup_free char *data = malloc(BUS_COLLECTED_BYTES);

	cr_assert_not_null(data);
	snprintf(data, BUS_COLLECTED_BYTES, "{'x':'%*d'}", (int)BUS_COLLECTED_BYTES / 2, 1);
	start(asking_start, NULL);
	call("say", "{}");
	wait_for("two");
	send_request("part", data, DEFAULT);
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0);
	send_request("part", data, DEFAULT);
	expect_answer("more than 256 messages, or 262144 bytes, came before the reply");
}

/* ── the pace of a toolbox ───────────────────────────────────────────────────────────────────── */

static struct bus_pace *find_pace(const char *id)
{
	list_for_each(link, &service->bus_calls.paces) {
		struct bus_pace *pace = container_of(link, struct bus_pace, link);

		if (strcmp(pace->id, id) == 0)
			return pace;
	}
	return NULL;
}

/* Call `set` to its end, and return the pace of its toolbox. */
static struct bus_pace *pace_after_a_call(void)
{
	struct bus_pace *pace;

	call("set", "{'p':1}");
	wait_for("volume.set");
	expect_answer("'sent':true");
	pace = find_pace("volume");
	cr_assert_not_null(pace);
	return pace;
}

Test(bus_calls, pay_for_each_message)
{
	struct bus_pace *pace;
	uint64_t before_ms;

	start(asking_start, NULL);
	pace = pace_after_a_call();
	before_ms = pace->paid_ms = clock_now_ms() + BUS_BURST_MS / 2;
	call("say", "{}");
	wait_for("two");
	cr_expect_eq(pace->paid_ms, before_ms + 2 * BUS_MESSAGE_MS);
	cr_expect_eq(pace->n_runs, 1);
	send_request("two.response", "{}", DEFAULT);
	expect_answer("'collected':[]");
}

Test(bus_calls, beyond_the_pace_of_their_toolbox_wait_while_their_deadline_runs)
{
	struct bus_pace *pace;

	start(asking_start, NULL);
	pace = pace_after_a_call();
	pace->paid_ms = clock_now_ms() + 100 * BUS_BURST_MS;
	call("hurried", "{}");
	expect_answer("its toolbox sends more than 100 messages a second");
	call("set", "{'p':1}");
	settle();
	cr_expect_eq(n_unseen("volume.set"), 0);
	cr_expect_eq(n_unseen(RESPONSE), 0);
	/* The other toolbox owes nothing. */
	call("maybe", "{'q':false}");
	expect_part(wait_for("speak"), "'utterance':'Well?'");
	expect_answer("'sent':true");
	send_request("ovos.tools.cancel", "{'call_id':'set'}", "{'source':'test'}");
	expect_answer("'code':'cancelled'");
	cr_expect_eq(n_unseen("volume.set"), 0);
	cr_expect_eq(n_unseen("volume.get"), 0);
	cr_expect_eq(pace->n_runs, 0);
}

/* Call a tool of the toolbox talk, which begins its pace. */
static void begin_pace_of_talk(void)
{
	call("maybe", "{'q':false}");
	wait_for("speak");
	expect_answer("'sent':true");
	cr_assert_not_null(find_pace("talk"));
}

Test(bus_calls, forget_the_pace_of_a_toolbox_without_debts_only)
{
	struct bus_pace *pace;

	start(asking_start, NULL);
	pace = pace_after_a_call();
	pace->paid_ms = clock_now_ms() + 100 * BUS_BURST_MS;
	pace->sent_ms = 1;
	begin_pace_of_talk();
	cr_expect_eq(find_pace("volume"), pace, "it owes");
	pace->paid_ms = 1;
	/* Another toolbox by then. */
	pace = find_pace("talk");
	pace->id[0] = 'w';
	pace->paid_ms = 1;
	pace->sent_ms = clock_now_ms() + 100 * BUS_BURST_MS;
	begin_pace_of_talk();
	cr_expect_null(find_pace("volume"));
	cr_expect_eq(find_pace("walk"), pace, "it has sent a message lately");
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

Test(bus_calls, only_speak_a_text_that_is_no_question)
{
	start(asking_start, NULL);
	send_request(INVOKE, "{'name':'maybe','args':{'q':false}}",
		"{'session':{'session_id':'kitchen','lang':'de-DE'}}");
	expect_part(wait_for("speak"), "{'utterance':'Well?','expect_response':false,");
	expect_answer("'result':{'sent':true}");
	settle();
	cr_expect_eq(n_unseen("ovos.session.sync"), 0);
	cr_expect_eq(n_unseen("skill.converse.get_response.enable"), 0);
	cr_expect_eq(n_unseen(DISABLE), 0);
	cr_expect_eq(service->bus_calls.interests.n_interests, 0);
}

Test(bus_calls, open_a_question_once_more_while_it_is_open)
{
	start(asking_start, NULL);
	call("converse", "{'m':'Which?'}");
	expect_question("Which?");
	cr_expect_not_null(service->bus_calls.asking);
	expect_part(wait_for("intent.service.skills.activate"), "{'skill_id':'toolboxd'}");
	expect_part(wait_for("skill.converse.get_response.enable"), "{'skill_id':'toolboxd'}");
	cr_expect_eq(n_unseen("speak"), 0, "nothing is said twice");
	send_request(ANSWER, "{'utterances':['this']}", DEFAULT);
	expect_answer("'result':{'answer':'this'}");
	expect_closed();
	cr_expect_null(service->bus_calls.asking);
	cr_expect_eq(n_unseen("intent.service.skills.activate"), 0);
	cr_expect(bus_calls_are_settled(&service->bus_calls));
}

Test(bus_calls, end_a_question_without_words_as_silence)
{
	static const char *const answers[] = {
		"{}", "{'utterances':[]}", "{'utterances':null}", "{'utterances':'yes'}"};

	start(asking_start, NULL);
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		call("converse", "{'m':'Which?'}");
		expect_question("Which?");
		send_request(ANSWER, answers[i], DEFAULT);
		expect_answer("'code':'timeout'");
		expect_closed();
	}
	/* The time of the question is over, and not the deadline of the call. */
	expect_part(ask_for("ovos.tools.calls", "{'limit':1}"), "'deadline of 60000 ms'");
}

Test(bus_calls, keep_a_question_open_for_what_is_no_answer)
{
	start(asking_start, NULL);
	call("converse", "{'m':'Which?'}");
	expect_question("Which?");
	send_request(ANSWER, "{'utterances':['no']}", "{'session':{'session_id':'kitchen'}}");
	send_request("mycroft.stop", "{}", "{'session':{'session_id':'kitchen'}}");
	send_request("ovos.skills.converse.force_timeout", "{'skill_id':['toolboxd']}", DEFAULT);
	send_request("speak", "{'utterance':'meanwhile'}", DEFAULT);
	settle();
	cr_expect_eq(n_unseen(RESPONSE), 0);
	send_request("ovos.stop", "{}", DEFAULT);
	expect_answer("'code':'cancelled'");
}

/* The mark of the utterance is copied by a core with an old client. */
Test(bus_calls, take_an_answer_and_a_stop_with_an_inherited_mark)
{
	start(asking_start, NULL);
	call("converse", "{'m':'Which?'}");
	expect_question("Which?");
	send_request(ANSWER, "{'utterances':['one']}", "{'_namespace_compat_twin':true}");
	expect_answer("'answer':'one'");
	call("converse", "{'m':'And?'}");
	expect_part(wait_for("speak"), "'utterance':'And?'");
	send_request("mycroft.stop", "{}", "{'_namespace_compat_twin':true}");
	expect_answer("'code':'cancelled'");
}

Test(bus_calls, ask_one_question_at_a_time)
{
	start(asking_start, NULL);
	call("converse", "{'m':'First?'}");
	expect_question("First?");
	call("maybe", "{'q':true}");
	settle();
	cr_expect_eq(n_unseen("speak"), 0);
	send_request(ANSWER, "{'utterances':['one']}", DEFAULT);
	expect_answer("'answer':'one'");
	expect_part(wait_for("speak"), "'utterance':'Well?'");
	send_request(ANSWER, "{'utterances':['two']}", DEFAULT);
	expect_answer("'utterances':['two']");
}

Test(bus_calls, stop_the_time_for_an_answer_while_somebody_speaks)
{
	static const char *const events[][2] = {
		{"recognizer_loop:audio_output_start", "recognizer_loop:audio_output_end"},
		{"ovos.listener.record.started", "ovos.listener.record.ended"},
	};

	start(asking_start, NULL);
	call("converse", "{'m':'Which?'}");
	expect_question("Which?");
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		cr_expect(loop_timer_is_armed(&service->bus_calls.asking->timer));
		send_request(events[i][0], "{}", "{'session':{'session_id':'kitchen'}}");
		settle();
		cr_expect(loop_timer_is_armed(&service->bus_calls.asking->timer));
		send_request(events[i][0], "{}", DEFAULT);
		settle();
		cr_expect_not(loop_timer_is_armed(&service->bus_calls.asking->timer));
		send_request(events[i][1], "{}", DEFAULT);
		settle();
		cr_expect(loop_timer_is_armed(&service->bus_calls.asking->timer));
	}
	bus_calls_lose(&service->bus_calls);
	expect_answer("the bus was lost before a reply came");
}
