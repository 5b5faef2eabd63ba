/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "agent/model/reply.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The conversation of one session, in memory: messages as the model gets them.
 *
 *   user ─┬─ assistant with calls ─┬─ tool   the result of each call, by its id
 *         │                        └─ tool
 *         └─ assistant             the answer
 *   └──────────── a round ─────────────────┘
 *
 * A message is kept as its JSON text, so a request copies it once, into its body. When there is too
 * much, results are left out first, oldest first, and then whole rounds go: an answer to a call is
 * never without its call. The last round, which has the present turn, always stays whole.
 */

enum history_role {
	HISTORY_USER,
	HISTORY_ASSISTANT,
	HISTORY_TOOL,
};

struct history_message {
	enum history_role role;
	struct buffer json;
	size_t chars; /* code points of the content and of the arguments of calls */
	time_t time;
	struct buffer id;   /* the call of a tool message, as JSON */
	struct buffer name; /* the tool of a tool message */
	bool is_masked;     /* its result is left out */
};

/* A zeroed struct is empty. */
struct history {
	struct history_message *messages;
	size_t n_messages;
	size_t n_bytes; /* the bytes of all messages together */
	size_t n_chars; /* the same, code points of contents and arguments */
};

/* The most bytes of a session, whatever is configured. */
#define HISTORY_BYTES ((size_t)8 << 20)

struct history_limits {
	uint32_t messages_max; /* 0: no limit */
	uint32_t tokens_max;   /* 0: no limit */
	bool masks_results;
};

/* Add a message of the person. 0 or -ENOMEM. */
int history_add_user(struct history *history, struct text_view text);

/* Add the answer of the model: its text, and the first @n_calls of @calls, whose ids are not empty.
 * @is_interrupted marks it. 0 or -ENOMEM. */
int history_add_assistant(struct history *history, struct text_view text,
	const struct reply_call *calls, size_t n_calls, bool is_interrupted);

/* Add the result of a call: @content for the model. 0 or -ENOMEM. */
int history_add_tool(struct history *history, const struct buffer *id, const struct buffer *name,
	struct text_view content);

/* Keep the limits. */
void history_trim(struct history *history, const struct history_limits *limits);

/* Append all messages, each after a comma. */
void history_write(const struct history *history, struct buffer *out);

/* Append the last @limit messages as a list of `{role, text, time}`. */
void history_list(const struct history *history, size_t limit, struct buffer *out);

/* Forget all. */
void history_deinit(struct history *history);
