/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/chats.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "scripted.h"

/* Chats on a bus of our own, before the first step of their turns: no model is asked. */

#define TURN_MS   5
#define TURNS_MAX 2000

static struct loop *loop;
static struct bus *server;
static struct bus *bus;
static struct setup setup = {.settings = {.base_url = "http://127.0.0.1:1/v1"}};
static struct asking asking;
static struct chats chats;
static unsigned int n_asked; /* requests to the tool service */
static char asked[4096];     /* the last of them */
static struct buffer heard;  /* all frames, one a line */

static void hear(void *data, const char *text, size_t size)
{
	(void)data;
	buffer_append(&heard, text, size);
	buffer_append_char(&heard, '\n');
}

static bool want_none(void *data, const char *topic, size_t size)
{
	(void)data;
	(void)topic;
	(void)size;
	return false;
}

static int drop_message(void *data, struct buffer *message)
{
	size_t size;
	const char *text = bus_message_text(message, &size);

	(void)data;
	n_asked++;
	snprintf(asked, sizeof(asked), "%.*s", (int)size, text);
	buffer_deinit(message);
	return 0;
}

static void connect_bus(size_t queue_bytes)
{
	static const struct bus_handler client = {.wants = want_none};
	static const struct bus_handler listener = {.frame = hear};
	struct bus_address address = bus_address_default;
	struct bus_limits limits = bus_limits_default;

	limits.output_queue_bytes = queue_bytes;
	address.port = 0;
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &listener, NULL, &server),
		0);
	cr_assert_eq(bus_connect(loop, bus_address(server), &limits, &client, NULL, &bus), 0);
	for (int i = 0; i < TURNS_MAX && !bus_is_up(bus); i++)
		loop_run(loop, TURN_MS);
	cr_assert(bus_is_up(bus));
	chats.bus = bus;
}

static void set_up(void)
{
	const char *why;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	setup.config.turn_ms = 60000;
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(asking_init(&asking, loop, drop_message, NULL), 0);
	cr_assert_eq(model_new(loop, &setup.settings, &setup.model, &why), 0);
	chats_init(&chats, loop, &setup, &asking);
}

static void tear_down(void)
{
	chats_deinit(&chats);
	asking_deinit(&asking);
	model_free(setup.model);
	bus_free(bus);
	bus_free(server);
	loop_free(loop);
	buffer_deinit(&heard);
}

TestSuite(chats, .timeout = 60, .init = set_up, .fini = tear_down);

/* Read a message of the session @session into @envelope. */
static void read_message(struct bus_envelope *envelope, const char *session, const char *data)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		"{\"type\":\"ovos.tools.chat\",\"data\":%s,\"context\":{\"source\":\"a\","
		"\"session\":{\"session_id\":\"%s\"}}}",
		data, session);
	cr_assert_eq(bus_envelope_read(envelope, text, strlen(text), JSON_DEPTH_DEFAULT), 0);
}

/* Take a message by @take. */
static void pass_message(void (*take)(struct chats *chats, const struct bus_envelope *envelope),
	const char *session, const char *data)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_message(&envelope, session, data);
	take(&chats, &envelope);
}

static void say(const char *session)
{
	pass_message(chats_take, session, "{\"utterance\":\"well\"}");
}

static struct session *session_called(const char *id)
{
	char json[32];

	snprintf(json, sizeof(json), "\"%s\"", id);
	return sessions_find(&chats.sessions, TEXT_VIEW("\"a\""), TEXT_VIEW(json));
}

/* Let the conversation have more than all conversations may have together. */
static void fill_session(const char *id)
{
	struct history *history = &session_called(id)->history;

	cr_assert_eq(history_add_user(history, TEXT_VIEW("well")), 0);
	history->n_bytes += SESSIONS_BYTES;
}

Test(chats, keep_the_conversation_of_a_chat_that_replaces_another)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	say("x");
	fill_session("x");
	say("x");
	cr_expect(session_called("x"));
	cr_expect_eq(chats.n_running, 1);
}

