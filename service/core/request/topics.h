/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/request/waiting.h"
#include "core/state.h"

/*
 * The way of a frame to the handler of its topic. All topics answered by the service are one table
 * (contract.md, Requests), and a request gets its answer in one place.
 *
 *   frame of the bus ─▶ envelope ─▶ hosts that have subscribed to the topic
 *                                     │
 *   text of another door ─▶ envelope ─┴─▶ nothing is loaded yet? ─▶ waiting room
 *                                           │
 *   ┌───────────────────────────────────────┘
 *   ▼
 *   topic ─▶ table of exact topics ─┐
 *     │                             ├─▶ read fields ─ begin answer ─ handler ─ fit ─ send
 *     └────▶ ovos.persona.tools.<toolbox_id>.call              │
 *                                                              └─▶ takes the answer over: it is
 *                                                                  sent later
 */

/* Return whether a message with this topic is a request to the service. */
bool topics_wants(const char *topic, size_t size);

/* For the handler of the bus (bus/bus.h), with the service as @data: return whether it wants frames
 * with @topic; take such a frame. */
bool topics_wants_frame(void *data, const char *topic, size_t size);
void topics_take_frame(void *data, const char *text, size_t size);

/* Take the request @text of the caller at @address, the receiver of the answer. The caller of a
 * text without a topic, a whole message, is in its context.
 * Return 0; BUS_E_MALFORMED when its arguments are not JSON (service->scope.envelope has the
 * fault); or -ENOMEM. Unless it returns 0, there is no answer. */
int topics_take_request(
	struct service *service, struct address *address, const struct request_text *text);

/* Take the request @text for the call of an entry of a batch, or of an utterance (@data is the
 * service): see topics_take_request(). A @text without a topic is a message of the bus. */
int topics_take_entry(void *data, struct address *address, const struct request_text *text);

/* Serve @request after its wait (core/request/waiting.h; @data is the service). */
void topics_serve_again(void *data, struct waiting_request *request);
