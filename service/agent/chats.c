/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/chats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/ovos/fallback.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "message/response.h"
#include "util/cleanup.h"
#include "util/stringify.h"

_Static_assert(CHAT_UTTERANCE_BYTES == 65536 && CHAT_SYSTEM_BYTES == 131072 &&
		       SPEECH_CONTEXT_BYTES == 65536,
	"as the mistakes have it");

#define HISTORY_LIMIT     100
#define HISTORY_LIMIT_MAX 10000

/* While more bytes than these wait for the bus, there are no deltas: the answer needs the room. */
#define DELTA_QUEUE_BYTES (4u << 20)

struct chat {
	struct list link;
	struct chats *owner;
	struct setup *setup; /* held */
	struct session *session;
	struct turn_wishes wishes; /* until the turn begins */
	struct turn *turn;         /* NULL: it waits */
	struct speech speech;      /* the context of messages beside the response */
	struct buffer response;    /* up to its data; empty of a fallback */
	struct buffer lang;
	unsigned int share;
	bool is_fallback;
	bool is_killed; /* ovos-core does not wait any longer */
};

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

/* Answer the message in @envelope with the data @data. */
static void respond(
	const struct chats *chats, const struct bus_envelope *envelope, const struct buffer *data)
{
	struct buffer message = {0};

	bus_response_begin(&message, envelope);
	buffer_append_buffer(&message, data);
	bus_message_end(&message);
	bus_send(chats->bus, &message, bus_response_share(envelope));
}

static void write_error_data(struct buffer *out, const char *code, const char *error)
{
	buffer_append_string(out, "{\"error\":");
	json_write_text(out, error);
	json_write_member_text(out, "code", code);
	buffer_append_char(out, '}');
}

static void respond_error(const struct chats *chats, const struct bus_envelope *envelope,
	const char *code, const char *error)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	write_error_data(&data, code, error);
	respond(chats, envelope, &data);
}

/* ── the session of a message ────────────────────────────────────────────────────────────────── */

/* Return the session_id of the message as JSON; "default" without one. */
static struct text_view session_of(const struct bus_envelope *envelope)
{
	const struct json_tape *context = &envelope->context;
	uint32_t id = json_find_typed(context, envelope->session, "session_id", JSON_STRING);

	if (id == JSON_NONE || json_at(context, id)->length == 0)
		return TEXT_VIEW("\"default\"");
	return json_value_view(context, id);
}

/* Return the source of the message as JSON; empty without one. */
static struct text_view source_of(const struct bus_envelope *envelope)
{
	if (envelope->source == JSON_NONE ||
		json_type_at(&envelope->context, envelope->source) == JSON_NULL)
		return (struct text_view){"", 0};
	return json_value_view(&envelope->context, envelope->source);
}

static bool is_of_session(const struct session *session, struct text_view id)
{
	return session->id.size == id.size && memcmp(session->id.data, id.text, id.size) == 0;
}

/* Write the members of the context for requests in the name of a person with the source @source. */
static void write_person(
	const struct bus_envelope *envelope, struct text_view source, struct buffer *out)
{
	struct text_view session = {0};

	if (envelope->session != JSON_NONE &&
		json_type_at(&envelope->context, envelope->session) == JSON_OBJECT)
		session = json_value_view(&envelope->context, envelope->session);
	if (source.size > 0) {
		buffer_append_string(out, "\"source\":");
		buffer_append(out, source.text, source.size);
		buffer_append_char(out, ',');
	}
	buffer_append_string(out, "\"session\":");
	if (session.text && session.size <= CHAT_SESSION_BYTES) {
		buffer_append(out, session.text, session.size);
		return;
	}
	session = session_of(envelope);
	buffer_append_string(out, "{\"session_id\":");
	buffer_append(out, session.text, session.size);
	buffer_append_char(out, '}');
}

