/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/policy/questions.h"
#include "json/tape.h"
#include "util/buffer.h"
#include "util/clock.h"

/*
 * The questions of a turn, in their order: the first one is shown, and stays the first until it is
 * decided; and when a person has to attach again to go on answering.
 */

/* The most questions that wait; others are for toolboxctl approvals. */
#define CHAT_QUESTIONS_MAX 16

/* The time for which calls are watched, and questions are answered here. It begins anew in a turn
 * that is longer. */
#define CHAT_WATCH_SECONDS 300
#define CHAT_RENEW_MS      (CHAT_WATCH_SECONDS / 2 * (uint64_t)MS_PER_S)

struct chat_question {
	struct question_mark mark;
	struct buffer text; /* the event, JSON */
};

/* Zeroed, there are none. */
struct chat_questions {
	struct chat_question items[CHAT_QUESTIONS_MAX];
	size_t n_items;
};

/* Append the question of @event with @mark, unless it is there, or there is no room or memory.
 * Return whether it is to be shown: it is the first. */
bool chat_questions_add(struct chat_questions *questions, const struct question_mark *mark,
	const struct json_tape *event);

/* Forget the question @i, if there is one. Return whether another is to be shown. */
bool chat_questions_drop(struct chat_questions *questions, size_t i);

void chat_questions_deinit(struct chat_questions *questions);

/* Return whether it is time to attach and to watch again, and write when the next time is to
 * @due_ms. */
bool chat_is_due(uint64_t *due_ms, uint64_t now_ms);
