/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "message/envelope.h"
#include "policy/caller.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/pace.h"

/*
 * The conversations of sessions, as their messages pass on the bus, for tools that ask for
 * them (`given` in toolbox.h; contract.md, Conversation).
 *
 *   recognizer_loop:utterance, ovos.utterance.handle ─▶ user      ─┐ the last messages
 *   speak, ovos.utterance.speak                      ─▶ assistant ─┘ of the last sessions
 *                                                                     │
 *   a call of such a tool ◀── {"messages": [{"role", "text", "time"}]} ┘
 *
 * Nothing is kept unless such a tool is offered. A client of the new names sends two frames: the
 * old name, with a mark in its context, is dropped.
 *
 * A session that a caller beside the bus has begun, by a message of kind bus, is the caller's until
 * somebody else speaks in it. All others are the bus's, and so is `default`.
 */
#define CONVERSATION_MESSAGES   200
#define CONVERSATION_SESSIONS   64
#define CONVERSATION_CLAIMED    16           /* sessions of callers beside the bus among them */
#define CONVERSATION_BYTES      (256u << 10) /* the messages of one session, as JSON */
#define CONVERSATION_TEXT_BYTES 4096         /* one text; the rest is cut */

/* Messages that are read at once, and the time for each further one. */
#define CONVERSATION_BURST   200
#define CONVERSATION_STEP_MS 20

/* A zeroed one has no conversation and is off. */
struct conversations {
	struct list sessions; /* struct conversation, the latest at the end */
	unsigned int n;
	bool is_on;
	struct pace pace;
};

void conversations_init(struct conversations *conversations);
void conversations_deinit(struct conversations *conversations);

/* Follow a new catalogue: without a tool that wants conversations, all are forgotten. */
void conversations_follow(struct conversations *conversations, const struct catalogue *catalogue);

/* Return whether messages with this topic belong to a conversation. */
bool conversations_has_topic(const char *topic, size_t size);

/* See conversations_wants(). */
bool conversations_admit(struct conversations *conversations, const char *topic, size_t size);

/* Return whether a message with this topic is to be read, and count it. */
static inline bool conversations_wants(
	struct conversations *conversations, const char *topic, size_t size)
{
	return conversations->is_on && conversations_admit(conversations, topic, size);
}

/* Keep the message in @envelope, if it belongs to a conversation, with the time @now_ns
 * (stamp_now_ns()). Without memory it is lost. */
void conversations_hear(
	struct conversations *conversations, const struct bus_envelope *envelope, int64_t now_ns);

/* A message of a call by @source begins in @session. @source is a caller beside the bus, or empty
 * for the bus: a new session belongs to such a caller, and the session of another caller belongs
 * to the bus alone from now on. Both are JSON texts. */
void conversations_claim(struct conversations *conversations, const struct buffer *session,
	const struct buffer *source);

/* Append {"messages": [{"role", "text", "time"}, …]}: the messages of @session, the oldest first,
 * as far as @source at @door may have them. Both are JSON texts, empty for none. Without
 * @conversations (NULL) there are no messages. */
void conversations_write(const struct conversations *conversations, enum call_door door,
	const struct buffer *source, const struct buffer *session, struct buffer *out);
