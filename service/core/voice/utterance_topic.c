/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/utterance_topic.h"

#include "core/request/errors.h"
#include "json/writer.h"

static const char hint[] = "lower result_max_chars, or let the tool return less";

/* Answer the request: the members of the answer to its call, and the words (utterance_function). */
static void answer_utterance(
	struct utterance *utterance, const struct text_view *data, const struct buffer *speech)
{
	struct answer *answer = &utterance->answer;
	struct buffer *out;

	answer_member_boolean(answer, "matched", true);
	buffer_append_char(&answer->message, ',');
	/* Without its braces; it has members. */
	buffer_append(&answer->message, data->text + 1, data->size - 2);
	out = answer_member(answer, "speech");
	if (speech->size > 0)
		json_write_string(out, speech->data, speech->size);
	else
		json_write_text(out, NULL);
	answer_make_fit(answer, utterance->owner->config->limits.frame_bytes, hint);
	answer_send(answer, utterance->owner->bus);
}

void utterance_serve(struct utterances *utterances, struct request_scope *scope,
	const struct match *match, struct buffer *args, struct answer *answer)
{
	cleanup(speech_deinit) struct speech speech = {0};
	struct utterance_parts parts = {
		.tool = match->tool,
		.args = args,
		.language = request_scope_language(scope, utterances->config->lang),
		.speech = &speech,
		.answer = answer,
		.ended = answer_utterance,
	};

	if (!match->is_complete) {
		answer_member_boolean(answer, "matched", false);
		return;
	}
	if (scope->request.wants_speech)
		speech_init(&speech, &scope->envelope, SPEECH_SKILL_ID, true);
	if (!utterance_begin(utterances, scope, &parts))
		errors_write_too_many(answer, &scope->caller.source, 1,
			"their requests hold as much memory as they may (limits.peer_bytes)");
}
