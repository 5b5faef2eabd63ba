/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "catalogue/toolbox.h"
#include "core/answer.h"
#include "core/state.h"
#include "json/reader.h"

/* The members of a call event (contract.md, Broadcasts). */
struct events_call {
	const struct tool *tool;
	const char *call_id; /* JSON text of `call_id`, @call_id_size bytes; size 0: none given */
	size_t call_id_size;
};

/* A call begins: it was accepted. */
void events_call_started(struct bus *bus, const struct events_call *call);

/* It goes on: the members `progress` (a number) and `text` (a string, cut to EVENTS_TEXT_POINTS) of
 * the object @progress; null for what is neither. */
#define EVENTS_TEXT_POINTS 1000
void events_call_progress(
	struct bus *bus, const struct events_call *call, const struct json_tape *progress);

/* It is over, after @duration_ms. @error: the text of the error as JSON, or NULL; @result: the JSON
 * text of the result, or NULL when it is not to be told. */
void events_call_completed(struct bus *bus, const struct events_call *call, double duration_ms,
	const char *error, size_t error_size, const char *result, size_t result_size);

/* Whether calls that begin now are to be told of: by the configuration, or because somebody
 * watches.
 */
bool events_are_wanted(const struct service *service);

/* Answer ovos.tools.watch: call events are broadcast for so many seconds. */
void events_watch(struct service *service);
