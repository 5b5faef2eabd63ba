/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/speech.h"

#include "agent/words/sentences.h"
#include "util/cleanup.h"

static void release_question(struct turn_speech *speech, bool expects_answer)
{
	if (speech->question.size > 0)
		speech->say(
			speech->data, speech->question.data, speech->question.size, expects_answer);
	buffer_reset(&speech->question);
}

/* A sentence_function. */
static void pass_spoken(void *data, const char *text, size_t size)
{
	struct turn_speech *speech = data;

	speech->has_spoken = true;
	release_question(speech, false);
	if (speech->follows_up && text[size - 1] == '?')
		buffer_append(&speech->question, text, size);
	else
		speech->say(speech->data, text, size, false);
}

static void take_text_part(struct turn_speech *speech, const char *text, size_t size, bool is_end)
{
	cleanup(buffer_deinit) struct buffer plain = {0};

	plain_take(&speech->plain, text, size, is_end, &plain);
	buffer_append_buffer(&speech->text, &plain);
	if (plain.size > 0 && speech->delta)
		speech->delta(speech->data, plain.data, plain.size);
	if (speech->say && (plain.size > 0 || is_end))
		sentences_take(&speech->held, buffer_text(&plain), plain.size, is_end, pass_spoken,
			speech);
}

void turn_speech_take(struct turn_speech *speech, const char *text, size_t size)
{
	take_text_part(speech, text, size, false);
}

void turn_speech_end(struct turn_speech *speech)
{
	take_text_part(speech, "", 0, true);
}

void turn_speech_restart(struct turn_speech *speech)
{
	plain_deinit(&speech->plain);
	buffer_deinit(&speech->text);
	buffer_deinit(&speech->held);
}

void turn_speech_say(struct turn_speech *speech, const struct buffer *sentence)
{
	if (speech->say && sentence->size > 0 && buffer_status(sentence) == 0)
		pass_spoken(speech, sentence->data, sentence->size);
}

void turn_speech_finish(struct turn_speech *speech)
{
	if (speech->say)
		release_question(speech, true);
}

void turn_speech_deinit(struct turn_speech *speech)
{
	turn_speech_restart(speech);
	buffer_deinit(&speech->question);
}
