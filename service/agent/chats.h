/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/asking.h"
#include "agent/sessions.h"
#include "agent/setup.h"
#include "agent/turn/turn.h"
#include "bus/bus.h"
#include "bus/ovos/speech.h"
#include "message/envelope.h"

/*
 * Chats: requests for a turn, each with the way of its answer.
 *
 *   request ─▶ conversation ─▶ its present turn is cancelled
 *                 │
 *                 ├─ fewer than CHATS_RUNNING turns ─▶ runs ──▶ response, or the end for OVOS
 *                 └─ else it waits, up to CHATS_WAITING      ├─▶ ovos.tools.chat.delta
 *                                                            └─▶ speak
 */

/* Our id among the skills of OVOS. */
#define AGENT_SKILL_ID "toolbox-agent"

/* The source of requests to the fallback skill. */
#define AGENT_FALLBACK_SOURCE "ovos-fallback"

/* The turns side by side, and the most waiting turns. */
#define CHATS_RUNNING 8
#define CHATS_WAITING 64

/* The longest utterance, and the longest session of a context that is passed on, in bytes. */
#define CHAT_UTTERANCE_BYTES (64u << 10)
#define CHAT_SYSTEM_BYTES    (128u << 10)
#define CHAT_SESSION_BYTES   (32u << 10)

struct chats {
	struct loop *loop;
	struct bus *bus;     /* set once it is open */
	struct setup *setup; /* for new chats, borrowed */
	struct asking *asking;
	struct sessions sessions;
	struct list running;
	struct list waiting;
	size_t n_running;
	size_t n_waiting;
	uint64_t n_turns; /* so far */
};

void chats_init(struct chats *chats, struct loop *loop, struct setup *setup, struct asking *asking);

/* Cancel all turns, and forget all conversations. Takes a zeroed struct. */
void chats_deinit(struct chats *chats);

/* Take the message in @envelope as a request for a turn: ovos.tools.chat. */
void chats_take(struct chats *chats, const struct bus_envelope *envelope);

/* Take the first utterance of the message in @envelope, for which ovos-core has chosen us. */
void chats_take_fallback(struct chats *chats, const struct bus_envelope *envelope);

/* Serve ovos.tools.chat.cancel, .reset and .history. */
void chats_serve_cancel(struct chats *chats, const struct bus_envelope *envelope);
void chats_serve_reset(struct chats *chats, const struct bus_envelope *envelope);
void chats_serve_history(struct chats *chats, const struct bus_envelope *envelope);

/* A person interrupts in the session of the message: end its turns. @is_gentle: unless a person is
 * waited for. */
void chats_interrupt(struct chats *chats, const struct bus_envelope *envelope, bool is_gentle);

/* ovos-core does not wait any longer: end the turns of fallbacks in the session of the message. */
void chats_force_timeout(struct chats *chats, const struct bus_envelope *envelope);

/* A question about a call waits for a person, or was decided. */
void chats_take_question(struct chats *chats, const struct bus_envelope *envelope);
void chats_take_decision(struct chats *chats, const struct bus_envelope *envelope);

/* A tool asks a person in the session of the message, or no longer. */
void chats_set_asking(struct chats *chats, const struct bus_envelope *envelope, bool is_asking);

/* The bus is lost: end all turns. */
void chats_lose_bus(struct chats *chats);

/* Cancel all turns, the waiting ones, too. */
void chats_stop(struct chats *chats);
