/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "bus/ovos/speech.h"

/*
 * The messages of a fallback skill to OVOS (ovos_core/intent_services/fallback_service.py,
 * ovos_workshop/skills/fallback.py); topics begin with `ovos.skills.fallback.`:
 *
 *   register, deregister {skill_id, priority}                     at any time
 *   pong {skill_id, can_handle}                                   after ping
 *   SKILL.start, SKILL.response {result}, [ovos.utterance.handled]  around an utterance
 *   SKILL.killed {error}                                          before the response, after a cut
 *
 * ovos-core 3 ends an utterance by itself, and marks it by `utterance_id` in the context; for
 * ovos-core 2 the skill sends ovos.utterance.handled.
 */
#define FALLBACK_TOPIC "ovos.skills.fallback."

/* Send the registration of the skill @skill_id, or its end. It counts for all sessions. Nothing is
 * sent while the bus is away. */
void fallback_send_registration(
	struct bus *bus, const char *skill_id, uint32_t priority, bool is_end);

/* Send whether the skill of @speech takes the utterance in its context. */
void fallback_send_pong(const struct speech *speech, struct bus *bus, bool can_handle);

/* Send that the utterance of @speech is being taken. */
void fallback_send_start(const struct speech *speech, struct bus *bus);

/* Send the end of the utterance of @speech: whether something was done about it. @is_killed: it was
 * cut short. */
void fallback_send_end(const struct speech *speech, struct bus *bus, bool is_done, bool is_killed);

/* Return whether a core of version 2 has sent the utterance of @speech. */
bool fallback_is_of_old_core(const struct speech *speech);

/* Send that the skill of @speech wants no part in a conversation. */
void fallback_send_converse(const struct speech *speech, struct bus *bus);
