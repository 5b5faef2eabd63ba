/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/bus/run.h"

/*
 * A question to a person (`ask`), while it is open.
 *
 *   speak ──▶ audio starts ── ends ──▶ recording begins ── ends ──▶ the answer
 *     │         the clock    anew        the clock        anew
 *     └─ listen_ms: no answer           is stopped
 *
 * mycroft.stop and the assistant's own ways to end a question end it, too.
 */

/* The effect of an event on the question of a run. */
enum question_step {
	QUESTION_GOES_ON,
	QUESTION_STOPS,  /* it is cancelled */
	QUESTION_PAUSES, /* somebody speaks: the time for an answer is stopped */
	QUESTION_LISTENS /* silence again: the time begins anew */
};

/* Return the number of topics of a question, under their old and their new names. */
size_t question_n_topics(void);

/* Return the topic @index, with its role in *ret_role. */
const char *question_topic(size_t index, enum interest_role *ret_role);

/* Return what the event of @role with @data does. */
enum question_step question_judge(enum interest_role role, const struct json_tape *data);

/* Return whether @data of an answer has words. */
bool question_has_words(const struct json_tape *data);
