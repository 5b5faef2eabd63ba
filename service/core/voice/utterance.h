/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "bus/ovos/speech.h"
#include "config/config.h"
#include "core/call/invocation.h"
#include "core/request/address.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "core/request/request_text.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * Utterances that are calls: from the tool that was matched (core/listing/match.h) to the words for
 * the person.
 *
 *   utterance, tool, arguments ─▶ a request `ovos.tools.invoke` in the person's session ─▶ the way
 *                                 of every call: risk, approval, limits, audit
 *                                      │
 *     1.5 s are over ──▶ wait          │ its answer, at the address of the utterance
 *                                      ▼
 *                           done, or failed ─▶ `speak`, and the end (utterance_function)
 *
 * The utterance pays for itself like a request that waits (bus/account.h), and there is no more of
 * them than calls in flight and requests that wait.
 */

/* The time after which `wait` is spoken. */
#define UTTERANCE_WAIT_MS 1500

struct utterance;

/* Take the end of @utterance: @data is the JSON text of the answer to its call (an object), @speech
 * the words of its face (empty: none). It is freed afterwards. */
typedef void (*utterance_function)(
	struct utterance *utterance, const struct text_view *data, const struct buffer *speech);

struct utterance {
	struct address address; /* receives the answer to its call */
	struct utterances *owner;
	struct list link;
	struct package *package; /* that has the tool: counted reference */
	const struct tool *tool;
	struct account *account; /* charged with held_bytes: counted reference, or NULL */
	size_t held_bytes;
	struct buffer args;     /* for the call, as JSON */
	struct buffer language; /* a tag */
	struct speech speech;   /* empty: nothing is spoken */
	struct answer answer;   /* to ovos.tools.utterance; closed: there is none */
	struct buffer session;  /* utterance_write_session() */
	struct loop_timer wait;
	utterance_function ended;
	bool is_silent;    /* it was ended by OVOS: nothing is spoken any more */
	bool is_stopped;   /* likewise, by the person */
	bool is_cancelled; /* its call was cancelled, since it is silent */
};

/* The utterances with calls. */
struct utterances {
	struct bus *bus; /* borrowed, as config; set once it is open */
	const struct config *config;
	struct loop *loop;
	struct list running;
	/* Take a request with a whole message (topics_take_request()), for an answer to
	 * @address. */
	int (*take)(void *data, struct address *address, const struct request_text *text);
	void *data;
};

/* Make @utterances empty. */
void utterances_init(struct utterances *utterances, struct loop *loop, const struct config *config,
	int (*take)(void *data, struct address *address, const struct request_text *text),
	void *data);

/* Forget all utterances, without an end. Takes a zeroed struct. */
void utterances_deinit(struct utterances *utterances);

/* The parts of an utterance, which utterance_begin() takes over or copies. */
struct utterance_parts {
	const struct tool *tool;
	struct buffer *args;
	struct text_view language;
	struct speech *speech;
	struct answer *answer;    /* open; NULL: none */
	const char *source;       /* in place of the source of the message, as JSON; NULL: that */
	utterance_function ended; /* called once, perhaps before utterance_begin() returns */
};

/* Call the tool of @parts for the message in @scope, which may be overwritten then. Return false,
 * with nothing taken over, when its sender holds as much memory as it may, or without memory. */
bool utterance_begin(struct utterances *utterances, struct request_scope *scope,
	const struct utterance_parts *parts);

/* Append the id of the session of the caller in @scope, as JSON: "default" without one. */
void utterance_write_session(const struct request_scope *scope, struct buffer *out);

/* Return whether there is an utterance in @session (utterance_write_session()). */
bool utterances_run_in(const struct utterances *utterances, const struct buffer *session);

/* Cancel the utterances in @session, all of which the person has stopped, but for the utterance
 * with the call @mark (its id; absent: none): this call has sent the stop. They are silent from now
 * on. Return whether there was one. */
bool utterances_stop(struct utterances *utterances, const struct buffer *session,
	const struct text_view *mark, const struct invoker *invoker);

/* Cancel the utterances with this end in @session (utterance_write_session()). They are silent from
 * now on. */
void utterances_silence(struct utterances *utterances, const struct buffer *session,
	utterance_function ended, const struct invoker *invoker);
