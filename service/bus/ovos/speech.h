/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "util/buffer.h"

/*
 * Messages to OVOS about one utterance: all have the context of the message with the utterance, in
 * which we are the skill that speaks.
 *
 *   context of the utterance ── with "skill_id": "toolboxd" ──┬─▶ speak, spoken by ovos-audio
 *                                                             └─▶ the protocol of fallback skills
 */

/* Our id among the skills of OVOS. */
#define SPEECH_SKILL_ID "toolboxd"

/* The longest context of such a message: one utterance has several. */
#define SPEECH_CONTEXT_BYTES (64 << 10)

/* The context of the messages about one utterance, and their share of the queue (bus_send()). */
struct speech {
	struct buffer context; /* JSON text; empty: there are no messages */
	unsigned int share;
	const char *skill_id; /* a constant: letters and hyphens */
};

/* Append @context, the JSON text of an object, with the member @key, whose value is the JSON text
 * @value. Without memory it appends nothing, or @out fails. */
void speech_context_with(
	const struct buffer *context, const char *key, const char *value, struct buffer *out);

/* Make @speech (zeroed) of the skill @skill_id for the message in @envelope, in the context of a
 * response to it (@is_response), or in its own. It stays empty for a context of more than
 * SPEECH_CONTEXT_BYTES. */
void speech_init(struct speech *speech, const struct bus_envelope *envelope, const char *skill_id,
	bool is_response);

/* Send a message called @topic with @data, the JSON text of an object. Without memory, or for an
 * empty @speech, there is none. */
void speech_send(
	const struct speech *speech, struct bus *bus, const char *topic, const struct buffer *data);

/* Have @sentence spoken in the language @tag. @expects_answer: then the microphone is opened. */
void speech_say(const struct speech *speech, struct bus *bus, const struct text_view *sentence,
	const struct buffer *tag, bool expects_answer);

void speech_deinit(struct speech *speech);
