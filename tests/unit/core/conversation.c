/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/conversation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "quotes.h"
#include "scarce.h"

static struct conversations conversations;
static struct bus_envelope envelope;

static void set_up(void)
{
	conversations_init(&conversations);
	conversations.is_on = true;
	envelope.values_max = 1000;
}

static void tear_down(void)
{
	conversations_deinit(&conversations);
	bus_envelope_deinit(&envelope);
}

TestSuite(conversation, .init = set_up, .fini = tear_down, .timeout = 60);

/* Let the message @text pass, with ' for ". */
static void hear(const char *text)
{
	cleanup_free char *message = quoted(text);

	cr_assert_eq(bus_envelope_read(&envelope, message, strlen(message), 64), 0, "%s", text);
	conversations_hear(&conversations, &envelope, 0);
}

static void hear_speech(const char *session, const char *words, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{'type':'speak','data':{'utterance':'%s'},'context':{'session':{'session_id':'%s'}"
		"%s}}",
		words, session, more);
	hear(text);
}

static void hear_person(const char *session, const char *words, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{'type':'recognizer_loop:utterance','data':{'utterances':['%s']},'context':{"
		"'session':{'session_id':'%s'}%s}}",
		words, session, more);
	hear(text);
}

/* Return what the caller gets, with ' for "; good for one call. */
static const char *shown(enum call_door door, const char *source, const char *session)
{
	static struct buffer out;
	struct buffer from = {0};
	struct buffer in = {0};

	buffer_append_string(&from, source);
	buffer_append_string(&in, session);
	buffer_reset(&out);
	conversations_write(&conversations, door, &from, &in, &out);
	buffer_deinit(&from);
	buffer_deinit(&in);
	cr_assert(buffer_terminate(&out));
	return out.data;
}

#define TWIN            ",'_namespace_compat_twin':true"
#define ON_BUS(session) shown(CALL_DOOR_BUS, "\"x\"", session)
#define NOTHING         "{\"messages\":[]}"

static void claim(const char *session, const char *source)
{
	cleanup(buffer_deinit) struct buffer from = {0};
	cleanup(buffer_deinit) struct buffer in = {0};

	buffer_append_string(&from, source);
	buffer_append_string(&in, session);
	conversations_claim(&conversations, &in, &from);
}

Test(conversation, has_the_messages_of_its_session)
{
	hear_person("a", "hi", "");
	hear_speech("a", "hello", "");
	hear_speech("b", "else", "");
	cr_expect_str_eq(ON_BUS("\"a\""),
		"{\"messages\":[{\"role\":\"user\",\"text\":\"hi\",\"time\":"
		"\"1970-01-01T00:00:00.000Z\"},{\"role\":\"assistant\",\"text\":\"hello\","
		"\"time\":\"1970-01-01T00:00:00.000Z\"}]}");
	cr_expect(strstr(ON_BUS("\"b\""), "else"));
	cr_expect_str_eq(ON_BUS("\"c\""), NOTHING);
	hear("{'type':'speak','data':{'utterance':'home'}}");
	cr_expect(strstr(ON_BUS(""), "home"));
	cr_expect(strstr(ON_BUS("\"default\""), "home"));
}

Test(conversation, has_each_message_once)
{
	const char *messages;

	hear_speech("a", "hello", "");
	hear_speech("a", "hello", TWIN);
	messages = ON_BUS("\"a\"");
	cr_expect(strstr(messages, "hello"));
	cr_expect_null(strstr(strstr(messages, "hello") + 1, "hello"));
	hear_speech("a", "hello", ",'_namespace_compat_twin':false");
	messages = ON_BUS("\"a\"");
	cr_expect(strstr(strstr(messages, "hello") + 1, "hello"), "a person says it again");
	for (int i = 0; i < 2; i++)
		hear("{'type':'speak','data':{'utterance':'home'}}");
	messages = ON_BUS("");
	cr_expect(strstr(strstr(messages, "home") + 1, "home"), "without a context, too");
}

/* A program with an old client copies the mark of the utterance that it answers. */
Test(conversation, has_a_message_whose_mark_is_inherited)
{
	hear_person("a", "hi", TWIN);
	hear_speech("a", "hi", TWIN);
	hear_speech("b", "hi", TWIN);
	cr_expect(strstr(ON_BUS("\"a\""), "\"role\":\"user\",\"text\":\"hi\""));
	cr_expect(strstr(ON_BUS("\"a\""), "\"role\":\"assistant\",\"text\":\"hi\""),
		"of another role");
	cr_expect(strstr(ON_BUS("\"b\""), "hi"), "in another session");
}

Test(conversation, leaves_out_what_has_no_text)
{
	static const char *const messages[] = {
		"{'type':'speak','data':{}}",
		"{'type':'speak','data':{'utterance':''}}",
		"{'type':'speak','data':{'utterance':['a']}}",
		"{'type':'ovos.utterance.handle','data':{'utterances':[]}}",
		"{'type':'ovos.utterance.handle','data':{'utterances':'a'}}",
		"{'type':'ovos.utterance.handle','data':{'utterances':[7,'a']}}",
		"{'type':'ovos.utterance.handled','data':{'utterances':['a']}}",
	};

	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		hear(messages[i]);
	cr_expect_eq(conversations.n, 0);
	hear("{'type':'speak','data':{'utterance':'a'},'context':{'session':{'session_id':7}}}");
	cr_expect(strstr(ON_BUS(""), "\"a\""), "the session is the default one");
	hear("{'type':'speak','data':{'utterance':'b'},'context':{'session_id':'s'}}");
	cr_expect(strstr(ON_BUS(""), "\"b\""), "the context itself is no session");
}

Test(conversation, keeps_the_last_messages_and_bytes)
{
	char words[800];
	char number[16];

	for (int i = 0; i <= CONVERSATION_MESSAGES; i++) {
		snprintf(number, sizeof(number), "n%03d", i);
		hear_speech("a", number, "");
	}
	cr_expect_not(strstr(ON_BUS("\"a\""), "n000"));
	cr_expect(strstr(ON_BUS("\"a\""), "n001"));
	for (int i = 0; i < CONVERSATION_MESSAGES; i++) {
		char *message;
		cleanup_free char *text = malloc(9000);

		cr_assert(text);
		snprintf(text, 9000, "{'type':'speak','data':{'utterance':'%08000d'}}", i);
		message = quoted(text);
		cr_assert_eq(bus_envelope_read(&envelope, message, strlen(message), 64), 0);
		conversations_hear(&conversations, &envelope, 0);
		free(message);
	}
	cr_expect_leq(strlen(ON_BUS("")), CONVERSATION_BYTES * 11 / 10);
	cr_expect_gt(strlen(ON_BUS("")), CONVERSATION_BYTES * 9 / 10);
	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	hear_speech("", words, "");
}

Test(conversation, of_the_longest_silence_gives_way_to_a_new_one)
{
	char session[16];

	for (int i = 0; i < CONVERSATION_SESSIONS; i++) {
		snprintf(session, sizeof(session), "s%d", i);
		hear_speech(session, "x", "");
	}
	hear_speech("s0", "x", "");
	hear_speech("more", "x", "");
	cr_expect_eq(conversations.n, CONVERSATION_SESSIONS);
	cr_expect_str_neq(ON_BUS("\"s0\""), NOTHING);
	cr_expect_str_eq(ON_BUS("\"s1\""), NOTHING);
}

/* ── callers beside the bus ──────────────────────────────────────────────────────────────────── */

#define MARK ",'toolboxd_call':'1'"

Test(conversation, that_a_caller_has_begun_is_its_own)
{
	claim("\"a\"", "\"http:x\"");
	hear_speech("a", "hello", MARK);
	hear_person("a", "a question", MARK);
	hear_speech("a", "an answer", "");
	cr_expect(strstr(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), "an answer"));
	cr_expect(strstr(shown(CALL_DOOR_MCP, "\"http:x\"", "\"a\""), "an answer"));
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:y\"", "\"a\""), NOTHING);
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "", "\"a\""), NOTHING);
	cr_expect(strstr(ON_BUS("\"a\""), "an answer"));
	hear_person("a", "overheard", "");
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), NOTHING);
}

