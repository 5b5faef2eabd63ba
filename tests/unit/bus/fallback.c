/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/ovos/fallback.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "loop/loop.h"
#include "util/log.h"

/* Messages of a fallback skill, on a bus of our own. */

static struct loop *loop;
static struct bus *bus;
static struct buffer came; /* every frame, each with a line feed after it */
static unsigned int n_frames;

static void take_frame(void *data, const char *text, size_t size)
{
	(void)data;
	buffer_append(&came, text, size);
	buffer_append_char(&came, '\n');
	n_frames++;
	loop_stop(loop);
}

static void set_up(void)
{
	static const struct bus_handler handler = {.frame = take_frame};
	struct bus_address address = bus_address_default;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	address.port = 0;
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, NULL, &bus), 0);
	for (int i = 0; i < 1000 && !bus_is_up(bus); i++)
		loop_run(loop, 5);
}

static void tear_down(void)
{
	bus_free(bus);
	loop_free(loop);
	buffer_deinit(&came);
}

TestSuite(fallback, .timeout = 60, .init = set_up, .fini = tear_down);

/* Wait for @n frames, and expect the part @part among them. */
static void expect_frames(unsigned int n, const char *part)
{
	for (int i = 0; i < 1000 && n_frames < n; i++)
		loop_run(loop, 5);
	cr_assert_eq(n_frames, n);
	cr_assert(buffer_terminate(&came));
	cr_expect(strstr(came.data, part), "%s", came.data);
}

/* Make the speech about a message with the context @context. */
static void make_speech(const char *context, struct speech *speech)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	char text[256];

	snprintf(text, sizeof(text), "{\"type\":\"x\",\"context\":%s}", context);
	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), 16), 0);
	speech_init(speech, &envelope, "me", false);
}

Test(fallback, registers)
{
	fallback_send_registration(bus, "me", 7, false);
	expect_frames(1, "\"data\": {\"skill_id\":\"me\",\"priority\":7}}");
	expect_frames(1, "{\"type\": \"ovos.skills.fallback.register\"");
	fallback_send_registration(bus, "me", 7, true);
	expect_frames(2, "{\"type\": \"ovos.skills.fallback.deregister\"");
}

Test(fallback, answers_a_question)
{
	cleanup(speech_deinit) struct speech speech = {0};

	make_speech("{\"n\":1.0}", &speech);
	fallback_send_pong(&speech, bus, true);
	expect_frames(1, "\"context\": {\"n\":1.0, \"skill_id\":\"me\"}");
	expect_frames(1, "\"data\": {\"skill_id\":\"me\",\"can_handle\":true}");
	fallback_send_converse(&speech, bus);
	expect_frames(2, "skill.converse.pong");
}

Test(fallback, ends_an_utterance)
{
	cleanup(speech_deinit) struct speech speech = {0};

	make_speech("{}", &speech);
	fallback_send_start(&speech, bus);
	fallback_send_end(&speech, bus, true, false);
	expect_frames(3, "\"ovos.skills.fallback.me.start\"");
	expect_frames(3, "\"data\": {\"result\":true,\"fallback_handler\":\"me\"}");
	expect_frames(3, "ovos.utterance.handled");
}

Test(fallback, leaves_the_end_to_a_core_with_ids)
{
	cleanup(speech_deinit) struct speech speech = {0};

	make_speech("{\"utterance_id\":\"u\"}", &speech);
	fallback_send_end(&speech, bus, false, true);
	expect_frames(2, "\"ovos.skills.fallback.me.killed\"");
	expect_frames(2, "\"data\": {\"result\":false,\"fallback_handler\":null}");
	cr_expect_not(strstr(came.data, "handled"));
}

Test(fallback, speaks_in_the_context_of_the_utterance)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(buffer_deinit) struct buffer lang = {0};

	make_speech("{\"skill_id\":\"other\",\"n\":1}", &speech);
	speech_say(&speech, bus, &TEXT_VIEW("say \"well\""), &lang, true);
	expect_frames(1,
		"{\"type\": \"speak\", \"context\": {\"skill_id\":\"me\",\"n\":1}, \"data\": "
		"{\"utterance\":\"say \\\"well\\\"\",\"expect_response\":true,"
		"\"meta\":{\"skill\":\"me\"},\"lang\":\"\"}}");
	buffer_append_string(&lang, "de-DE");
	speech_say(&speech, bus, &TEXT_VIEW("well"), &lang, false);
	expect_frames(2,
		"{\"utterance\":\"well\",\"expect_response\":false,\"meta\":{\"skill\":\"me\"},"
		"\"lang\":\"de-DE\"}");
}

Test(fallback, speaks_in_the_context_of_a_response)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	static const char text[] =
		"{\"type\":\"x\",\"context\":{\"source\":\"a\",\"destination\":\"b\"}}";

	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), 16), 0);
	speech_init(&speech, &envelope, "me", true);
	fallback_send_start(&speech, bus);
	expect_frames(1, "\"source\":\"b\"");
	expect_frames(1, "\"destination\"");
}

Test(fallback, has_contexts_up_to_a_bound)
{
	static const struct {
		size_t size;
		bool is_sent;
	} rows[] = {{SPEECH_CONTEXT_BYTES, true}, {SPEECH_CONTEXT_BYTES + 1, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(speech_deinit) struct speech speech = {0};
		cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
		cleanup(buffer_deinit) struct buffer text = {0};

		buffer_append_string(&text, "{\"type\":\"x\",\"context\":{\"n\":\"");
		for (size_t n = strlen("{\"n\":\"\"}"); n < rows[i].size; n++)
			buffer_append_char(&text, 'n');
		buffer_append_string(&text, "\"}}");
		cr_assert_eq(bus_envelope_read(&envelope, text.data, text.size, 16), 0);
		speech_init(&speech, &envelope, "me", false);
		cr_expect_eq(speech.context.size > 0, rows[i].is_sent, "%zu", rows[i].size);
	}
}
