/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "agent/tools.h"
#include "agent/turn/calls.h"
#include "catalogue/voice/spoken.h"

/*
 * Faces of tools in a turn (catalogue/voice/spoken.h), and an utterance that a trigger takes with
 * all arguments: then no model is asked, and the face is the answer.
 *
 *   ovos.tools.match ─▶ complete? ─▶ ovos.tools.get: its faces ─▶ a call ─▶ done, or failed
 *
 * This is the way of ovos.tools.utterance in its parts: each call of a turn has an id of ours, by
 * which it can be cancelled.
 */

/* Return whether @response, to the match, is a tool with all arguments; NULL: the service is away.
 * Then append the arguments to @args, and the members of the request for the definition to @get. */
bool turn_match_take(const struct json_tape *response, struct buffer *args, struct buffer *get);

/* Read the tool with the definition @response into @tools, and let its call with @args be the only
 * one of @calls. 0 or -ENOMEM. */
int turn_match_read(const struct json_tape *response, const struct buffer *args,
	struct tools *tools, struct turn_calls *calls);

/* Append the answer by @call, which has ended: the face of its tool in the language @lang (a tag,
 * or empty), else at most @chars_max code points of the result, or of the error. Return whether it
 * is a face: a result or an error is not for speaking. */
bool turn_match_answer(const struct turn_call *call, const struct buffer *lang, size_t chars_max,
	struct buffer *out);

/* Append the face @face of the tool of @call in the language @lang, if there is such a sentence. */
void turn_match_say(const struct turn_call *call, const struct buffer *lang, enum spoken_face face,
	struct buffer *out);