Test(chats, may_be_forgotten_by_the_end_of_their_turn)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	say("x");
	fill_session("x");
	pass_message(chats_serve_reset, "x", "{}");
	cr_expect_null(session_called("x"));
	cr_expect_eq(chats.n_running, 0);
}

static void expect_heard(const char *part)
{
	for (int i = 0; i < TURNS_MAX &&
			!(heard.data && memmem(heard.data, heard.size, part, strlen(part)));
		i++)
		loop_run(loop, TURN_MS);
	cr_expect(heard.data && memmem(heard.data, heard.size, part, strlen(part)), "%s: %.*s",
		part, (int)heard.size, heard.data ? heard.data : "");
}

Test(chats, that_wait_end_as_any_other_when_they_are_cancelled)
{
	char id[] = "0";

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (; *id <= '0' + CHATS_RUNNING; id[0]++)
		say(id);
	cr_assert_eq(chats.n_waiting, 1);
	id[0]--;
	pass_message(chats_serve_cancel, id, "{}");
	cr_expect_eq(chats.n_waiting, 0);
	cr_expect_eq(chats.n_running, CHATS_RUNNING);
	cr_expect_eq(session_called(id)->history.n_messages, 0);
	expect_heard("{\"answer\":\"Stopped.\",\"finish\":\"cancelled\",\"rounds\":0,\"calls\":[],"
		     "\"usage\":null,\"history\":0,\"truncated\":false}");
	expect_heard("{\"cancelled\":true}");
}

Test(chats, that_have_waited_make_room_for_others)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (int i = 0; i <= CHATS_RUNNING + CHATS_WAITING; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		say(id);
	}
	expect_heard("Too many turns are waiting");
	cr_expect_eq(chats.n_waiting, CHATS_WAITING);
	pass_message(chats_serve_reset, "0", "{}");
	cr_expect_eq(chats.n_running, CHATS_RUNNING);
	cr_expect_eq(chats.n_waiting, CHATS_WAITING - 1);
}

Test(chats, end_with_an_error_when_the_bus_has_no_room)
{
	static char words[8192];
	size_t n = (size_t)snprintf(words, sizeof(words), "{\"en\":{\"cancelled\":\"");
	struct buffer before = {0};

	memset(words + n, 'x', 6000);
	strcpy(words + n + 6000, "\"}}");
	setup.config.words = words;
	setup.config.lang = "en";
	connect_bus(4096);
	say("x");
	/* An empty queue takes a message of any size. */
	bus_message_begin(&before);
	buffer_append_string(&before, "{}");
	cr_assert_eq(bus_send(bus, &before, BUS_SHARE_OWN), 0);
	pass_message(chats_serve_cancel, "x", "{}");
	expect_heard("\"code\":\"busy\"}");
}

Test(chats, have_no_other_profile_than_the_agent)
{
	setup.config.profile = "sums";
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	pass_message(chats_take, "x", "{\"utterance\":\"well\",\"profile\":\"all\"}");
	expect_heard("'profile' must be the agent's own, or absent\",\"code\":\"bad_request\"}");
	cr_expect_eq(chats.n_running, 0);
	pass_message(chats_take, "x", "{\"utterance\":\"well\",\"profile\":\"sums\"}");
	pass_message(chats_take, "y", "{\"utterance\":\"well\",\"profile\":\"\"}");
	cr_expect_eq(chats.n_running, 2);
}

/* Begin the turn of a fallback. */
static void choose(void)
{
	pass_message(chats_take_fallback, "x", "{\"utterances\":[\"well\"]}");
	cr_assert_eq(chats.n_running, 1);
}

static void stop(void)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_message(&envelope, "x", "{}");
	chats_interrupt(&chats, &envelope, false);
}

Test(chats, that_were_stopped_leave_nothing_to_other_skills)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	choose();
	stop();
	expect_heard("{\"result\":true,\"fallback_handler\":\"toolbox-agent\"}");
}

Test(chats, that_have_spoken_leave_nothing_to_other_skills)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	choose();
	chats_lose_bus(&chats);
	expect_heard("{\"result\":true,\"fallback_handler\":\"toolbox-agent\"}");
}

