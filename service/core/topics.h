/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/answer.h"
#include "core/state.h"

/*
 * All topics that the service answers, as one table (contract.md, Requests), and the one place
 * where a request gets its answer.
 *
 *   topic ─▶ table of exact topics ─┐
 *     │                             ├─▶ read fields ─ begin answer ─ handler ─ fit ─ send
 *     └────▶ ovos.persona.tools.<toolbox_id>.call              │
 *                                                              └─▶ takes the answer over: it is
 *                                                                  sent later
 */

/* Return whether a message with this topic is a request to the service. */
bool topics_wants(const char *topic, size_t size);

/* Serve the request that was read into service->scope.envelope. Every request gets exactly one
 * answer, now or from the handler that takes it over. The table marks the topics that answer
 * otherwise. */
void topics_serve(struct service *service);

/* Answer it with @code and the text @error instead. A topic that only the owner of a toolbox
 * answers stays silent, since the owner is not known yet. */
void topics_refuse(struct service *service, enum answer_code code, const char *error);

/* Return whether the topic only asks for the state of the service, which is answered before
 * anything is loaded. */
bool topics_is_about_life(const char *topic);
