/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/speech.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

/* The text of a model on its way to a person. Sentences are joined by '|'; '?' of an open
 * microphone is doubled. */

static struct turn_speech speech;
static struct buffer spoken;
static struct buffer deltas;

static void take_delta(void *data, const char *text, size_t size)
{
	cr_expect_eq(data, &speech);
	buffer_append(&deltas, text, size);
}

static void take_sentence(void *data, const char *sentence, size_t size, bool expects_answer)
{
	cr_expect_eq(data, &speech);
	buffer_append(&spoken, sentence, size);
	buffer_append_string(&spoken, expects_answer ? "?|" : "|");
}

static void set_up(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	speech.data = &speech;
	speech.delta = take_delta;
	speech.say = take_sentence;
}

static void tear_down(void)
{
	turn_speech_deinit(&speech);
	buffer_deinit(&spoken);
	buffer_deinit(&deltas);
}

TestSuite(turn_speech, .timeout = 60, .init = set_up, .fini = tear_down);

static void take(const char *text)
{
	turn_speech_take(&speech, text, strlen(text));
}

static void expect(const struct buffer *buffer, const char *text)
{
	cr_expect_eq(buffer->size, strlen(text), "%.*s", (int)buffer->size, buffer->data);
	cr_expect(buffer->size == 0 || memcmp(buffer->data, text, buffer->size) == 0);
}

Test(turn_speech, speaks_a_sentence_before_the_next_is_written)
{
	take("It is **no");
	expect(&spoken, "");
	take("on**. Are");
	expect(&spoken, "It is noon.|");
	take(" you hungry?");
	turn_speech_end(&speech);
	turn_speech_finish(&speech);
	expect(&spoken, "It is noon.|Are you hungry?|");
	expect(&deltas, "It is noon. Are you hungry?");
	expect(&speech.text, "It is noon. Are you hungry?");
}

Test(turn_speech, lets_only_a_last_question_open_the_microphone)
{
	speech.follows_up = true;
	take("Well? Fine. And you?");
	turn_speech_end(&speech);
	expect(&spoken, "Well?|Fine.|");
	turn_speech_finish(&speech);
	expect(&spoken, "Well?|Fine.|And you??|");
}

Test(turn_speech, begins_each_answer_anew)
{
	take("Let me look.");
	turn_speech_end(&speech);
	turn_speech_restart(&speech);
	take("Done.");
	turn_speech_end(&speech);
	expect(&spoken, "Let me look.|Done.|");
	expect(&speech.text, "Done.");
}

Test(turn_speech, is_silent_when_nobody_listens)
{
	speech.say = NULL;
	speech.delta = NULL;
	take("Yes.");
	turn_speech_end(&speech);
	turn_speech_finish(&speech);
	expect(&spoken, "");
	expect(&speech.text, "Yes.");
}
