/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/listening.h"

#include <string.h>

#include "bus/ovos/fallback.h"
#include "core/request/checks.h"
#include "json/member.h"
#include "policy/policy.h"
#include "util/array.h"
#include "util/clock.h"

#define OWN FALLBACK_TOPIC SPEECH_SKILL_ID "."

/* ── registration ────────────────────────────────────────────────────────────────────────────── */

static void send_registration(const struct listening *listening, bool is_end)
{
	fallback_send_registration(listening->bus, SPEECH_SKILL_ID, listening->priority, is_end);
}

void listening_begin(struct listening *listening)
{
	bool was_on = listening->is_on;

	listening_configure(listening);
	if (was_on)
		send_registration(listening, false);
}

void listening_configure(struct listening *listening)
{
	const struct config_listen *listen = &listening->config->listen;
	bool is_wanted =
		listen->is_fallback && !listening->config->closed && !listening->is_stopped;

	if (is_wanted == listening->is_on &&
		(!is_wanted || listen->priority == listening->priority))
		return;
	listening->priority = listen->priority;
	listening->is_on = is_wanted;
	send_registration(listening, !is_wanted);
	if (is_wanted)
		log_info("Utterances that no skill takes come here: the fallback skill '%s', "
			 "priority %u",
			SPEECH_SKILL_ID, listening->priority);
}

void listening_stop(struct listening *listening)
{
	listening->is_stopped = true;
	listening_configure(listening);
}

/* ── utterances ──────────────────────────────────────────────────────────────────────────────── */

/* Find out who has spoken: our source, in the session of the person. */
static void take_person(const struct listening *listening)
{
	struct request_scope *scope = listening->scope;
	struct policy_caller *caller = &scope->caller;

	scope->fields = 0;
	*caller = (struct policy_caller){.account = bus_sender(listening->bus)};
	request_read_caller(&scope->request, &scope->envelope, scope->caller_texts, caller);
	caller->source = TEXT_VIEW(LISTENING_SOURCE);
	scope->view = caller->view = policy_view(listening->offer->policy, caller);
}

/* Take the language of the message. */
static struct text_view take_language(const struct listening *listening)
{
	struct request_scope *scope = listening->scope;
	const struct json_tape *data = &scope->envelope.data;
	uint32_t lang = json_find_typed_at(data, 0, "lang", JSON_STRING);

	scope->request.lang = (struct text_view){0};
	/* No tag has an escape. */
	if (lang != JSON_NONE)
		scope->request.lang =
			(struct text_view){json_bytes(data, lang), json_at(data, lang)->length};
	return request_scope_language(scope, listening->config->lang);
}

/* Try the utterance at @token, in what is left of *@left_ns. Return whether it means a tool, and
 * has all of its arguments. */
static bool try_utterance(const struct listening *listening, uint32_t token,
	struct text_view language, uint64_t *left_ns, struct match *ret_match,
	struct buffer *ret_args)
{
	struct request_scope *scope = listening->scope;
	const struct json_tape *data = &scope->envelope.data;
	cleanup(buffer_deinit) struct buffer decoded = {0};
	struct text_view text;
	int r;

	if (json_type_at(data, token) != JSON_STRING)
		return false;
	text = request_text_at(data, token, &decoded);
	if (buffer_status(&decoded) < 0 || text.size > MATCH_UTTERANCE_BYTES_MAX)
		return false;
	r = match_words(listening->matcher, scope, &text, language, *left_ns, ret_match, ret_args);
	*left_ns -= ret_match->spent_ns < *left_ns ? ret_match->spent_ns : *left_ns;
	return r == 0 && ret_match->is_complete && buffer_status(ret_args) == 0;
}

/* Try the utterances in the array at @list in order. */
static bool try_utterances(const struct listening *listening, uint32_t list,
	struct text_view language, struct match *ret_match, struct buffer *ret_args)
{
	const struct json_tape *data = &listening->scope->envelope.data;
	uint64_t left_ns = MATCH_MS_MAX * NS_PER_MS;
	unsigned int n = 0;
	bool is_found = false;