Test(conversation, of_the_bus_is_claimed_by_nobody)
{
	hear_speech("a", "private", "");
	claim("\"a\"", "\"http:x\"");
	claim("\"default\"", "\"http:x\"");
	claim("", "\"http:x\"");
	claim("\"b\"", "");
	hear("{'type':'speak','data':{'utterance':'private'}}");
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), NOTHING);
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"default\""), NOTHING);
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", ""), NOTHING);
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "", "\"a\""), NOTHING);
	cr_expect_eq(conversations.n, 2);
}

Test(conversation, is_lost_by_its_caller_when_another_one_speaks_in_it)
{
	static const char *const others[] = {"\"http:y\"", ""};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		claim("\"a\"", "\"http:x\"");
		hear_speech("a", "hello", MARK);
		claim("\"a\"", "\"http:x\"");
		cr_expect_str_neq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), NOTHING);
		claim("\"a\"", others[i]);
		hear_person("a", "a secret", MARK);
		cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), NOTHING);
		cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:y\"", "\"a\""), NOTHING);
		claim("\"a\"", "\"http:x\"");
		cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"a\""), NOTHING);
		cr_expect(strstr(ON_BUS("\"a\""), "a secret"));
		tear_down();
		set_up();
	}
}

Test(conversation, of_callers_beside_the_bus_are_few)
{
	char session[16];

	hear_speech("bus", "x", "");
	for (int i = 0; i <= CONVERSATION_CLAIMED; i++) {
		snprintf(session, sizeof(session), "\"s%d\"", i);
		claim(session, "\"http:x\"");
	}
	cr_expect_eq(conversations.n, CONVERSATION_CLAIMED + 1);
	hear_speech("s1", "hello", "");
	hear_speech("s0", "hello", "");
	cr_expect(strstr(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"s1\""), "hello"));
	cr_expect_str_eq(shown(CALL_DOOR_HTTP, "\"http:x\"", "\"s0\""), NOTHING);
}

