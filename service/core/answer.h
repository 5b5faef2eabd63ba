/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "bus/envelope.h"
#include "util/buffer.h"

/*
 * The one answer to a request: a message that is written from its front.
 *
 *   answer_begin     {"type": "….response", "context": {…}, "data": {
 *   answer_member…   "name": "add", "call_id": "7"          known when the request is read
 *   answer_keep      ──────────────────────────── mark
 *   answer_member…   "result": {…}                          known when the tool is done
 *   answer_send      }}                                     and off it goes, without a copy
 *
 * What is behind the mark can be taken back, for an answer that turns out too large for a frame.
 */
struct answer {
	struct buffer message;
	size_t opened;      /* bytes before the first member */
	size_t kept;        /* bytes that answer_rewind() leaves */
	size_t error_start; /* where the error's text begins, as JSON; 0: there is none */
	size_t error_end;
	bool is_open; /* begun, and neither sent nor taken nor given up */
};

/* contract.md, Errors. */
enum answer_code {
	ANSWER_BAD_REQUEST,
	ANSWER_MISSING_NAME,
	ANSWER_UNKNOWN_TOOL,
	ANSWER_AMBIGUOUS_TOOL,
	ANSWER_INVALID_ARGUMENTS,
	ANSWER_TOOL_FAILED,
	ANSWER_INVALID_OUTPUT,
	ANSWER_TIMEOUT,
	ANSWER_HOST_CRASHED,
	ANSWER_BUSY,
	ANSWER_COOLDOWN,
	ANSWER_DENIED,
	ANSWER_CANCELLED,
	ANSWER_UNAVAILABLE,
	ANSWER_TOO_LARGE,
};

const char *answer_code_name(enum answer_code code);

/* Start the response to @request: its data is an open, empty object. */
void answer_begin(struct answer *answer, const struct bus_envelope *request);

/* Start a message that answers nobody. */
void answer_begin_broadcast(struct answer *answer, const char *topic);

/* Give @answer up: it will not be sent. Only at the end of the service is a request left without
 * its answer. */
void answer_deinit(struct answer *answer);

/* Take @answer, which is open, over: return it, and leave an answer that is not open. */
struct answer answer_take(struct answer *answer);

/* Return whether @answer was begun and still has to be sent. */
static inline bool answer_is_open(const struct answer *answer)
{
	return answer->is_open;
}

/* Write `"key":`, with a comma where one is due; the value is then appended to the buffer that is
 * returned. */
struct buffer *answer_member(struct answer *answer, const char *key);

/* Whole members. @text: NUL-terminated UTF-8. */
void answer_member_text(struct answer *answer, const char *key, const char *text);
void answer_member_number(struct answer *answer, const char *key, uint64_t value);
void answer_member_boolean(struct answer *answer, const char *key, bool value);

/* The members `error` and `code`. The text (UTF-8 or not; not NUL-terminated) is cut to @max code
 * points. */
void answer_error(
	struct answer *answer, enum answer_code code, const char *text, size_t size, uint32_t max);
void answer_error_format(struct answer *answer, enum answer_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The text of the error that was written, as JSON, and its size; NULL when there is none. */
const char *answer_error_json(const struct answer *answer, size_t *ret_size);

/* What is there by now stays, whatever happens. */
void answer_keep(struct answer *answer);

/* Take back what was written since answer_keep(); a failure that was noted, too. */
void answer_rewind(struct answer *answer);

/* Whether the message fits in a frame of @frame_bytes (and memory did not run out). */
bool answer_fits(const struct answer *answer, size_t frame_bytes);

/*
 * Whether the message fits in a frame of @frame_bytes. One that does not becomes the error
 * too_large with the @hint what to do, in place of what was written since answer_keep(); if not
 * even that fits, in place of everything.
 */
bool answer_make_fit(struct answer *answer, size_t frame_bytes, const char *hint);

/* Close and send @answer, which is open; it no longer is afterwards. Returns the result of
 * bus_send(). */
int answer_send(struct answer *answer, struct bus *bus);

/*
 * The size guard (contract.md, Size of results): no result and no error text floods a caller, often
 * a model that pays by the character. Lengths are code points of UTF-8.
 */

/* Append the JSON text @result, or, when it is longer than @max code points, an object that says so
 * and has its head. Returns whether it was cut. */
bool answer_write_result(struct buffer *out, const char *result, size_t size, uint32_t max);

/* Return the most bytes of the UTF-8 @text that hold at most @max code points. */
size_t answer_cut_text(const char *text, size_t size, uint32_t max);