	json_each(token, data, list) {
		is_found = n++ < LISTENING_UTTERANCES_MAX &&
			   try_utterance(listening, token, language, &left_ns, ret_match, ret_args);
		if (is_found)
			break;
	}
	match_charge(listening->matcher, listening->scope, MATCH_MS_MAX * NS_PER_MS - left_ns);
	return is_found;
}

/* Find the tool meant by the first utterance of the message that means one. Return false when none
 * does, or the time for such searches is owed. */
static bool find_spoken_tool(const struct listening *listening, struct text_view *ret_language,
	struct match *ret_match, struct buffer *ret_args)
{
	const struct bus_envelope *envelope = &listening->scope->envelope;
	uint32_t list;

	if (envelope->data_status != 0 || envelope->fault.part)
		return false;
	list = json_find_typed_at(&envelope->data, 0, "utterances", JSON_ARRAY);
	if (list == JSON_NONE)
		return false;
	take_person(listening);
	*ret_language = take_language(listening);
	if (listening->matcher->was_costly && checks_wait_ns(listening->bus, listening->scope) > 0)
		return false;
	return try_utterances(listening, list, *ret_language, ret_match, ret_args);
}

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

/* A core asks whether we take an utterance. It waits for every fallback skill, so each question is
 * answered. */
static void take_ping(struct listening *listening)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(buffer_deinit) struct buffer args = {0};
	struct text_view language;
	struct match match;
	bool is_found = find_spoken_tool(listening, &language, &match, &args);

	listening->n_asked++;
	speech_init(&speech, &listening->scope->envelope, SPEECH_SKILL_ID, false);
	fallback_send_pong(&speech, listening->bus, is_found);
}

/* Become an active skill of the session, so that "stop" comes to us. Newer cores see to it. */
static void send_activation(const struct speech *speech, struct bus *bus)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&data, "{\"skill_id\":\"" SPEECH_SKILL_ID "\"}");
	if (fallback_is_of_old_core(speech))
		speech_send(speech, bus, "intent.service.skills.activate", &data);
}

/* The call is over (utterance_function). */
static void end_utterance(
	struct utterance *utterance, const struct text_view *data, const struct buffer *speech)
{
	(void)data;
	(void)speech;
	fallback_send_end(&utterance->speech, utterance->owner->bus,
		utterance->is_stopped || !utterance->is_silent,
		utterance->is_silent && !utterance->is_stopped);
}

/* Take the utterance for which a core has chosen us. */
static void take_chosen(struct listening *listening)
{
	cleanup(speech_deinit) struct speech speech = {0};
	cleanup(buffer_deinit) struct buffer args = {0};
	struct utterance_parts parts = {
		.args = &args,
		.speech = &speech,
		.source = "\"" LISTENING_SOURCE "\"",
		.ended = end_utterance,
	};
	struct match match;

	speech_init(&speech, &listening->scope->envelope, SPEECH_SKILL_ID, false);
	if (speech.context.size == 0)
		return;
	fallback_send_start(&speech, listening->bus);
	if (find_spoken_tool(listening, &parts.language, &match, &args)) {
		parts.tool = match.tool;
		listening->n_taken++;
		send_activation(&speech, listening->bus);
		if (utterance_begin(listening->utterances, listening->scope, &parts))
			return;
	}
	fallback_send_end(&speech, listening->bus, false, false);
}

/* Return whether the message in the scope is for all skills, or for us. */
static bool is_for_us(const struct bus_envelope *envelope)
{
	uint32_t id = envelope->data_status == 0
			      ? json_find_typed_at(&envelope->data, 0, "skill_id", JSON_STRING)
			      : JSON_NONE;

	return id == JSON_NONE || json_at(&envelope->data, id)->length == 0 ||
	       json_is_text(&envelope->data, id, SPEECH_SKILL_ID);
}

/* End the calls of the session of the message in the scope: a core waits no longer. */
static void take_force_timeout(struct listening *listening)
{
	cleanup(buffer_deinit) struct buffer session = {0};

	if (!is_for_us(&listening->scope->envelope))
		return;
	take_person(listening);
	utterance_write_session(listening->scope, &session);
	utterances_silence(listening->utterances, &session, end_utterance, listening->invoker);
}

