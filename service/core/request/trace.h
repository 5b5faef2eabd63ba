/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The trace of a request: texts that are passed on unchanged (W3C Trace Context, 3.2 and 3.3; W3C
 * Baggage, 3.1; MCP, SEP-414).
 *
 *   headers of HTTP, _meta of MCP, context of a message ─▶ "traceparent":"00-…","tracestate":"…"
 *     ─▶ record of the call ─▶ log, audit log, host: environment, _meta, plugin
 *
 * A malformed text is dropped, and `tracestate` with a malformed or absent `traceparent`.
 */

/* The longest `traceparent` of a future version, `tracestate` and `baggage`, in bytes: of the last
 * two, their specifications want at least as many. */
#define TRACE_PARENT_BYTES  128
#define TRACE_STATE_BYTES   512
#define TRACE_BAGGAGE_BYTES 8192

/* Decoded texts; absent ones have no text. */
struct trace_texts {
	struct text_view parent;
	struct text_view state;
	struct text_view baggage;
};

/* Append the texts of @texts that are well formed to @out, as members of an object with commas
 * between them. */
void trace_write(const struct trace_texts *texts, struct buffer *out);

/* As trace_write(), for the members `traceparent`, `tracestate` and `baggage` of the object at
 * @object of @tape. Texts with escapes are malformed. */
void trace_write_members(const struct json_tape *tape, uint32_t object, struct buffer *out);

/* Return whether the object at @object of @tape has a trace. */
static inline bool trace_is_in(const struct json_tape *tape, uint32_t object)
{
	return json_find(tape, object, "traceparent") != JSON_NONE ||
	       json_find(tape, object, "baggage") != JSON_NONE;
}

/* Return the `traceparent` of @trace, written by the functions above; absent: there is none. */
struct text_view trace_parent(const struct buffer *trace);