/* Append the language of the message: its own, else of the session, else of the device. */
static void write_lang(
	const struct chats *chats, const struct bus_envelope *envelope, struct buffer *out)
{
	const struct json_tape *context = &envelope->context;
	uint32_t lang = json_find_typed_at(&envelope->data, 0, "lang", JSON_STRING);

	if (lang != JSON_NONE) {
		json_string_decode(&envelope->data, lang, out);
		return;
	}
	lang = json_find_typed(context, envelope->session, "lang", JSON_STRING);
	if (lang != JSON_NONE)
		json_string_decode(context, lang, out);
	else if (chats->setup->config.lang)
		buffer_append_string(out, chats->setup->config.lang);
}

/* ── the life of a chat ──────────────────────────────────────────────────────────────────────── */

static void free_chat(struct chat *chat)
{
	list_remove(&chat->link);
	if (chat->session && chat->session->chat == chat)
		chat->session->chat = NULL;
	turn_free(chat->turn);
	setup_release(chat->setup);
	turn_wishes_deinit(&chat->wishes);
	speech_deinit(&chat->speech);
	buffer_deinit(&chat->response);
	buffer_deinit(&chat->lang);
	free(chat);
}

/* Send the response with the data @data. When the queue of the bus has no room for it, send a short
 * error in our own share, so the asker does not wait for ever. */
static void respond_to_chat(struct chat *chat, const struct buffer *data)
{
	cleanup(buffer_deinit) struct buffer busy = {0};
	int r;

	if (chat->response.size == 0)
		return;
	buffer_append_buffer(&busy, &chat->response);
	buffer_append_buffer(&chat->response, data);
	bus_message_end(&chat->response);
	r = bus_send(chat->owner->bus, &chat->response, chat->share);
	if (r != -ENOBUFS && r != -ENOMEM)
		return;
	write_error_data(&busy, "busy", "RuntimeError: The bus has no room for the answer");
	bus_message_end(&busy);
	bus_send(chat->owner->bus, &busy, BUS_SHARE_OWN);
}

static void send_delta(void *data, const char *text, size_t size)
{
	const struct chat *chat = data;
	cleanup(buffer_deinit) struct buffer delta = {0};

	if (bus_queued_bytes(chat->owner->bus) > DELTA_QUEUE_BYTES)
		return;
	buffer_append_string(&delta, "{\"text\":");
	json_write_bytes_lossy(&delta, text, size);
	buffer_append_char(&delta, '}');
	speech_send(&chat->speech, chat->owner->bus, "ovos.tools.chat.delta", &delta);
}

static void send_sentence(void *data, const char *sentence, size_t size, bool expects_answer)
{
	const struct chat *chat = data;

	speech_say(&chat->speech, chat->owner->bus, &(struct text_view){sentence, size},
		&chat->lang, expects_answer);
}

static void run_waiting(struct chats *chats);

static void end_chat(void *data)
{
	struct chat *chat = data;
	struct chats *chats = chat->owner;
	const struct turn *turn = chat->turn;
	cleanup(buffer_deinit) struct buffer outcome = {0};

	turn_write(turn, &outcome);
	/* After our own words, and after a stop, no other skill is to speak. */
	if (chat->is_fallback)
		fallback_send_end(&chat->speech, chats->bus,
			!chat->is_killed && (turn->finish != TURN_ERROR || turn->speech.has_spoken),
			chat->is_killed);
	else
		respond_to_chat(chat, &outcome);
	chats->n_running--;
	free_chat(chat);
	sessions_trim(&chats->sessions);
	run_waiting(chats);
}

static const struct turn_handler turn_handler = {send_delta, send_sentence, end_chat};

/* End a waiting chat. */
static void refuse_chat(struct chat *chat, const char *code, const char *error)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	write_error_data(&data, code, error);
	if (chat->is_fallback)
		fallback_send_end(&chat->speech, chat->owner->bus, false, chat->is_killed);
	else
		respond_to_chat(chat, &data);
	free_chat(chat);
}

