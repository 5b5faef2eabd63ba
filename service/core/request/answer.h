/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "util/buffer.h"

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
	ANSWER_SKIPPED,
	ANSWER_UNKNOWN_JOB,
};
#define ANSWER_CODES (ANSWER_UNKNOWN_JOB + 1)

struct address;

/*
 * The one answer to a request: a message written from its front.
 *
 *   answer_begin     {"type": "….response", "context": {…}, "data": {
 *   answer_member…   "name": "add", "call_id": "7"          written when the request is read
 *   answer_keep      ──────────────────────────── mark
 *   answer_member…   "result": {…}                          written when the tool is done
 *   answer_send      }}                                     sends the buffer, without a copy
 *
 * The members after the mark can be taken back, in case the answer is too large for a frame.
 */
struct answer {
	struct buffer message;
	size_t opened;      /* bytes before the first member */
	size_t kept;        /* bytes left by answer_rewind() */
	size_t error_start; /* the start of the error's text, as JSON; 0: no error */
	size_t error_end;
	enum answer_code code;   /* the code, after an error */
	unsigned int share;      /* the share of the queue of the bus (bus_send) */
	struct address *address; /* counted reference; NULL: the answer goes to the bus */
	const char *topic;       /* constant text; NULL for a response */
	bool is_open;            /* begun, and neither sent nor taken nor given up */
	bool has_begun;          /* memory sufficed for what comes before the first member */
	bool has_content;        /* its result is rich content */
	bool is_oversized;       /* after too_large: the answer itself is, not the request */
};

/* All receivers of the messages that answer no request: the bus, and somebody beside it. */
struct audience {
	struct bus *bus;
	/* Take the message called @topic with the data @text, a JSON object. NULL: the bus is
	 * all. */
	void (*heard)(void *data, const char *topic, const char *text, size_t size);
	void *data;
	bool wants_calls; /* whatever the configuration has about events of calls */
};

const char *answer_code_name(enum answer_code code);

/* Begin the response to @request, for the share @share of the queue of the bus (bus_share()): its
 * data is an open, empty object. */
void answer_begin(struct answer *answer, const struct bus_envelope *request, unsigned int share);

/* Begin the answer to @address: a message with the object of its data alone as text. */
void answer_begin_at(struct answer *answer, struct address *address);

/* As answer_begin(), with a context reduced to @part. */
void answer_begin_part(struct answer *answer, const struct bus_envelope *request,
	enum bus_context_part part, unsigned int share);

/* Begin a message called @topic to the receiver of the open @response on the bus, with its context.
 * A response to an address has the context of address->response. Return false without a context,
 * when the context has over 4 KiB, since a call may cause many such messages, or without memory. */
bool answer_begin_aside(struct answer *answer, const struct answer *response, const char *topic);

/* Begin a message that answers no request. */
void answer_begin_broadcast(struct answer *answer, const char *topic);

/* Give @answer up: it will not be sent. Only at the end of the service is a request left without
 * its answer. */
void answer_deinit(struct answer *answer);

/* Take the open @answer over: return it, and leave a closed answer. */
struct answer answer_take(struct answer *answer);

/* Return whether @answer was begun and still has to be sent. */
static inline bool answer_is_open(const struct answer *answer)
{
	return answer->is_open;
}

/* Return whether @answer has an error. */
static inline bool answer_is_error(const struct answer *answer)
{
	return answer->error_start > 0;
}

/* Write `"key":`, after a comma if need be. Append the value to the returned buffer. */
struct buffer *answer_member(struct answer *answer, const char *key);

/* Write a member. @text: NUL-terminated UTF-8, or NULL for null. */
void answer_member_text(struct answer *answer, const char *key, const char *text);
void answer_member_number(struct answer *answer, const char *key, uint64_t value);
void answer_member_boolean(struct answer *answer, const char *key, bool value);

/* Write the members `error` and `code`. The text (UTF-8 or not; not NUL-terminated; NULL: memory
 * was short for it) is cut to @max code points. */
void answer_error(
	struct answer *answer, enum answer_code code, const char *text, size_t size, uint32_t max);
void answer_error_format(struct answer *answer, enum answer_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Write the members of @from after its mark, an error, to @answer. */
void answer_copy_error(struct answer *answer, const struct answer *from);

/* Return the text of the written error, as JSON, with its size; NULL without an error. */
const char *answer_error_json(const struct answer *answer, size_t *ret_size);

/* Set the mark: the members so far stay, whatever happens. */
void answer_keep(struct answer *answer);

/* Take back the members after the mark, and a failure of the buffer since answer_begin(). */
void answer_rewind(struct answer *answer);

/* Return whether the message fits in a frame of @frame_bytes, and memory was not short. */
bool answer_fits(const struct answer *answer, size_t frame_bytes);

/*
 * Return whether the message fits in a frame of @frame_bytes. If not, put the error too_large, with
 * the advice @hint, in place of the members after the mark; if that does not fit either, in place
 * of all members. If memory was short, put the error unavailable in their place.
 */
bool answer_make_fit(struct answer *answer, size_t frame_bytes, const char *hint);

/* Close and send the open @answer. */
void answer_send(struct answer *answer, struct bus *bus);

/* Close @message, begun aside or as a broadcast, and send it to @audience. */
void answer_announce(struct answer *message, const struct audience *audience);

/*
 * The size guard (contract.md, Size of results): no result and no error text floods a caller, often
 * a model that pays by the character. Lengths are code points of UTF-8.
 */

/* Append the JSON text @result. When it is longer than @max code points, append instead an object
 * with the size of the cut and the head of the text. Return whether it was cut. */
bool answer_write_result(struct buffer *out, const char *result, size_t size, uint32_t max);

/* As answer_write_result() for the JSON text @arguments in an event. */
bool answer_write_arguments(struct buffer *out, const char *arguments, size_t size, uint32_t max);

/* Return the most bytes of the UTF-8 @text with at most @max code points. */
size_t answer_cut_text(const char *text, size_t size, uint32_t max);