Test(chats, that_core_has_given_up_are_not_done)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	choose();
	pass_message(chats_force_timeout, "x", "{}");
	expect_heard("{\"result\":false,\"fallback_handler\":null}");
}

/* Answer the first request to the tool service with @data. */
static void answer_first(const char *topic, const char *data)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	char text[512];

	for (int i = 0; i < TURNS_MAX && n_asked == 0; i++)
		loop_run(loop, TURN_MS);
	cr_assert_eq(n_asked, 1);
	snprintf(text, sizeof(text),
		"{\"type\":\"%s\",\"data\":%s,\"context\":{\"toolbox_agent\":\"%s-1\"}}", topic,
		data, asking.key);
	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), JSON_DEPTH_DEFAULT), 0);
	asking_take(&asking, &envelope);
}

Test(chats, without_a_list_of_tools_have_its_error_as_their_reason)
{
	static const char *const script[] = {
		SCRIPT_STATUS(
			"200 OK", "", "{\"choices\":[{\"message\":{\"content\":\"Well.\"}}]}"),
		NULL};
	char url[64];

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1", script_start(script));
	setup.settings.base_url = url;
	model_free(setup.model);
	cr_assert_eq(model_new(loop, &setup.settings, &setup.model, &(const char *){NULL}), 0);
	setup.config.max_rounds = 8;
	say("x");
	answer_first("ovos.tools.list.response",
		"{\"error\":\"RuntimeError: Too many\",\"code\":\"busy\"}");
	expect_heard("{\"answer\":\"Well.\",\"finish\":\"answer\"");
	expect_heard("\"reason\":\"the tools cannot be listed: RuntimeError: Too many\"");
}

/* ── the members of requests ─────────────────────────────────────────────────────────────────── */

/* Take the message of the topic ovos.tools.chat with @data and @context, texts of objects. */
static void take_raw(const char *data, const char *context)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(
		&text, "{\"type\":\"ovos.tools.chat\",\"data\":%s,\"context\":%s}", data, context);
	cr_assert_eq(bus_envelope_read(&envelope, text.data, text.size, JSON_DEPTH_DEFAULT), 0);
	chats_take(&chats, &envelope);
}

#define REFUSED(words) "{\"error\":\"ValueError: Bad request: " words "\",\"code\":\"bad_request\"}"

Test(chats, refuse_members_of_another_type)
{
	static const struct {
		const char *data;
		const char *answer;
	} rows[] = {
		{"{}", REFUSED("'utterance' must be a text that is not empty")},
		{"{\"utterance\":1}", REFUSED("'utterance' must be a text that is not empty")},
		{"{\"utterance\":\"\"}", REFUSED("'utterance' must be a text that is not empty")},
		{"{\"utterance\":\"w\",\"lang\":1}", REFUSED("'lang' must be a text")},
		{"{\"utterance\":\"w\",\"profile\":1}", REFUSED("'profile' must be a text")},
		{"{\"utterance\":\"w\",\"system\":1}",
			REFUSED("'system' must be a text of at most 131072 bytes")},
		{"{\"utterance\":\"w\",\"stream\":1}", REFUSED("'stream' must be true or false")},
		{"{\"utterance\":\"w\",\"speak\":1}", REFUSED("'speak' must be true or false")},
		{"{\"utterance\":\"w\",\"utterance\":\"w\"}",
			REFUSED("'data' must be an object with each key once")},
	};

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_reset(&heard);
		take_raw(rows[i].data, "{}");
		expect_heard(rows[i].answer);
		cr_expect_eq(chats.n_running, 0, "%s", rows[i].data);
	}
	take_raw("{\"utterance\":\"w\",\"lang\":\"\",\"profile\":\"\",\"system\":\"\","
		 "\"stream\":false,\"speak\":true}",
		"{\"source\":\"a\"}");
	take_raw("{\"utterance\":\"w\",\"stream\":true,\"speak\":false}", "{\"source\":\"b\"}");
	cr_expect_eq(chats.n_running, 2);
}

