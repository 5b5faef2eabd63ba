/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/utterance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "catalogue/package.h"
#include "catalogue/voice/spoken.h"
#include "core/call/cancel.h"
#include "core/request/errors.h"
#include "json/document.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/cleanup.h"

static struct utterance *utterance_of(struct address *address)
{
	return container_of(address, struct utterance, address);
}

static void free_utterance(struct address *address)
{
	struct utterance *utterance = utterance_of(address);

	list_remove(&utterance->link);
	account_release(utterance->account, utterance->held_bytes);
	account_unref(utterance->account);
	package_unref(utterance->package);
	buffer_deinit(&utterance->args);
	buffer_deinit(&utterance->language);
	buffer_deinit(&utterance->session);
	speech_deinit(&utterance->speech);
	answer_deinit(&utterance->answer);
	loop_timer_deinit(&utterance->wait);
	free(utterance);
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

/* Append the sentence @face of @utterance, and the tag of its language. */
static void write_sentence(const struct utterance *utterance, enum spoken_face face,
	struct spoken_values *values, struct buffer *out, struct buffer *ret_tag)
{
	cleanup(json_tape_cleanup) struct json_tape args = {0};
	const struct text_view tag = {utterance->language.data, utterance->language.size};

	if (json_tape_read(&args, utterance->args.data, utterance->args.size,
		    JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return;
	values->arguments = &args;
	spoken_write(utterance->tool->spoken, face, tag, values, out, ret_tag);
}

static void say(
	const struct utterance *utterance, const struct buffer *sentence, const struct buffer *tag)
{
	if (sentence->size > 0 && buffer_status(sentence) == 0)
		speech_say(&utterance->speech, utterance->owner->bus,
			&(struct text_view){sentence->data, sentence->size}, tag, false);
}

/* The call takes a while. */
static void say_wait(void *data)
{
	struct utterance *utterance = data;
	struct account *before = bus_act_for(utterance->owner->bus, utterance->account);
	cleanup(buffer_deinit) struct buffer sentence = {0};
	cleanup(buffer_deinit) struct buffer tag = {0};
	struct spoken_values values = {0};

	write_sentence(utterance, SPOKEN_WAIT, &values, &sentence, &tag);
	if (!utterance->is_silent)
		say(utterance, &sentence, &tag);
	bus_act_for(utterance->owner->bus, before);
}

/* Append the words about the result in the answer @data. */
static void write_done(const struct utterance *utterance, const struct text_view *data,
	struct buffer *out, struct buffer *ret_tag)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(json_tape_cleanup) struct json_tape result = {0};
	struct spoken_values values = {.result = &result};
	struct text_view text;
	uint32_t member;

	if (json_tape_read(&tape, data->text, data->size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return;
	member = json_find_typed_at(&tape, 0, "result", JSON_OBJECT);
	if (member == JSON_NONE)
		return;
	text = json_value_view(&tape, member);
	if (json_tape_read(&result, text.text, text.size, JSON_DOCUMENT_DEPTH_MAX, NULL) == 0)
		write_sentence(utterance, SPOKEN_DONE, &values, out, ret_tag);
}

/* Append the words about the error of @answer. */
static void write_failed(const struct utterance *utterance, const struct answer *answer,
	struct buffer *out, struct buffer *ret_tag)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer json = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	struct spoken_values values = {0};

	errors_write_reason(answer, utterance->tool, &json);
	if (buffer_status(&json) < 0 ||
		json_tape_read(&tape, json.data, json.size, JSON_DEPTH_DEFAULT, NULL) != 0)
		return;
	json_string_decode(&tape, 0, &reason);
	values.error = buffer_view(&reason);
	write_sentence(utterance, SPOKEN_FAILED, &values, out, ret_tag);
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

/* Take the answer to the call (struct address_operations). */
static void take_call_answer(struct address *address, struct answer *answer)
{
	struct utterance *utterance = utterance_of(address);
	cleanup(buffer_deinit) struct buffer speech = {0};
	cleanup(buffer_deinit) struct buffer tag = {0};
	struct text_view data;

	data.text = bus_message_text(&answer->message, &data.size);
	loop_timer_disarm(&utterance->wait);
	list_remove(&utterance->link);
	if (!utterance->is_silent && answer_is_error(answer))
		write_failed(utterance, answer, &speech, &tag);
	else if (!utterance->is_silent)
		write_done(utterance, &data, &speech, &tag);
	say(utterance, &speech, &tag);
	utterance->ended(utterance, &data, &speech);
	address_unref(address);
}

/* ── the beginning ───────────────────────────────────────────────────────────────────────────── */

void utterances_init(struct utterances *utterances, struct loop *loop, const struct config *config,
	int (*take)(void *data, struct address *address, const struct request_text *text),
	void *data)
{
	*utterances =
		(struct utterances){.loop = loop, .config = config, .take = take, .data = data};
	list_init(&utterances->running);
}

void utterances_deinit(struct utterances *utterances)
{
	struct list *link;

	if (!utterances->loop)
		return;
	while ((link = list_take_first(&utterances->running)))
		address_unref(&container_of(link, struct utterance, link)->address);
}

/* Write the message that calls the tool of @parts, in the context of the message in @scope. */
static void write_call(
	const struct request_scope *scope, const struct utterance_parts *parts, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer context = {0};
	const struct text_view *profile = &scope->request.profile;
	size_t size;
	const char *text = json_value_text(&scope->envelope.context, 0, &size);

	buffer_append(&context, text, size);
	buffer_append_string(out, "{\"type\":\"ovos.tools.invoke\",\"data\":{\"name\":");
	json_write_text(out, parts->tool->name);
	json_write_member_text(out, "toolbox_id", parts->tool->toolbox->id);
	if (scope->fields & REQUEST_PROFILE && profile->text) {
		buffer_append_string(out, ",\"profile\":");
		json_write_string(out, profile->text, profile->size);
	}
	buffer_append_string(out, ",\"args\":");
	buffer_append_buffer(out, parts->args);
	buffer_append_string(out, "},\"context\":");
	if (parts->source && buffer_status(&context) == 0)
		speech_context_with(&context, "source", parts->source, out);
	else
		buffer_append_buffer(out, &context);
	buffer_append_char(out, '}');
}

void utterance_write_session(const struct request_scope *scope, struct buffer *out)
{
	const struct text_view *id = &scope->caller.session_id;

	if (id->text)
		json_write_string(out, id->text, id->size);
	else
		json_write_text(out, "default");
}

/* Return an utterance with its parts copied, charged to the sender of the message in @scope; NULL
 * when that is not possible. */
static struct utterance *make_utterance(struct utterances *utterances,
	const struct request_scope *scope, const struct utterance_parts *parts)
{
	static const struct address_operations operations = {
		.answer = take_call_answer,
		.free = free_utterance,
	};
	struct utterance *utterance = calloc(1, sizeof(*utterance));
	size_t bytes = parts->args->size + parts->speech->context.size;

	if (!utterance)
		return NULL;
	utterance->address =
		(struct address){.operations = &operations, .references = 1, .door = CALL_DOOR_BUS};
	utterance->owner = utterances;
	list_init(&utterance->link);
	utterance->ended = parts->ended;
	utterance->tool = parts->tool;
	utterance->package = package_ref(parts->tool->toolbox->package);
	buffer_append(&utterance->language, parts->language.text, parts->language.size);
	utterance_write_session(scope, &utterance->session);
	if (buffer_status(&utterance->language) < 0 || buffer_status(&utterance->session) < 0 ||
		loop_timer_init(&utterance->wait, utterances->loop, say_wait, utterance) < 0 ||
		!account_hold(bus_sender(utterances->bus), bytes)) {
		address_unref(&utterance->address);
		return NULL;
	}
	utterance->account = account_ref(bus_sender(utterances->bus));
	utterance->held_bytes = bytes;
	return utterance;
}

/* Answer the call of @utterance, which could not be made. */
static void refuse_call(struct utterance *utterance)
{
	struct answer answer;

	answer_begin_at(&answer, &utterance->address);
	answer_member_text(&answer, "name", utterance->tool->name);
	errors_write_unavailable(&answer, utterance->tool, strerror(ENOMEM));
	answer_send(&answer, utterance->owner->bus);
}

bool utterance_begin(struct utterances *utterances, struct request_scope *scope,
	const struct utterance_parts *parts)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	struct utterance *utterance = make_utterance(utterances, scope, parts);
	struct request_text text = {0};

	if (!utterance)
		return false;
	write_call(scope, parts, &message);
	if (!buffer_terminate(&message)) {
		address_unref(&utterance->address);
		return false;
	}
	utterance->args = *parts->args;
	utterance->speech = *parts->speech;
	*parts->args = (struct buffer){0};
	*parts->speech = (struct speech){0};
	if (parts->answer)
		utterance->answer = answer_take(parts->answer);
	list_append(&utterances->running, &utterance->link);
	if (utterance->speech.context.size > 0)
		loop_timer_arm(&utterance->wait, UTTERANCE_WAIT_MS);
	/* The call is a request of its own. */
	scope->waited = NULL;
	scope->checked = NULL;
	scope->is_beside = false;
	text.message = (struct text_view){message.data, message.size};
	address_ref(&utterance->address);
	if (utterances->take(utterances->data, &utterance->address, &text) != 0)
		refuse_call(utterance);
	address_unref(&utterance->address);
	return true;
}

/* Return the first utterance to be silent whose call is not cancelled yet, or NULL. */
static struct utterance *first_uncancelled(struct utterances *utterances)
{
	list_each(struct utterance, utterance, &utterances->running, link) {
		if (utterance->is_silent && !utterance->is_cancelled)
			return utterance;
	}
	return NULL;
}

/* Cancel the calls of silent utterances. Each search begins anew, since the end of one call may end
 * others. */
static void cancel_silent(struct utterances *utterances, const struct invoker *invoker)
{
	struct utterance *utterance;

	while ((utterance = first_uncancelled(utterances))) {
		utterance->is_cancelled = true;
		cancel_address(invoker, &utterance->address);
	}
}

void utterances_silence(struct utterances *utterances, const struct buffer *session,
	utterance_function ended, const struct invoker *invoker)
{
	list_each(struct utterance, utterance, &utterances->running, link) {
		if (utterance->ended == ended && buffer_equals(&utterance->session, session))
			utterance->is_silent = true;
	}
	cancel_silent(utterances, invoker);
}

bool utterances_run_in(const struct utterances *utterances, const struct buffer *session)
{
	list_each(struct utterance, utterance, &utterances->running, link)
		if (buffer_equals(&utterance->session, session))
			return true;
	return false;
}

/* Return whether the call of @utterance has the id @mark. */
static bool has_mark(const struct utterance *utterance, const struct text_view *mark,
	const struct invoker *invoker)
{
	const struct call *call =
		mark->text ? calls_find_address(invoker->calls, &utterance->address) : NULL;

	return call && call_has_id(invoker->calls->process, call->runner_call.id, mark);
}

bool utterances_stop(struct utterances *utterances, const struct buffer *session,
	const struct text_view *mark, const struct invoker *invoker)
{
	bool is_any = false;

	list_each(struct utterance, utterance, &utterances->running, link) {
		if (!buffer_equals(&utterance->session, session) ||
			has_mark(utterance, mark, invoker))
			continue;
		is_any = utterance->is_silent = utterance->is_stopped = true;
	}
	cancel_silent(utterances, invoker);
	return is_any;
}
