/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/answer.h"
#include "core/state.h"

/*
 * All that the service answers, as one table (contract.md, Requests).
 *
 *   topic ─▶ table of exact topics ─┐
 *     │                             ├─▶ handler, which reads service->envelope
 *     └────▶ ovos.persona.tools.<toolbox_id>.call
 */

/* Whether a message with this topic is for us. */
bool topics_wants(const char *topic, size_t size);

/* Serve the request that was read into service->envelope. */
void topics_serve(struct service *service);

/* Answer it with the text @error instead.
 * Nothing comes of a topic that only the owner of a toolbox answers: whose it is, nobody has looked
 * up. */
void topics_refuse(struct service *service, enum answer_code code, const char *error);

/* Whether the topic asks only after the service itself, and is answered before anything is loaded.
 */
bool topics_is_about_life(const char *topic);