/* A request whose @member has @size bytes is answered with @answer; NULL: it runs. */
static void expect_size(const char *member, size_t size, const char *answer)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer context = {0};
	struct buffer *out = strcmp(member, "x") == 0 ? &context : &data;

	buffer_append_string(
		&data, strcmp(member, "utterance") == 0 ? "{" : "{\"utterance\":\"w\"");
	buffer_append_string(&context, "{\"source\":\"a\"");
	if (out->size > 1)
		buffer_append_char(out, ',');
	buffer_printf(out, "\"%s\":\"", member);
	/* The whole context counts, its mark of a response included. */
	for (size_t i = 0; i < size; i++)
		buffer_append_char(out, 'w');
	buffer_append_string(out, "\"");
	buffer_append_char(&data, '}');
	buffer_append_char(&context, '}');
	cr_assert(buffer_terminate(&data) && buffer_terminate(&context));
	buffer_reset(&heard);
	take_raw(data.data, context.data);
	cr_expect_eq(chats.n_running, answer ? 0 : 1, "%s of %zu", member, size);
	if (answer)
		expect_heard(answer);
	else
		chats_stop(&chats);
}

Test(chats, have_the_longest_members)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	expect_size("utterance", 65536, NULL);
	expect_size("utterance", 65537, REFUSED("'utterance' must have at most 65536 bytes"));
	expect_size("system", 131072, NULL);
	expect_size("system", 131073, REFUSED("'system' must be a text of at most 131072 bytes"));
	expect_size("x", 60000, NULL);
	expect_size("x", 65536, REFUSED("'context' must have at most 65536 bytes"));
}

Test(chats, speak_the_language_of_the_message_the_session_or_the_device)
{
	static const struct {
		const char *data;
		const char *context;
		const char *answer;
	} rows[] = {
		{"{\"utterance\":\"w\",\"lang\":\"de\"}",
			"{\"session\":{\"session_id\":\"x\",\"lang\":\"en\"}}", "Abgebrochen."},
		{"{\"utterance\":\"w\"}", "{\"session\":{\"session_id\":\"x\",\"lang\":\"en\"}}",
			"Stopped."},
		{"{\"utterance\":\"w\"}", "{\"session\":{\"session_id\":\"x\",\"lang\":1}}",
			"Abgebrochen."},
		{"{\"utterance\":\"w\"}", "{}", "Abgebrochen."},
	};

	setup.config.lang = "de";
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_reset(&heard);
		take_raw(rows[i].data, rows[i].context);
		chats_stop(&chats);
		expect_heard(rows[i].answer);
	}
}

Test(chats, ask_the_tools_in_the_name_of_their_person)
{
	static const char *const rows[][2] = {
		{"{\"source\":\"a\",\"session\":{\"session_id\":\"x\",\"site\":1},\"other\":1}",
			"{\"source\":\"a\",\"session\":{\"session_id\":\"x\",\"site\":1},\"via\""},
		{"{\"source\":null}", "{\"session\":{\"session_id\":\"default\"},\"via\""},
		{"{\"session\":{\"session_id\":\"\"}}",
			"{\"session\":{\"session_id\":\"\"},\"via\""},
		{"{}", "{\"session\":{\"session_id\":\"default\"},\"via\""},
	};

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n_asked = 0;
		take_raw("{\"utterance\":\"w\"}", rows[i][0]);
		for (int k = 0; k < TURNS_MAX && n_asked == 0; k++)
			loop_run(loop, TURN_MS);
		cr_expect(strstr(asked, rows[i][1]), "%s: %s", rows[i][0], asked);
		chats_stop(&chats);
	}
}

Test(chats, tell_their_last_messages)
{
	static const struct {
		const char *data;
		const char *answer;
	} rows[] = {
		{"{}", "{\"messages\":[{\"role\":\"user\",\"text\":\"one\""},
		{"{\"limit\":1}", "{\"messages\":[{\"role\":\"user\",\"text\":\"two\""},
		{"{\"limit\":2}", "{\"messages\":[{\"role\":\"user\",\"text\":\"one\""},
		{"{\"limit\":10000}", "{\"messages\":[{\"role\":\"user\",\"text\":\"one\""},
		{"{\"limit\":10001}", REFUSED("'limit' must be a number from 1 to 10000")},
		{"{\"limit\":0}", REFUSED("'limit' must be a number from 1 to 10000")},
		{"{\"limit\":\"1\"}", REFUSED("'limit' must be a number from 1 to 10000")},
	};

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	pass_message(chats_serve_history, "x", "{}");
	expect_heard("{\"messages\":[]}");
	say("x");
	chats_stop(&chats);
	cr_assert_eq(history_add_user(&session_called("x")->history, TEXT_VIEW("one")), 0);
	cr_assert_eq(history_add_user(&session_called("x")->history, TEXT_VIEW("two")), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_reset(&heard);
		pass_message(chats_serve_history, "x", rows[i].data);
		expect_heard(rows[i].answer);
	}
}