/* Send that we want no part in a conversation. */
static void take_converse(struct listening *listening)
{
	cleanup(speech_deinit) struct speech speech = {0};

	speech_init(&speech, &listening->scope->envelope, SPEECH_SKILL_ID, false);
	fallback_send_converse(&speech, listening->bus);
}

/* A core has started: it knows no skill yet. */
static void take_sign(struct listening *listening)
{
	send_registration(listening, false);
}

static void take_stop_ping(struct listening *listening)
{
	stopping_take_ping(&listening->stopping);
}

static void take_stop(struct listening *listening)
{
	stopping_take_ours(&listening->stopping);
}

static void take_stop_of_all(struct listening *listening)
{
	stopping_take_all(&listening->stopping);
}

/* When messages with a topic are read. */
enum hearing {
	HEAR_ON,   /* while `listen` is on */
	HEAR_SIGN, /* likewise, with a pace of its own */
	HEAR_EVER, /* a call that was made otherwise may have made us an active skill */
};

#define TOPIC(topic, hearing, take)                                                                \
	{                                                                                          \
		topic, sizeof(topic) - 1, hearing, take                                            \
	}

static const struct {
	const char *topic;
	size_t size;
	enum hearing hearing;
	void (*take)(struct listening *listening);
} topics[] = {
	TOPIC(FALLBACK_TOPIC "ping", HEAR_ON, take_ping),
	TOPIC(OWN "request", HEAR_ON, take_chosen),
	TOPIC(FALLBACK_TOPIC "force_timeout", HEAR_ON, take_force_timeout),
	TOPIC(SPEECH_SKILL_ID ".converse.ping", HEAR_EVER, take_converse),
	TOPIC("ovos.stop.ping", HEAR_EVER, take_stop_ping),
	TOPIC(SPEECH_SKILL_ID ".stop.ping", HEAR_EVER, take_stop_ping),
	TOPIC(SPEECH_SKILL_ID ":stop", HEAR_EVER, take_stop),
	TOPIC(SPEECH_SKILL_ID ".stop", HEAR_EVER, take_stop),
	TOPIC("ovos.stop", HEAR_EVER, take_stop_of_all),
	TOPIC("mycroft.stop", HEAR_EVER, take_stop_of_all),
	TOPIC("mycroft.skills.initialized", HEAR_SIGN, take_sign),
	TOPIC("mycroft.ready", HEAR_SIGN, take_sign),
};

/* Return whether messages with the topic @i are for us now. */
static bool is_heard(const struct listening *listening, size_t i)
{
	return i < ARRAY_SIZE(topics) && (listening->is_on || topics[i].hearing == HEAR_EVER);
}

/* Return the index of the topic, or ARRAY_SIZE(topics). */
static size_t find_listened(const char *topic, size_t size)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(topics) &&
		(topics[i].size != size || memcmp(topics[i].topic, topic, size) != 0))
		i++;
	return i;
}

bool listening_has_topic(const char *topic, size_t size)
{
	return find_listened(topic, size) < ARRAY_SIZE(topics);
}

bool listening_wants_topic(struct listening *listening, const char *topic, size_t size)
{
	size_t i = find_listened(topic, size);

	if (!is_heard(listening, i))
		return false;
	return topics[i].hearing == HEAR_SIGN ? pace_take(&listening->signs, clock_now_ms())
					      : pace_take_by(&listening->questions, clock_now_ms(),
							LISTENING_STEP_MS, LISTENING_BURST);
}

bool listening_take(struct listening *listening)
{
	const struct bus_envelope *envelope = &listening->scope->envelope;
	size_t i = find_listened(envelope->topic, envelope->topic_size);

	if (!is_heard(listening, i))
		return false;
	topics[i].take(listening);
	return true;
}

void listening_write_status(const struct listening *listening, struct answer *answer)
{
	if (!listening->is_on)
		return;
	buffer_printf(answer_member(answer, "listen"),
		"{\"as\":\"fallback\",\"priority\":%u,\"asked\":%llu,\"taken\":%llu}",
		listening->priority, (unsigned long long)listening->n_asked,
		(unsigned long long)listening->n_taken);
}
