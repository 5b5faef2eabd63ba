/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "core/bus/run.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/stamp.h"
#include "util/text/utf8.h"

/* The longest time between a message and its twin (ovos_bus_client/client/client.py). */
#define TWIN_NS INT64_C(5000000000)

#define DEFAULT_SESSION "\"default\""

/* One message: an object of JSON. */
struct conversation_line {
	struct list link;
	int64_t heard_ns;
	size_t spoken_size; /* up to the time */
	size_t size;
	char text[];
};

struct conversation {
	struct list link;
	struct buffer session; /* its id, as JSON */
	struct buffer owner;   /* source of the caller beside the bus, as JSON; empty: the bus */
	struct list lines;     /* the oldest first */
	unsigned int n;
	size_t bytes;
};

static const struct {
	const char *topic;
	const char *role;
} kinds[] = {
	{"recognizer_loop:utterance", "user"},
	{"ovos.utterance.handle", "user"},
	{"speak", "assistant"},
	{"ovos.utterance.speak", "assistant"},
};

/* Return the role of whoever sends messages with this topic; NULL: it is for no conversation. */
static const char *find_role(const char *topic, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_is(topic, size, kinds[i].topic))
			return kinds[i].role;
	return NULL;
}

bool conversations_has_topic(const char *topic, size_t size)
{
	return find_role(topic, size) != NULL;
}

bool conversations_admit(struct conversations *conversations, const char *topic, size_t size)
{
	return find_role(topic, size) && pace_take_by(&conversations->pace, clock_now_ms(),
						 CONVERSATION_STEP_MS, CONVERSATION_BURST);
}

/* ── what is kept ────────────────────────────────────────────────────────────────────────────── */

static void forget_oldest_line(struct conversation *conversation)
{
	struct conversation_line *line =
		container_of(conversation->lines.next, struct conversation_line, link);

	list_remove(&line->link);
	conversation->n--;
	conversation->bytes -= line->size;
	free(line);
}

static void forget_conversation(
	struct conversations *conversations, struct conversation *conversation)
{
	while (conversation->n > 0)
		forget_oldest_line(conversation);
	list_remove(&conversation->link);
	conversations->n--;
	buffer_deinit(&conversation->session);
	buffer_deinit(&conversation->owner);
	free(conversation);
}

void conversations_init(struct conversations *conversations)
{
	*conversations = (struct conversations){0};
	list_init(&conversations->sessions);
}

void conversations_deinit(struct conversations *conversations)
{
	/* A zeroed one has no list yet. */
	while (conversations->n > 0)
		forget_conversation(conversations,
			container_of(conversations->sessions.next, struct conversation, link));
}

/* Return whether one of the @n tools of @catalogue from @first on asks for conversations. */
static bool has_asking(const struct catalogue *catalogue, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		if (catalogue_tool(catalogue, i)->given == GIVEN_CONVERSATION)
			return true;
	return false;
}

void conversations_follow(struct conversations *conversations, const struct catalogue *catalogue)
{
	bool is_wanted = false;

	for (size_t i = 0; !is_wanted && i < catalogue_n_toolboxes(catalogue); i++) {
		size_t first;
		size_t n;
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, &first, &n);

		is_wanted =
			toolbox->package->kind == KIND_PLUGIN && has_asking(catalogue, first, n);
	}
	conversations->is_on = is_wanted;
	if (!is_wanted)
		conversations_deinit(conversations);
}

static struct conversation *find_conversation(
	const struct conversations *conversations, const struct buffer *session)
{
	list_each(struct conversation, conversation, &conversations->sessions, link) {
		if (buffer_equals(&conversation->session, session))
			return conversation;
	}
	return NULL;
}

/* Return a new conversation at the end of the list; NULL without memory. */
static struct conversation *make_conversation(
	struct conversations *conversations, const struct buffer *session)
{
	struct conversation *conversation = calloc(1, sizeof(*conversation));

	if (!conversation)
		return NULL;
	list_init(&conversation->lines);
	list_append(&conversations->sessions, &conversation->link);
	conversations->n++;
	buffer_append_buffer(&conversation->session, session);
	if (buffer_status(&conversation->session) < 0) {
		forget_conversation(conversations, conversation);
		return NULL;
	}
	if (conversations->n > CONVERSATION_SESSIONS)
		forget_conversation(conversations,
			container_of(conversations->sessions.next, struct conversation, link));
	return conversation;
}

/* ── hearing ─────────────────────────────────────────────────────────────────────────────────── */

/* Return the token of the text of the message; JSON_NONE: it has none. An utterance has its best
 * transcription first. */
static uint32_t find_text(const struct json_tape *data, bool is_user)
{
	uint32_t list;

	if (!is_user)
		return json_find_typed_at(data, 0, "utterance", JSON_STRING);
	list = json_find_typed_at(data, 0, "utterances", JSON_ARRAY);
	if (list == JSON_NONE || json_count(data, list) == 0 ||
		json_type_at(data, json_first(data, list)) != JSON_STRING)
		return JSON_NONE;
	return json_first(data, list);
}

/* Put the id of the session of the message into @session, as JSON. */
static void write_session_id(const struct bus_envelope *envelope, struct buffer *session)
{
	cleanup(buffer_deinit) struct buffer id = {0};
	uint32_t token =
		json_find_typed(&envelope->context, envelope->session, "session_id", JSON_STRING);

	if (token == JSON_NONE) {
		buffer_append_string(session, DEFAULT_SESSION);
		return;
	}
	json_string_decode(&envelope->context, token, &id);
	json_write_string(session, id.data, id.size);
}

