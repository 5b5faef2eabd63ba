/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * The envelope of a message (OVOS-MSG-1): `{"type": …, "data": …, "context": …}`.
 *
 *   frame bytes ──bus_topic_scan──▶ topic: ours? no: forget the frame
 *                                     │ yes
 *               ──bus_envelope_read─▶ all of it checked; tapes over data and context
 *               ──bus_response_begin▶ `{"type": "TOPIC.response", "context": {…}, "data": `
 *
 * A response keeps every byte of the request's context but the routing pair, which is derived by
 * MSG-1 §5: numbers, escapes and unknown keys come back as they were sent.
 */

/* The longest topic that is read, with its NUL. */
#define BUS_TOPIC_BYTES 256

enum bus_envelope_status {
	BUS_E_MALFORMED = 1, /* not a message: to be dropped and logged, never answered */
	BUS_E_NO_TOPIC,      /* (scan) no `type` in the bytes given */
	BUS_E_INCOMPLETE,    /* (scan) the bytes end before it can be said */
};

/*
 * Find `type` among the top-level keys; of two the first decides. Builds nothing and checks nothing
 * else. Returns 0 with the decoded topic in @ret_topic (not NUL-terminated) and *ret_size (1 to
 * BUS_TOPIC_BYTES - 1), BUS_E_NO_TOPIC (also for a `type` that is no string, is empty, or is too
 * long to be anybody's, and for what is no object), or BUS_E_INCOMPLETE: with more bytes of the
 * frame it may be found.
 */
int bus_topic_scan(
	const char *text, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size);

struct bus_envelope {
	char topic[BUS_TOPIC_BYTES]; /* decoded, NUL-terminated */
	size_t topic_size;
	struct json_tape data;    /* root: always an object (absent or null: an empty one) */
	struct json_tape context; /* the same */
	struct json_tape scratch;
	int data_status; /* 0, JSON_E_DUPLICATE_KEY, JSON_E_NUL_IN_KEY or JSON_E_DEPTH: then
			    the data tape is that of an empty object */
	struct json_error data_error;
	const char *reason; /* after BUS_E_MALFORMED: a constant text for the log */
};

/*
 * Read a whole frame. @envelope is zeroed, or was used before (its memory is used again); the tapes
 * borrow @text. @depth_max counts from the roots of data and of context. 0, BUS_E_MALFORMED, or
 * -ENOMEM.
 */
int bus_envelope_read(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max);

void bus_envelope_deinit(struct bus_envelope *envelope);

/* Append the context of a response to this message, MSG-1 §5. */
void bus_context_derive(const struct bus_envelope *envelope, struct buffer *out);

/* Start a response to @envelope in @message (see bus_message_begin), up to where its data goes:
 * append the data object, then call bus_message_end(). */
void bus_response_begin(struct buffer *message, const struct bus_envelope *envelope);

/* Start a message that answers nobody: context {"source": "@source"}. */
void bus_broadcast_begin(struct buffer *message, const char *topic, const char *source);

/* Start a request with a context of our own: @context is the text of a JSON object. */
void bus_request_begin(struct buffer *message, const char *topic, const char *context);

/* Close the message: it can be sent. */
void bus_message_end(struct buffer *message);