Test(chats, that_do_not_exist_are_not_cancelled)
{
	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	pass_message(chats_serve_cancel, "x", "{}");
	expect_heard("{\"cancelled\":false}");
	say("x");
	pass_message(chats_serve_cancel, "y", "{}");
	cr_expect_eq(chats.n_running, 1);
	pass_message(chats_serve_reset, "y", "{}");
	expect_heard("{\"reset\":true}");
	cr_expect_eq(chats.n_running, 1);
}

Test(chats, that_wait_are_refused_by_a_stop)
{
	char id[] = "0";

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (; *id <= '0' + CHATS_RUNNING; id[0]++)
		say(id);
	chats_stop(&chats);
	expect_heard("{\"error\":\"RuntimeError: toolbox-agent is stopping\","
		     "\"code\":\"unavailable\"}");
	cr_expect_eq(chats.n_waiting, 0);
	cr_expect_eq(chats.n_running, 0);
}

Test(chats, of_other_skills_are_not_ended_by_core)
{
	static const struct {
		const char *session;
		const char *data;
		size_t n;
	} rows[] = {
		{"x", "{\"skill_id\":\"other\"}", 1},
		{"y", "{\"skill_id\":\"toolbox-agent\"}", 1},
		{"x", "{\"skill_id\":\"toolbox-agent\"}", 0},
		{"x", "{\"skill_id\":\"\"}", 0},
		{"x", "{}", 0},
	};

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		chats_stop(&chats);
		choose();
		pass_message(chats_force_timeout, rows[i].session, rows[i].data);
		cr_expect_eq(chats.n_running, rows[i].n, "%s", rows[i].data);
	}
	/* A requested chat is not a fallback. */
	say("x");
	pass_message(chats_force_timeout, "x", "{}");
	cr_expect_eq(chats.n_running, 1);
}

Test(chats, of_a_fallback_need_an_utterance)
{
	static const char *const rows[] = {"{}", "{\"utterances\":[]}", "{\"utterances\":[1]}",
		"{\"utterances\":[\"\"]}", "{\"utterances\":\"well\"}"};

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_reset(&heard);
		pass_message(chats_take_fallback, "x", rows[i]);
		expect_heard("ovos.skills.fallback.toolbox-agent.start");
		expect_heard("{\"result\":false,\"fallback_handler\":null}");
		cr_expect_eq(chats.n_running, 0);
	}
}

Test(chats, stream_and_speak_as_they_are_asked)
{
	static const char *const script[] = {
		SCRIPT_STATUS("200 OK", "",
			"{\"choices\":[{\"message\":{\"content\":\"Say \\\"well\\\".\"}}]}"),
		NULL};
	char url[64];

	connect_bus(BUS_OUTPUT_QUEUE_BYTES);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1", script_start(script));
	setup.settings.base_url = url;
	model_free(setup.model);
	cr_assert_eq(model_new(loop, &setup.settings, &setup.model, &(const char *){NULL}), 0);
	pass_message(chats_take, "x",
		"{\"utterance\":\"well\",\"lang\":\"de\",\"stream\":true,\"speak\":true}");
	answer_first("ovos.tools.list.response", "{\"tools\":[]}");
	expect_heard("\"type\": \"ovos.tools.chat.delta\"");
	expect_heard("{\"text\":\"Say \\\"well\\\".\"}");
	expect_heard("\"type\": \"speak\"");
	expect_heard("\"lang\":\"de\"");
	expect_heard("\"finish\":\"answer\"");
}
