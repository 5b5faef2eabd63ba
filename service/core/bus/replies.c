/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "core/bus/bus_calls.h"
#include "core/bus/compose.h"
#include "core/bus/question.h"
#include "json/canonical.h"
#include "json/document.h"
#include "json/member.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/digest.h"

/*
 * Which run a message of the bus is for, and what it makes of the run's call.
 *
 *   topic ─▶ its interests ─ session ─ twin? ─ echo? ─ mark ─▶ one run
 *                                                               │
 *   data ─▶ too large, unreadable: failed                       ▼
 *           an error, or a value is missing: failed ─────▶ bus_run_finish
 *           the result
 */

/* A message, as far as runs are concerned. */
struct reply {
	const struct bus_envelope *envelope;
	size_t size;
	uint32_t session_id; /* token of a string of the context; JSON_NONE: the default session */
	uint32_t mark;       /* token of the mark; JSON_NONE: it has none */
	bool is_twin;
	bool is_whole; /* its data was read */
};

static struct reply read_reply(const struct bus_envelope *envelope, size_t size)
{
	const struct json_tape *context = &envelope->context;
	struct reply reply = {
		.envelope = envelope,
		.size = size,
		.mark = json_find(context, 0, BUS_MARK),
		.is_twin = bus_envelope_is_twin(envelope),
		.is_whole = !envelope->is_skimmed && envelope->data_status == 0 &&
			    size <= BUS_REPLY_BYTES,
		.session_id =
			json_find_typed(context, envelope->session, "session_id", JSON_STRING),
	};

	return reply;
}

static bool is_in_session(const struct bus_run *run, const struct reply *reply)
{
	if (reply->session_id == JSON_NONE)
		return compose_may_ask(run);
	return json_string_equals(
		&reply->envelope->context, reply->session_id, run->session.data, run->session.size);
}

/* Return whether the message has the mark of another call: it cannot be for @run. */
static bool has_other_mark(const struct bus_run *run, const struct reply *reply)
{
	return reply->mark != JSON_NONE &&
	       !json_is_text(&reply->envelope->context, reply->mark, run->mark);
}

/* Return whether the message is one of @run's own, which the bus returns once. */
static bool is_echo(struct bus_run *run, const struct interest *interest, const struct reply *reply)
{
	struct buffer *canonical = &run->calls->scratch;
	uint64_t digest;

	if (run->n_echoes == 0 || !reply->is_whole)
		return false;
	buffer_reset(canonical);
	json_write_canonical(canonical, &reply->envelope->data, 0);
	digest = digest_bytes(DIGEST_SEED, canonical->data, canonical->size);
	for (size_t i = 0; i < run->n_echoes; i++)
		if (run->echoes[i].topic == interest->topic->hash &&
			run->echoes[i].digest == digest) {
			run->echoes[i].digest = 0;
			return true;
		}
	return false;
}

/* ── what is collected ───────────────────────────────────────────────────────────────────────── */

/* Keep the data of the message, or the part that the tool wants, for the result of @run. */
static void collect_data(struct bus_run *run, const struct reply *reply)
{
	const struct json_tape *data = &reply->envelope->data;
	const char *at = run->bus->collect_at ? run->bus->collect_at : "";
	struct text_view view;
	uint32_t value;

	if (reply->is_whole && !json_pointer_find(data, at, NULL, &value))
		return;
	if (reply->is_whole && run->n_collected < BUS_COLLECTED_MAX) {
		view = json_value_view(data, value);
		run->collected.limit = BUS_COLLECTED_BYTES;
		if (run->n_collected++ > 0)
			buffer_append_char(&run->collected, ',');
		buffer_append(&run->collected, view.text, view.size);
		if (buffer_status(&run->collected) == 0)
			return;
	}
	bus_run_end_later(run, CALL_FAILED,
		"more than %d messages, or %u bytes, came before the reply", BUS_COLLECTED_MAX,
		BUS_COLLECTED_BYTES);
}

/* Write what the pointers of a tool with `collect` look into. Returns the tape over it, or NULL
 * without memory. */