/* Return the line of the message; NULL: it has no text, or memory is short. */
static struct conversation_line *make_line(
	const struct bus_envelope *envelope, const char *role, int64_t now_ns)
{
	uint32_t token = find_text(&envelope->data, strcmp(role, "user") == 0);
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct conversation_line *line;
	size_t spoken_size;

	if (token == JSON_NONE)
		return NULL;
	json_string_decode(&envelope->data, token, &text);
	if (text.size == 0 || buffer_status(&text) < 0)
		return NULL;
	buffer_printf(&out, "{\"role\":\"%s\",\"text\":", role);
	json_write_string(&out, text.data, utf8_cut(text.data, text.size, CONVERSATION_TEXT_BYTES));
	spoken_size = out.size;
	buffer_append_string(&out, ",\"time\":\"");
	stamp_write_time(&out, now_ns);
	buffer_append_string(&out, "\"}");
	line = buffer_status(&out) < 0 ? NULL : malloc(sizeof(*line) + out.size);
	if (!line)
		return NULL;
	line->heard_ns = now_ns;
	line->spoken_size = spoken_size;
	line->size = out.size;
	memcpy(line->text, out.data, out.size);
	return line;
}

/* Append @line, and forget what is too much then. */
static void keep_line(struct conversation *conversation, struct conversation_line *line)
{
	list_append(&conversation->lines, &line->link);
	conversation->n++;
	conversation->bytes += line->size;
	while (conversation->n > CONVERSATION_MESSAGES || conversation->bytes > CONVERSATION_BYTES)
		forget_oldest_line(conversation);
}

/* Return whether @line repeats a line of the time before: a twin does. */
static bool repeats(const struct conversation *conversation, const struct conversation_line *line)
{
	list_each(struct conversation_line, before, &conversation->lines, link) {
		if (line->heard_ns - before->heard_ns <= TWIN_NS &&
			before->spoken_size == line->spoken_size &&
			memcmp(before->text, line->text, line->spoken_size) == 0)
			return true;
	}
	return false;
}

/* Return whether a call of ours has sent the message. */
static bool is_ours(const struct bus_envelope *envelope)
{
	return json_find_typed_at(&envelope->context, 0, BUS_MARK, JSON_STRING) != JSON_NONE;
}

void conversations_hear(
	struct conversations *conversations, const struct bus_envelope *envelope, int64_t now_ns)
{
	const char *role = find_role(envelope->topic, envelope->topic_size);
	cleanup(buffer_deinit) struct buffer session = {0};
	struct conversation *conversation;
	struct conversation_line *line;

	if (!conversations->is_on || !role)
		return;
	line = make_line(envelope, role, now_ns);
	write_session_id(envelope, &session);
	conversation = find_conversation(conversations, &session);
	if (line && conversation && bus_envelope_is_twin(envelope) && repeats(conversation, line)) {
		free(line);
		return;
	}
	if (line && !conversation && buffer_status(&session) == 0)
		conversation = make_conversation(conversations, &session);
	if (!line || !conversation) {
		free(line);
		return;
	}
	list_remove(&conversation->link);
	list_append(&conversations->sessions, &conversation->link);
	if (strcmp(role, "user") == 0 && !is_ours(envelope))
		buffer_reset(&conversation->owner);
	keep_line(conversation, line);
}

/* ── callers ─────────────────────────────────────────────────────────────────────────────────── */

/* Forget the oldest session of callers beside the bus, when there are too many of them. */
static void limit_claimed(struct conversations *conversations)
{
	struct conversation *oldest = NULL;
	unsigned int n = 0;

	list_each(struct conversation, conversation, &conversations->sessions, link) {
		if (conversation->owner.size == 0)
			continue;
		oldest = oldest ? oldest : conversation;
		n++;
	}
	if (n > CONVERSATION_CLAIMED)
		forget_conversation(conversations, oldest);
}

void conversations_claim(struct conversations *conversations, const struct buffer *session,
	const struct buffer *source)
{
	struct conversation *conversation =
		conversations->is_on ? find_conversation(conversations, session) : NULL;

	if (conversation && !buffer_equals(&conversation->owner, source))
		buffer_reset(&conversation->owner);
	if (!conversations->is_on || conversation || source->size == 0 || session->size == 0 ||
		buffer_is(session, DEFAULT_SESSION))
		return;
	conversation = make_conversation(conversations, session);
	if (!conversation)
		return;
	buffer_append_buffer(&conversation->owner, source);
	if (buffer_status(&conversation->owner) < 0)
		forget_conversation(conversations, conversation);
	limit_claimed(conversations);
}

/* Return the conversation of @session that @source at @door may have, or NULL. */
static const struct conversation *find_allowed(const struct conversations *conversations,
	enum call_door door, const struct buffer *source, const struct buffer *session)
{
	cleanup(buffer_deinit) struct buffer usual = {0};
	const struct conversation *found;

	buffer_append_string(&usual, DEFAULT_SESSION);
	found = find_conversation(conversations, session->size > 0 ? session : &usual);
	if (!found || door == CALL_DOOR_BUS)
		return found;
	return found->owner.size > 0 && buffer_equals(&found->owner, source) ? found : NULL;
}

void conversations_write(const struct conversations *conversations, enum call_door door,
	const struct buffer *source, const struct buffer *session, struct buffer *out)
{
	const struct conversation *found =
		conversations ? find_allowed(conversations, door, source, session) : NULL;
	bool is_first = true;

	buffer_append_string(out, "{\"messages\":[");
	if (found)
		list_each(const struct conversation_line, line, &found->lines, link) {
			buffer_append_string(out, is_first ? "" : ",");
			buffer_append(out, line->text, line->size);
			is_first = false;
		}
	buffer_append_string(out, "]}");
}
