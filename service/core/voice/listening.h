/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/call/invocation.h"
#include "core/listing/match.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "core/voice/stopping.h"
#include "core/voice/utterance.h"
#include "offer/offer.h"
#include "util/pace.h"

/*
 * A fallback skill of OVOS (`listen` in the configuration): ovos-core asks it about each utterance
 * that no skill takes (ovos_core/intent_services/fallback_service.py,
 * ovos_workshop/skills/fallback.py; topics begin with `ovos.skills.fallback.`).
 *
 *   connected, mycroft.skills.initialized, mycroft.ready ──▶ register {skill_id, priority}
 *
 *   ping {utterances, lang} ─▶ does one match, with all arguments? ─▶ pong {skill_id, can_handle}
 *
 *   toolboxd.request ─▶ toolboxd.start ─▶ a call ─▶ speak ─▶ toolboxd.response {result}
 *                                           ▲                 [ovos.utterance.handled]
 *   force_timeout ─▶ the call is cancelled ─┘ toolboxd.killed
 *
 *   the end of the service ─▶ deregister {skill_id}
 *
 *   toolboxd.converse.ping ─▶ skill.converse.pong {skill_id, can_handle: false}
 *
 *   "stop": core/voice/stopping.h
 *
 * The registration is in ovos-core's memory, so it is repeated when ovos-core is there again. Its
 * skill manager sends mycroft.skills.initialized at each start, after its fallback service is made.
 * ovos-core 3 ends an utterance by itself, and marks it by `utterance_id` in the context; for
 * ovos-core 2 the skill sends ovos.utterance.handled.
 *
 * A skill that has spoken, or has asked a person (core/bus/question.h), is active for some minutes:
 * ovos-core asks it first about each further utterance, and waits half a second for the answer. So
 * this question is answered whether `listen` is on or not.
 *
 * Every client of the bus can send these messages. Within LISTENING_BURST and LISTENING_STEP_MS
 * they are read; the rest costs the scan of its topic, like any message for others. The source
 * LISTENING_SOURCE as a whole pays for long searches, like a caller of ovos.tools.match.
 */

/* The source of its calls. */
#define LISTENING_SOURCE "ovos-fallback"

/* Messages with utterances read at once, and the time for each further message. */
#define LISTENING_BURST   200
#define LISTENING_STEP_MS 20

/* The utterances tried of one message, and the longest such message. */
#define LISTENING_UTTERANCES_MAX 16
#define LISTENING_FRAME_BYTES    (256 << 10)

/* The parts of the service for it, all borrowed. */
struct listening {
	struct bus *bus; /* set once it is open */
	const struct config *config;
	const struct offer *offer;
	const struct invoker *invoker;
	struct request_scope *scope;
	struct matcher *matcher;
	struct utterances *utterances;
	struct stopping stopping;
	bool is_on;        /* it is registered, or will be when the bus is connected */
	bool is_stopped;   /* the service ends */
	uint32_t priority; /* its registration has this one */
	struct pace questions;
	struct pace signs;
	uint64_t n_asked; /* utterances about which it was asked */
	uint64_t n_taken; /* calls */
};

/* The bus is connected: register, if `listen` wants that. */
void listening_begin(struct listening *listening);

/* Follow the configuration: register or deregister. */
void listening_configure(struct listening *listening);

/* Deregister: the service ends. */
void listening_stop(struct listening *listening);

/* Return whether messages with this topic are for a fallback skill. */
bool listening_has_topic(const char *topic, size_t size);

/* See listening_wants(). */
bool listening_wants_topic(struct listening *listening, const char *topic, size_t size);

/* Return whether @topic may be read in each case: such a topic ends so. */
static inline bool listening_may_want(const char *topic, size_t size)
{
	const char *end = topic + size - 4;

	return size > 4 && (memcmp(end, "stop", 4) == 0 || memcmp(end, "ping", 4) == 0);
}

/* Return whether a message with this topic is to be read, and count it. */
static inline bool listening_wants(struct listening *listening, const char *topic, size_t size)
{
	return (listening->is_on || listening_may_want(topic, size)) &&
	       listening_wants_topic(listening, topic, size);
}

/* Act on the message in the scope. Return whether it is for a fallback skill. */
bool listening_take(struct listening *listening);

/* Write the member `listen`, if it is on. */
void listening_write_status(const struct listening *listening, struct answer *answer);
