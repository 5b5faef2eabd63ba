/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/stopping.h"

#include <string.h>

#include "bus/ovos/speech.h"
#include "json/member.h"
#include "json/writer.h"

#define OURS "\"skill_id\":\"" SPEECH_SKILL_ID "\""

/* The only session in which a question to a person is open, as utterance_write_session() has it. */
#define DEFAULT_SESSION "\"default\""

/* Append the session of the message in the scope, as utterance_write_session() has it. */
static void write_session_id(const struct stopping *stopping, struct buffer *out)
{
	const struct bus_envelope *envelope = &stopping->scope->envelope;
	const struct json_tape *context = &envelope->context;
	cleanup(buffer_deinit) struct buffer decoded = {0};
	uint32_t id = JSON_NONE;

	if (envelope->session != JSON_NONE &&
		json_type_at(context, envelope->session) == JSON_OBJECT)
		id = json_find_typed_at(context, envelope->session, "session_id", JSON_STRING);
	if (id == JSON_NONE) {
		buffer_append_string(out, DEFAULT_SESSION);
		return;
	}
	json_string_decode(context, id, &decoded);
	json_write_buffer(out, &decoded);
}

/* Return the mark of the call that has sent the message in the scope; absent: no call of ours. */
static struct text_view find_mark(const struct stopping *stopping)
{
	const struct json_tape *context = &stopping->scope->envelope.context;
	uint32_t mark = json_find_typed_at(context, 0, BUS_MARK, JSON_STRING);

	if (mark == JSON_NONE)
		return (struct text_view){0};
	return (struct text_view){json_bytes(context, mark), json_at(context, mark)->length};
}

/* End what can be stopped in the session of the message in the scope. Return whether there was
 * anything. */
static bool stop(struct stopping *stopping)
{
	cleanup(buffer_deinit) struct buffer session = {0};
	cleanup(buffer_deinit) struct buffer mark_text = {0};
	struct text_view mark = find_mark(stopping);
	bool is_question;

	/* The end of a call may read another message into the scope. */
	if (mark.text)
		buffer_append(&mark_text, mark.text, mark.size);
	write_session_id(stopping, &session);
	if (buffer_status(&session) < 0 || buffer_status(&mark_text) < 0)
		return false;
	mark.text = mark.text ? mark_text.data : NULL;
	is_question = buffer_is(&session, DEFAULT_SESSION) &&
		      bus_calls_stop_question(stopping->bus_calls);
	return utterances_stop(stopping->utterances, &session, &mark, stopping->invoker) ||
	       is_question;
}

void stopping_take_ping(struct stopping *stopping)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(buffer_deinit) struct buffer session = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	bool can_stop;

	write_session_id(stopping, &session);
	can_stop =
		utterances_run_in(stopping->utterances, &session) ||
		(buffer_is(&session, DEFAULT_SESSION) && bus_calls_are_asking(stopping->bus_calls));
	speech_init(&speech, &stopping->scope->envelope, SPEECH_SKILL_ID, false);
	buffer_printf(&data, "{" OURS ",\"can_handle\":%s}", can_stop ? "true" : "false");
	speech_send(&speech, stopping->utterances->bus, "skill.stop.pong", &data);
}

void stopping_take_ours(struct stopping *stopping)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(buffer_deinit) struct buffer response = {0};
	cleanup(buffer_deinit) struct buffer completion = {0};

	/* It is answered once. */
	if (bus_envelope_is_skill_twin(&stopping->scope->envelope))
		return;
	speech_init(&speech, &stopping->scope->envelope, SPEECH_SKILL_ID, false);
	buffer_printf(&response, "{" OURS ",\"result\":%s}", stop(stopping) ? "true" : "false");
	speech_send(
		&speech, stopping->utterances->bus, SPEECH_SKILL_ID ".stop.response", &response);
	buffer_append_string(
		&completion, "{\"name\":\"" SPEECH_SKILL_ID ".stop\",\"intent_name\":\"stop\"}");
	speech_send(
		&speech, stopping->utterances->bus, "mycroft.skill.handler.complete", &completion);
}

void stopping_take_all(struct stopping *stopping)
{
	stop(stopping);
}
