/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/bus/bus_calls.h"
#include "core/call/invocation.h"
#include "core/request/request_scope.h"
#include "core/voice/utterance.h"

/*
 * "stop": a person ends the calls of the session by utterances, and the open question of a tool
 * (ovos_core/intent_services/stop_service.py, ovos_workshop/skills/ovos.py).
 *
 *   ovos.stop.ping, toolboxd.stop.ping ──▶ skill.stop.pong {skill_id, can_handle}
 *                                            something of ours can be stopped
 *   toolboxd:stop, toolboxd.stop ──▶ the end of it ──▶ toolboxd.stop.response {skill_id, result}
 *                                                      mycroft.skill.handler.complete
 *   ovos.stop, mycroft.stop ──▶ the end of it
 *
 * ovos-core sends the ping to each skill that is active in the session, and "toolboxd:stop" to the
 * last active one with something to stop; versions 2 have the name with a dot. Without such a skill
 * it sends a stop to all. Versions 3 count the stop as a handler, whose completion they wait for.
 */

/* The parts of the service for it, all borrowed. */
struct stopping {
	struct request_scope *scope;
	const struct invoker *invoker;
	struct utterances *utterances;
	struct bus_calls *bus_calls; /* the question is among them */
};

/* Answer the ping in the scope. */
void stopping_take_ping(struct stopping *stopping);

/* Obey the stop in the scope, which is for us. */
void stopping_take_ours(struct stopping *stopping);

/* Obey the stop in the scope, which is for all. */
void stopping_take_all(struct stopping *stopping);