/* Begin the turn of @chat. Return false when the chat was refused, and is gone. */
static bool run_chat(struct chat *chat)
{
	struct chats *chats = chat->owner;
	const struct turn_parts parts = {
		.loop = chats->loop,
		.config = &chat->setup->config,
		.asking = chats->asking,
		.model = chat->setup->model,
		.history = &chat->session->history,
		.has_told_away = &chat->session->has_told_away,
	};

	chat->turn = turn_new(&parts, &chat->wishes, &turn_handler, chat, ++chats->n_turns);
	if (!chat->turn) {
		refuse_chat(chat, "busy", "RuntimeError: There is not enough memory");
		return false;
	}
	list_append(&chats->running, &chat->link);
	chats->n_running++;
	return true;
}

static void run_waiting(struct chats *chats)
{
	while (chats->n_running < CHATS_RUNNING) {
		struct list *link = list_take_first(&chats->waiting);

		if (!link)
			return;
		chats->n_waiting--;
		run_chat(container_of(link, struct chat, link));
	}
}

/* End @chat, if there is one. A conversation without a chat may be forgotten meanwhile. */
static bool cancel_chat(struct chat *chat)
{
	if (!chat)
		return false;
	if (!chat->turn) {
		/* A turn cancelled before its first step has the same end as any other. */
		list_remove(&chat->link);
		chat->owner->n_waiting--;
		if (!run_chat(chat))
			return true;
	}
	turn_cancel(chat->turn);
	return true;
}

/* Let the new @chat run or wait in the conversation of @source. */
static void admit_chat(struct chat *chat, struct text_view source, struct text_view session_id)
{
	struct chats *chats = chat->owner;
	struct session *session = sessions_take(&chats->sessions, source, session_id);
	struct chat *earlier = session ? session->chat : NULL;

	/* The conversation has a chat at all times, so the end of the earlier chat keeps it. */
	chat->session = session;
	if (session)
		session->chat = chat;
	cancel_chat(earlier);
	if (!session || (chats->n_running >= CHATS_RUNNING && chats->n_waiting >= CHATS_WAITING)) {
		refuse_chat(chat, "busy", "RuntimeError: Too many turns are waiting");
		return;
	}
	if (chats->n_running < CHATS_RUNNING) {
		run_chat(chat);
		return;
	}
	list_append(&chats->waiting, &chat->link);
	chats->n_waiting++;
}

static struct chat *make_chat(struct chats *chats, const struct bus_envelope *envelope)
{
	struct chat *chat = calloc(1, sizeof(*chat));

	if (!chat)
		return NULL;
	list_init(&chat->link);
	chat->owner = chats;
	chat->setup = setup_hold(chats->setup);
	chat->share = bus_response_share(envelope);
	write_lang(chats, envelope, &chat->lang);
	write_lang(chats, envelope, &chat->wishes.lang);
	if (chats->setup->config.profile)
		buffer_append_string(&chat->wishes.profile, chats->setup->config.profile);
	return chat;
}