/* ── on and off ──────────────────────────────────────────────────────────────────────────────── */

Test(conversation, is_heard_at_a_pace_and_only_when_it_is_wanted)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 2 * CONVERSATION_BURST; i++)
		n += conversations_wants(&conversations, "speak", 5);
	cr_expect_geq(n, CONVERSATION_BURST);
	cr_expect_lt(n, 2 * CONVERSATION_BURST);
	conversations.pace = (struct pace){0};
	cr_expect_not(conversations_wants(&conversations, "speaker", 7));
	cr_expect_not(conversations_wants(&conversations, "spea", 4));
	conversations.is_on = false;
	cr_expect_not(conversations_wants(&conversations, "speak", 5));
	hear_speech("a", "hello", "");
	claim("\"b\"", "\"http:x\"");
	cr_expect_eq(conversations.n, 0);
}

Test(conversation, loses_a_message_without_memory_and_nothing_else)
{
	static const char again[] = "{\"type\":\"speak\",\"data\":{\"utterance\":\"again\"}}";

	hear_speech("a", "first", "");
	for (size_t n = 0; n < 100; n++) {
		bool has_failed;

		cr_assert_eq(bus_envelope_read(&envelope, again, strlen(again), 64), 0);
		scarce_once_after(n);
		conversations_hear(&conversations, &envelope, 0);
		claim("\"b\"", "\"http:x\"");
		has_failed = scarce_has_failed();
		cr_expect(strstr(ON_BUS("\"a\""), "first"));
		if (!has_failed) {
			cr_expect_gt(n, 2);
			return;
		}
	}
	cr_expect_fail("memory never was enough");
}
