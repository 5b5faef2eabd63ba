/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/request/answer.h"
#include "core/call/calls.h"
#include "core/request/request.h"
#include "json/reader.h"
#include "schema/schema.h"
#include "util/clock.h"
#include "util/text/text_view.h"

/*
 * Call events (contract.md, Broadcasts): each call begun while events are wanted is broadcast, with
 * its progress and its end. They are wanted when events.calls is true, or while a client watches,
 * by the bus or a door.
 */
struct events {
	const struct config *config;     /* borrowed */
	const struct audience *audience; /* borrowed */
	struct schema_context *context;  /* borrowed: memory for masking */
	uint64_t watched_until_ms;
};

/* The longest text of a progress event, in code points. */
#define EVENTS_TEXT_POINTS 1000

/* Return whether events of a call begun now are wanted. */
static inline bool events_are_wanted(const struct events *events)
{
	return events->config->events_calls || events->audience->wants_calls ||
	       (events->watched_until_ms > 0 && clock_now_ms() < events->watched_until_ms);
}

/* Broadcast that @call was accepted. @arguments: JSON that satisfies the schema of the tool, for
 * events with arguments (events.arguments); NULL: they do not. */
void events_call_started(
	const struct events *events, const struct call *call, const struct text_view *arguments);

/* Broadcast the members `progress` (a number) and `text` (a string, cut to EVENTS_TEXT_POINTS) of
 * the object @progress; a member of another type is null. At the caller's request, it has the
 * context of the response. */
void events_call_progress(
	const struct events *events, const struct call *call, const struct json_tape *progress);

/* Report to the caller of @call on the bus that the call waits, by @text, with the context of its
 * response @answer. */
void events_call_waits(const struct audience *audience, const struct call *call,
	const struct answer *answer, const char *text);

/* Broadcast that @call ended after @duration_ms. @error: the text of the error as JSON, or NULL.
 * @result: the JSON text of the result, or NULL to leave it out. */
void events_call_completed(const struct events *events, const struct call *call, double duration_ms,
	const char *error, size_t error_size, const char *result, size_t result_size);

/* Broadcast the beginning and the end of @call, refused with the error in @answer. @arguments: as
 * for events_call_started(). */
void events_call_refused(const struct events *events, const struct call *call,
	const struct text_view *arguments, const struct answer *answer);

/* Serve ovos.tools.watch: broadcast call events for as many seconds as @request asks for. */
void events_watch(struct events *events, const struct request *request, struct answer *answer);