static bool is_whole(const struct chat *chat)
{
	const struct turn_wishes *wishes = &chat->wishes;

	return buffer_status(&chat->lang) == 0 && buffer_status(&wishes->lang) == 0 &&
	       buffer_status(&wishes->utterance) == 0 && buffer_status(&wishes->person) == 0 &&
	       buffer_status(&wishes->profile) == 0 && buffer_status(&wishes->system) == 0;
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

struct chat_fields {
	uint32_t utterance;
	uint32_t profile;
	uint32_t system;
	uint32_t stream;
	uint32_t speak;
};

/* Return whether the value at @profile is the name of a profile: not absent, and not "". */
static bool names_profile(const struct json_tape *data, uint32_t profile)
{
	return profile != JSON_NONE && json_at(data, profile)->length > 0;
}

/* Return the text about a member of another type or value than it must have, or NULL. @profile: the
 * only profile; NULL: any. */
static const char *check_fields(
	const struct json_tape *data, const struct chat_fields *fields, const char *profile)
{
	uint32_t lang = json_find_root(data, "lang");

	if (fields->utterance == JSON_NONE ||
		json_type_at(data, fields->utterance) != JSON_STRING ||
		json_at(data, fields->utterance)->length == 0)
		return "ValueError: Bad request: 'utterance' must be a text that is not empty";
	if (json_at(data, fields->utterance)->length > CHAT_UTTERANCE_BYTES)
		return "ValueError: Bad request: 'utterance' must have at most 65536 bytes";
	if (lang != JSON_NONE && json_type_at(data, lang) != JSON_STRING)
		return "ValueError: Bad request: 'lang' must be a text";
	if (fields->profile != JSON_NONE && json_type_at(data, fields->profile) != JSON_STRING)
		return "ValueError: Bad request: 'profile' must be a text";
	if (profile && *profile && names_profile(data, fields->profile) &&
		!json_is_text(data, fields->profile, profile))
		return "ValueError: Bad request: 'profile' must be the agent's own, or absent";
	if (fields->system != JSON_NONE &&
		(json_type_at(data, fields->system) != JSON_STRING ||
			json_at(data, fields->system)->length > CHAT_SYSTEM_BYTES))
		return "ValueError: Bad request: 'system' must be a text of at most 131072 bytes";
	if (fields->stream != JSON_NONE && json_type_at(data, fields->stream) != JSON_TRUE &&
		json_type_at(data, fields->stream) != JSON_FALSE)
		return "ValueError: Bad request: 'stream' must be true or false";
	if (fields->speak != JSON_NONE && json_type_at(data, fields->speak) != JSON_TRUE &&
		json_type_at(data, fields->speak) != JSON_FALSE)
		return "ValueError: Bad request: 'speak' must be true or false";
	return NULL;
}

/* Fill the wishes by @fields. */
static void read_wishes(const struct chats *chats, const struct json_tape *data,
	const struct chat_fields *fields, struct turn_wishes *wishes)
{
	json_string_decode(data, fields->utterance, &wishes->utterance);
	if (names_profile(data, fields->profile)) {
		buffer_reset(&wishes->profile);
		json_string_decode(data, fields->profile, &wishes->profile);
	}
	if (fields->system != JSON_NONE)
		json_string_decode(data, fields->system, &wishes->system);
	wishes->streams = fields->stream != JSON_NONE && json_is_true(data, fields->stream);
	wishes->speaks = fields->speak != JSON_NONE ? json_is_true(data, fields->speak)
						    : chats->setup->config.speaks;
}

void chats_take(struct chats *chats, const struct bus_envelope *envelope)
{
	const struct json_tape *data = &envelope->data;
	const struct chat_fields fields = {
		.utterance = json_find_root(data, "utterance"),
		.profile = json_find_root(data, "profile"),
		.system = json_find_root(data, "system"),
		.stream = json_find_root(data, "stream"),
		.speak = json_find_root(data, "speak"),
	};
	const char *mistake = envelope->data_status != 0
				      ? "ValueError: Bad request: 'data' must be an object with "
					"each key once"
				      : check_fields(data, &fields, chats->setup->config.profile);
	struct chat *chat;

	/* The response is kept until the end of the turn. */
	if (!mistake && bus_context_size(envelope, BUS_CONTEXT_WHOLE) > SPEECH_CONTEXT_BYTES)
		mistake = "ValueError: Bad request: 'context' must have at most 65536 bytes";
	if (mistake) {
		respond_error(chats, envelope, "bad_request", mistake);
		return;
	}
	chat = make_chat(chats, envelope);
	if (!chat)
		return;
	read_wishes(chats, data, &fields, &chat->wishes);
	write_person(envelope, source_of(envelope), &chat->wishes.person);
	speech_init(&chat->speech, envelope, AGENT_SKILL_ID, true);
	bus_response_begin(&chat->response, envelope);
	if (is_whole(chat))
		admit_chat(chat, source_of(envelope), session_of(envelope));
	else
		refuse_chat(chat, "busy", "RuntimeError: There is not enough memory");
}

/* Return the first utterance of the message, a string, or JSON_NONE. */
static uint32_t find_utterance(const struct bus_envelope *envelope)
{
	const struct json_tape *data = &envelope->data;
	uint32_t list = envelope->data_status == 0
				? json_find_typed_at(data, 0, "utterances", JSON_ARRAY)
				: JSON_NONE;
	uint32_t first;

	if (list == JSON_NONE || json_count(data, list) == 0)
		return JSON_NONE;
	first = json_first(data, list);
	return json_type_at(data, first) == JSON_STRING && json_at(data, first)->length > 0 &&
			       json_at(data, first)->length <= CHAT_UTTERANCE_BYTES
		       ? first
		       : JSON_NONE;
}

void chats_take_fallback(struct chats *chats, const struct bus_envelope *envelope)
{
	static const char source[] = "\"" AGENT_FALLBACK_SOURCE "\"";
	uint32_t utterance = find_utterance(envelope);
	struct chat *chat = make_chat(chats, envelope);

	if (!chat)
		return;
	chat->is_fallback = true;
	speech_init(&chat->speech, envelope, AGENT_SKILL_ID, false);
	if (chat->speech.context.size == 0) {
		free_chat(chat);
		return;
	}
	fallback_send_start(&chat->speech, chats->bus);
	if (utterance == JSON_NONE) {
		refuse_chat(chat, "bad_request", "no utterance");
		return;
	}
	json_string_decode(&envelope->data, utterance, &chat->wishes.utterance);
	write_person(envelope, TEXT_VIEW(source), &chat->wishes.person);
	chat->wishes.speaks = true;
	if (is_whole(chat))
		admit_chat(chat, TEXT_VIEW(source), session_of(envelope));
	else
		refuse_chat(chat, "busy", "there is not enough memory");
}

void chats_serve_cancel(struct chats *chats, const struct bus_envelope *envelope)
{
	struct session *session =
		sessions_find(&chats->sessions, source_of(envelope), session_of(envelope));
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_printf(&data, "{\"cancelled\":%s}",
		session && cancel_chat(session->chat) ? "true" : "false");
	respond(chats, envelope, &data);
}

void chats_serve_reset(struct chats *chats, const struct bus_envelope *envelope)
{
	struct session *session =
		sessions_find(&chats->sessions, source_of(envelope), session_of(envelope));
	cleanup(buffer_deinit) struct buffer data = {0};

	if (session && cancel_chat(session->chat))
		session =
			sessions_find(&chats->sessions, source_of(envelope), session_of(envelope));
	if (session)
		history_deinit(&session->history);
	buffer_append_string(&data, "{\"reset\":true}");
	respond(chats, envelope, &data);
}

void chats_serve_history(struct chats *chats, const struct bus_envelope *envelope)
{
	struct session *session =
		sessions_find(&chats->sessions, source_of(envelope), session_of(envelope));
	uint32_t limit = json_find_root(&envelope->data, "limit");
	cleanup(buffer_deinit) struct buffer data = {0};
	uint64_t n = HISTORY_LIMIT;

	if (limit != JSON_NONE &&
		(!json_read_u64(&envelope->data, limit, &n) || n == 0 || n > HISTORY_LIMIT_MAX)) {
		respond_error(chats, envelope, "bad_request",
			"ValueError: Bad request: 'limit' must be a number from 1 to " STRINGIFY(
				HISTORY_LIMIT_MAX));
		return;
	}
	buffer_append_string(&data, "{\"messages\":");
	if (session)
		history_list(&session->history, (size_t)n, &data);
	else
		buffer_append_string(&data, "[]");
	buffer_append_char(&data, '}');
	respond(chats, envelope, &data);
}

/* ── persons ─────────────────────────────────────────────────────────────────────────────────── */

/* Return a conversation in the session @id with a chat to end, or NULL. */
static struct session *find_interrupted(
	struct chats *chats, struct text_view id, bool is_gentle, bool is_fallback)
{
	list_each(struct session, session, &chats->sessions.items, link) {
		const struct chat *chat = session->chat;

		if (chat && is_of_session(session, id) && (!is_fallback || chat->is_fallback) &&
			!(is_gentle && chat->turn && turn_waits_for_person(chat->turn)))
			return session;
	}
	return NULL;
}

void chats_interrupt(struct chats *chats, const struct bus_envelope *envelope, bool is_gentle)
{
	struct text_view id = session_of(envelope);
	struct session *session;

	/* Each search begins anew, since the end of a turn may begin others. */
	while ((session = find_interrupted(chats, id, is_gentle, false)))
		cancel_chat(session->chat);
}

void chats_force_timeout(struct chats *chats, const struct bus_envelope *envelope)
{
	uint32_t id = envelope->data_status == 0
			      ? json_find_typed_at(&envelope->data, 0, "skill_id", JSON_STRING)
			      : JSON_NONE;
	struct text_view session_id = session_of(envelope);
	struct session *session;

	if (id != JSON_NONE && json_at(&envelope->data, id)->length > 0 &&
		!json_is_text(&envelope->data, id, AGENT_SKILL_ID))
		return;
	while ((session = find_interrupted(chats, session_id, false, true))) {
		session->chat->is_killed = true;
		cancel_chat(session->chat);
	}
}

/* Return the string @key of the message, decoded into @out. */
static struct text_view decode_member(
	const struct bus_envelope *envelope, const char *key, struct buffer *out)
{
	uint32_t value = envelope->data_status == 0
				 ? json_find_typed_at(&envelope->data, 0, key, JSON_STRING)
				 : JSON_NONE;

	if (value != JSON_NONE)
		json_string_decode(&envelope->data, value, out);
	return buffer_view(out);
}

void chats_take_question(struct chats *chats, const struct bus_envelope *envelope)
{
	cleanup(buffer_deinit) struct buffer call_text = {0};
	cleanup(buffer_deinit) struct buffer id_text = {0};
	struct text_view call_id = decode_member(envelope, "call_id", &call_text);
	struct text_view id = decode_member(envelope, "id", &id_text);

	list_each(struct chat, chat, &chats->running, link)
		turn_take_question(chat->turn, call_id, id);
}

void chats_take_decision(struct chats *chats, const struct bus_envelope *envelope)
{
	cleanup(buffer_deinit) struct buffer id_text = {0};
	struct text_view id = decode_member(envelope, "id", &id_text);

	list_each(struct chat, chat, &chats->running, link)
		turn_take_decision(chat->turn, id);
}

void chats_set_asking(struct chats *chats, const struct bus_envelope *envelope, bool is_asking)
{
	struct text_view id = session_of(envelope);

	list_each(struct chat, chat, &chats->running, link) {
		if (is_of_session(chat->session, id))
			turn_set_asking(chat->turn, is_asking);
	}
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

void chats_lose_bus(struct chats *chats)
{
	while (!list_is_empty(&chats->running))
		turn_lose_bus(container_of(chats->running.next, struct chat, link)->turn);
}

/* Refuse the waiting chats. */
static void refuse_waiting(struct chats *chats)
{
	struct list *link;

	while ((link = list_take_first(&chats->waiting))) {
		chats->n_waiting--;
		refuse_chat(container_of(link, struct chat, link), "unavailable",
			"RuntimeError: toolbox-agent is stopping");
	}
}

void chats_stop(struct chats *chats)
{
	refuse_waiting(chats);
	while (!list_is_empty(&chats->running))
		turn_cancel(container_of(chats->running.next, struct chat, link)->turn);
}

void chats_init(struct chats *chats, struct loop *loop, struct setup *setup, struct asking *asking)
{
	*chats = (struct chats){.loop = loop, .setup = setup, .asking = asking};
	sessions_init(&chats->sessions);
	list_init(&chats->running);
	list_init(&chats->waiting);
}

void chats_deinit(struct chats *chats)
{
	if (!chats->loop)
		return;
	list_each(struct chat, chat, &chats->waiting, link)
		free_chat(chat);
	list_each(struct chat, chat, &chats->running, link)
		free_chat(chat);
	sessions_deinit(&chats->sessions);
}
