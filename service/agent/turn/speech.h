/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/words/plain.h"
#include "util/buffer.h"

/*
 * The text of a model on its way to a person: plain text as it comes, and whole sentences.
 *
 *   text of the model ─plain▶ delta() ─sentences▶ say()
 *                               └─▶ text: the answer so far
 *
 * With @follows_up a last sentence that is a question waits for the end of the turn, so it can open
 * the microphone.
 */
struct turn_speech {
	void (*delta)(void *data, const char *text, size_t size); /* NULL: not wanted */
	void (*say)(void *data, const char *sentence, size_t size, bool expects_answer);
	void *data;
	bool follows_up;
	struct plain plain;
	struct buffer text; /* the present answer */
	struct buffer held; /* the sentence that has not ended */
	struct buffer question;
	bool has_spoken; /* a sentence of this turn was passed on */
};

/* Take a part of the model's text. */
void turn_speech_take(struct turn_speech *speech, const char *text, size_t size);

/* End the present answer: pass on what is held. Its text stays until turn_speech_restart(). */
void turn_speech_end(struct turn_speech *speech);

/* Begin another answer. */
void turn_speech_restart(struct turn_speech *speech);

/* Speak a sentence of our own, after all that is held. */
void turn_speech_say(struct turn_speech *speech, const struct buffer *sentence);

/* End the turn: speak a question that waited. */
void turn_speech_finish(struct turn_speech *speech);

void turn_speech_deinit(struct turn_speech *speech);
