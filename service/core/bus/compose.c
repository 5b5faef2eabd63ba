/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/compose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/request/trace.h"
#include "json/canonical.h"
#include "json/document.h"
#include "json/member.h"
#include "json/writer.h"
#include "message/response.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/file/stamp.h"

/*
 *   caller (core/call/invocation.c)     tool                 message
 *   {"session": {…}, "lang": "de"}  ──▶ session, context ──▶ {"type", "context", "data"}
 *                                       topic, data
 *
 * A question takes five messages, in the protocol of ovos-core: versions 2 need the activation,
 * versions 3 the session. Neither minds the other's.
 *
 *   ovos.session.sync                     the default session has us as its skill that gets the
 *                                         next utterance
 *   intent.service.skills.activate        the same, for ovos-core 2
 *   skill.converse.get_response.enable
 *   speak                                 with expect_response: the microphone opens after it
 *
 * and two close it: skill.converse.get_response.disable, for the next utterance, and
 * intent.service.skills.deactivate, so that the assistant does not ask us about later ones.
 */

#define DEFAULT_SESSION "default"
#define SKILL_CONTEXT                                                                              \
	"{\"source\":\"toolboxd\",\"session\":{\"session_id\":\"" DEFAULT_SESSION                  \
	"\"},\"skill_id\":\"" BUS_ASK_ID "\"}"
#define ACTIVATE   "intent.service.skills.activate"
#define ENABLE     "skill.converse.get_response.enable"
#define SKILL_DATA "{\"skill_id\":\"" BUS_ASK_ID "\"}"

/* The time after the deadline of a question for which the assistant keeps it open at most. */
#define ASK_EXPIRES_S 5

/* The caller, as far as messages need it. */
struct caller_texts {
	struct text_view session; /* JSON text of an object; absent: there is none */
	struct text_view lang;    /* JSON text of a string; absent: not known */
};