static const struct json_tape *join_collected(struct bus_run *run, const struct reply *reply)
{
	struct bus_calls *calls = run->calls;
	struct text_view data = json_value_view(&reply->envelope->data, 0);
	struct buffer *out = &calls->scratch;

	buffer_reset(out);
	buffer_append_string(out, "{\"collected\":[");
	buffer_append_buffer(out, &run->collected);
	buffer_append_string(out, "],\"topic\":");
	json_write_string(out, reply->envelope->topic, reply->envelope->topic_size);
	json_write_member_json(out, "reply", data.text, data.size);
	buffer_append_char(out, '}');
	if (buffer_status(out) < 0 || json_tape_read(&calls->arguments, out->data, out->size,
					      JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return NULL;
	return &calls->arguments;
}

/* ── the reply ───────────────────────────────────────────────────────────────────────────────── */

/* Write why the reply cannot be used. */
static void write_unread(const struct reply *reply, struct buffer *out)
{
	if (reply->size > BUS_REPLY_BYTES)
		buffer_printf(out, "the reply has %zu bytes; at most %u are read", reply->size,
			BUS_REPLY_BYTES);
	else if (reply->envelope->is_skimmed)
		buffer_append_string(out, "the reply has too many values");
	else
		buffer_printf(out, "the data of the reply cannot be read: %s",
			reply->envelope->data_error.message ? reply->envelope->data_error.message
							    : "it is too deep");
}

/* Make the result of @run of the reply, with its text in calls->result. */
static struct call_result make_result(struct bus_run *run, const struct reply *reply)
{
	struct bus_calls *calls = run->calls;
	const struct json_tape *from = &reply->envelope->data;
	struct call_result result = {.outcome = CALL_FAILED};
	struct buffer *out = &calls->result;

	buffer_reset(out);
	if (!reply->is_whole) {
		write_unread(reply, out);
	} else {
		if (run->bus->collects.n_items > 0)
			from = join_collected(run, reply);
		if (from && bus_call_write_result(run->bus, from, out))
			result.outcome = CALL_RESULT;
	}
	if (!from || !buffer_terminate(out) ||
		(result.outcome == CALL_RESULT &&
			json_tape_read(&calls->result_tape, out->data, out->size,
				JSON_DOCUMENT_DEPTH_MAX, NULL) != 0))
		return (struct call_result){
			.outcome = CALL_UNAVAILABLE, .text = "memory is short", .size = 15};
	result.text = out->data;
	result.size = out->size;
	result.tape = result.outcome == CALL_RESULT ? &calls->result_tape : NULL;
	return result;
}

/* End @run by its reply. */
static void take_reply(struct bus_run *run, const struct reply *reply)
{
	bool is_marked = reply->mark != JSON_NONE;
	struct call_result result;

	if (run->state == BUS_RUN_CLOSING) {
		bus_run_keep(run, is_marked ? 0 : BUS_DOUBLE_MS);
		return;
	}
	if (run->is_asked && reply->is_whole && !question_has_words(&reply->envelope->data)) {
		bus_run_end_silent(run);
		return;
	}
	result = make_result(run, reply);
	bus_run_finish(run, &result, is_marked ? 0 : BUS_DOUBLE_MS);
}

/* Act on an event around the question of @run. */
static void take_step(struct bus_run *run, enum question_step step)
{
	static const struct call_result cancelled = {.outcome = CALL_CANCELLED};

	switch (step) {
	case QUESTION_STOPS:
		bus_run_finish(run, &cancelled, BUS_LATE_MS);
		break;
	case QUESTION_PAUSES:
		loop_timer_disarm(&run->timer);
		break;
	case QUESTION_LISTENS:
		loop_timer_arm(&run->timer, run->bus->listen_ms);
		break;
	case QUESTION_GOES_ON:
		break;
	}
}

/* Return whether the message may be for the run of @interest. The stop that another call sends
 * stops a question. A question takes messages with the mark of a twin: they may be copies of the
 * context of an utterance, and a second answer or stop finds no question. */
static bool is_for(const struct interest *interest, const struct reply *reply)
{
	struct bus_run *run = interest->run;
	bool is_on_bus = run->state == BUS_RUN_SENT ||
			 (run->state == BUS_RUN_CLOSING && interest->role == INTEREST_REPLY);

	return is_on_bus && (!reply->is_twin || run->is_asked) && is_in_session(run, reply) &&
	       (interest->role == INTEREST_STOP || !has_other_mark(run, reply)) &&
	       !is_echo(run, interest, reply);
}

bool bus_calls_stop_question(struct bus_calls *calls)
{
	if (!calls->asking)
		return false;
	take_step(calls->asking, QUESTION_STOPS);
	return true;
}

void bus_calls_take(struct bus_calls *calls, const struct bus_envelope *envelope, size_t size)
{
	struct interest_topic *topic =
		interests_find(&calls->interests, envelope->topic, envelope->topic_size);
	const struct reply reply = read_reply(envelope, size);
	struct interest *found = NULL;

	if (!topic)
		return;
	list_each(struct interest, interest, &topic->interests, link) {
		if (!is_for(interest, &reply))
			continue;
		if (interest->role == INTEREST_COLLECT)
			collect_data(interest->run, &reply);
		else if (!found)
			found = interest;
	}
	/* The list changes with the end of a run. */
	if (found && found->role == INTEREST_REPLY)
		take_reply(found->run, &reply);
	else if (found)
		take_step(found->run, question_judge(found->role, &envelope->data));
}