/* Take the texts out of the caller of @run. 0, or -ENOMEM. */
static int read_caller(struct bus_run *run, struct caller_texts *ret_texts)
{
	const struct buffer *caller = &run->call->caller;
	struct json_tape *tape = &run->calls->caller;
	uint32_t session;
	uint32_t lang;

	*ret_texts = (struct caller_texts){0};
	if (json_tape_read(tape, caller->data, caller->size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return -ENOMEM;
	session = json_find_typed_at(tape, 0, "session", JSON_OBJECT);
	lang = json_find_typed_at(tape, 0, "lang", JSON_STRING);
	if (lang != JSON_NONE)
		ret_texts->lang = json_value_view(tape, lang);
	if (session != JSON_NONE && !run->bus->has_own_session)
		ret_texts->session = json_value_view(tape, session);
	buffer_reset(&run->session);
	if (session != JSON_NONE && !run->bus->has_own_session) {
		uint32_t id = json_find_typed_at(tape, session, "session_id", JSON_STRING);

		if (id != JSON_NONE)
			json_string_decode(tape, id, &run->session);
	}
	if (run->session.size == 0)
		buffer_append_string(&run->session, DEFAULT_SESSION);
	return buffer_status(&run->session);
}

bool compose_may_ask(const struct bus_run *run)
{
	return buffer_is(&run->session, DEFAULT_SESSION);
}

/* Append the session of a message; @more: members for a default session, each after a comma. */
static void write_session(const struct caller_texts *caller, const char *more, struct buffer *out)
{
	if (caller->session.text && !*more) {
		buffer_append(out, caller->session.text, caller->session.size);
		return;
	}
	buffer_append_string(out, "{\"session_id\":\"" DEFAULT_SESSION "\"");
	if (caller->lang.text)
		json_write_member_json(out, "lang", caller->lang.text, caller->lang.size);
	buffer_append_string(out, more);
	buffer_append_char(out, '}');
}

/* Empty @out, and begin the context of a message of @run in it. */
static void begin_context(const struct bus_run *run, const struct caller_texts *caller,
	const char *more, struct buffer *out)
{
	const struct bus_call *bus = run->bus;
	cleanup(buffer_deinit) struct buffer trace = {0};

	buffer_reset(out);
	buffer_append_string(out, "{\"source\":\"toolboxd\"");
	if (bus->destination != JSON_NONE) {
		struct text_view view = json_value_view(&bus->tape, bus->destination);

		json_write_member_json(out, "destination", view.text, view.size);
	}
	buffer_printf(out, ",\"" BUS_MARK "\":\"%s\",\"session\":", run->mark);
	write_session(caller, more, out);
	trace_write_members(&run->calls->caller, 0, &trace);
	buffer_append_string(out, trace.size > 0 ? "," : "");
	buffer_append_buffer(out, &trace);
}

/* Return an empty message of @run with room for its text; NULL without memory. */
static struct buffer *next_message(struct bus_run *run)
{
	struct buffer *message;

	if (run->n_messages == run->capacity) {
		if (array_grow(run->messages, run->capacity) < 0)
			return NULL;
		run->messages[run->capacity++] = (struct buffer){0};
	}
	message = &run->messages[run->n_messages++];
	message->limit = run->calls->config->limits.frame_bytes + BUS_MESSAGE_ROOM_BYTES;
	return message;
}

/* Remember the message whose data are the last @size bytes at @data, when the run waits for
 * messages with its topic: the bus will return it. */
static void note_echo(struct bus_run *run, const char *topic, const char *data, size_t size)
{
	struct json_tape *tape = &run->calls->sent;
	struct buffer *canonical = &run->calls->scratch;

	if (!text_list_has(&run->bus->replies, topic) && !text_list_has(&run->bus->collects, topic))
		return;
	buffer_reset(canonical);
	if (json_tape_read(tape, data, size, JSON_DOCUMENT_DEPTH_MAX, NULL) == 0)
		json_write_canonical(canonical, tape, 0);
	run->echoes[run->n_echoes++] = (struct bus_echo){
		.topic = digest_bytes(DIGEST_SEED, topic, strlen(topic)),
		.digest = digest_bytes(DIGEST_SEED, canonical->data, canonical->size),
	};
}

/* Write @from, one of the messages of the tool. */
static int compose_message(
	struct bus_run *run, const struct caller_texts *caller, const struct bus_message *from)
{
	const struct json_tape *arguments = &run->calls->arguments;
	struct buffer *context = &run->calls->context;
	struct buffer *message = next_message(run);
	size_t before;

	if (!message)
		return -ENOMEM;
	begin_context(run, caller, "", context);
	bus_call_write_context(run->bus, from, arguments, context);
	buffer_append_char(context, '}');
	if (!buffer_terminate(context))
		return -ENOMEM;
	bus_request_begin(message, from->topic, context->data);
	before = message->size;
	bus_call_write_data(run->bus, from, arguments, message);
	if (buffer_status(message) == 0)
		note_echo(run, from->topic, message->data + before, message->size - before);
	bus_message_end(message);
	return buffer_status(message);
}

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

/* Write a message of a question: in a default session with the members @more, with @data. */
static int compose_step(struct bus_run *run, const struct caller_texts *caller, const char *topic,
	const char *more, const char *data)
{
	struct buffer *context = &run->calls->context;
	struct buffer *message = next_message(run);

	if (!message)
		return -ENOMEM;
	begin_context(run, caller, more, context);
	buffer_append_string(context, ",\"skill_id\":\"" BUS_ASK_ID "\"}");
	if (!buffer_terminate(context))
		return -ENOMEM;
	bus_request_begin(message, topic, context->data);
	buffer_append_string(message, data);
	bus_message_end(message);
	return buffer_status(message);
}

/* Write the message that speaks the text of the tool. @expects: it is a question. */
static int compose_speak(struct bus_run *run, const struct caller_texts *caller, bool expects)
{
	const struct config *config = run->calls->config;
	cleanup(buffer_deinit) struct buffer data = {.limit = config->limits.frame_bytes};

	buffer_append_string(&data, "{\"utterance\":");
	bus_call_write_ask(run->bus, &run->calls->arguments, &data);
	buffer_printf(&data, ",\"expect_response\":%s,\"meta\":{\"skill\":\"" BUS_ASK_ID "\"}",
		expects ? "true" : "false");
	if (caller->lang.text || config->lang)
		buffer_append_string(&data, ",\"lang\":");
	if (caller->lang.text)
		buffer_append(&data, caller->lang.text, caller->lang.size);
	else if (config->lang)
		json_write_text(&data, config->lang);
	buffer_append_char(&data, '}');
	if (!buffer_terminate(&data))
		return buffer_status(&data);
	return compose_step(run, caller, "speak", "", data.data);
}

static int compose_question(struct bus_run *run, const struct caller_texts *caller)
{
	double now_s = (double)stamp_now_ns() / 1e9;
	double expires_s =
		now_s + (double)runner_call_left_ms(run->call) / MS_PER_S + ASK_EXPIRES_S;
	char state[256];
	int r;

	snprintf(state, sizeof(state),
		",\"converse_handlers\":[{\"skill_id\":\"" BUS_ASK_ID
		"\",\"activated_at\":%.3f}],\"response_mode\":{\"skill_id\":\"" BUS_ASK_ID
		"\",\"expires_at\":%.3f}",
		now_s, expires_s);
	r = compose_step(run, caller, "ovos.session.sync", state, "{}");
	r = r ? r : compose_step(run, caller, ACTIVATE, "", SKILL_DATA);
	r = r ? r : compose_step(run, caller, ENABLE, "", SKILL_DATA);
	return r ? r : compose_speak(run, caller, true);
}

/* Write the message with the topic @topic about our skill into @message, unless it is NULL. */
static bool compose_about_skill(const char *topic, struct buffer *message)
{
	if (!topic)
		return false;
	bus_request_begin(message, topic, SKILL_CONTEXT);
	buffer_append_string(message, SKILL_DATA);
	bus_message_end(message);
	return true;
}

bool compose_reopen(size_t step, struct buffer *message)
{
	static const char *const topics[] = {ACTIVATE, ENABLE};

	return compose_about_skill(step < ARRAY_SIZE(topics) ? topics[step] : NULL, message);
}

bool compose_close(size_t step, struct buffer *message)
{
	static const char *const topics[] = {
		"skill.converse.get_response.disable", "intent.service.skills.deactivate"};

	return compose_about_skill(step < ARRAY_SIZE(topics) ? topics[step] : NULL, message);
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

int compose_messages(struct bus_run *run, const char *arguments, size_t size)
{
	const struct bus_call *bus = run->bus;
	struct json_tape *tape = &run->calls->arguments;
	struct caller_texts caller;
	bool has_condition;
	int r;

	/* They were read before: nothing but memory is missing. */
	if (json_tape_read(tape, arguments, size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return -ENOMEM;
	r = read_caller(run, &caller);
	has_condition = bus_call_condition_holds(bus, tape);
	run->wants_reply = has_condition && (bus->ask != JSON_NONE || bus->replies.n_items > 0);
	if (r == 0 && bus->ask != JSON_NONE)
		return has_condition ? compose_question(run, &caller)
				     : compose_speak(run, &caller, false);
	for (size_t i = 0; r == 0 && i < bus->n_messages; i++)
		r = compose_message(run, &caller, &bus->messages[i]);
	return r;
}
