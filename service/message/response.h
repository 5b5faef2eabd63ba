/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "message/envelope.h"
#include "util/buffer.h"

/* Messages of ours: responses, requests and broadcasts. */

/* The room ahead of the text of a message, for what sends it (bus/frame.h). */
#define BUS_MESSAGE_ROOM_BYTES 48

/*
 * A message is built in place: bus_message_begin() leaves room for the websocket header, the text
 * is appended, and bus_send() takes the whole buffer over. So nothing is copied.
 */
void bus_message_begin(struct buffer *message);

/* Return the text that @message holds so far, and its size. */
static inline const char *bus_message_text(const struct buffer *message, size_t *ret_size)
{
	if (message->size < BUS_MESSAGE_ROOM_BYTES) {
		*ret_size = 0;
		return "";
	}
	*ret_size = message->size - BUS_MESSAGE_ROOM_BYTES;
	return message->data + BUS_MESSAGE_ROOM_BYTES;
}

/*
 * The queue to a bus of others is shared by the sources that are answered. They are spread over
 * BUS_SHARES shares by a hash, and one share has at most half of what the others leave. So a source
 * that asks for much cannot push out the answers to others. BUS_SHARE_OWN is for messages that
 * answer no request; it is not bounded.
 */
#define BUS_SHARES    1024
#define BUS_SHARE_OWN 0

/* Append the context of a response to this message (MSG-1 §5). */
void bus_context_derive(const struct bus_envelope *envelope, struct buffer *out);

/* Begin a response to @envelope in @message (see bus_message_begin), up to its data. The caller
 * appends the data object and calls bus_message_end(). */
void bus_response_begin(struct buffer *message, const struct bus_envelope *envelope);

/* The parts of the context that a response returns. */
enum bus_context_part {
	BUS_CONTEXT_WHOLE,
	BUS_CONTEXT_SHORT, /* only `session` and the routing pair */
	BUS_CONTEXT_EMPTY,
};

/* Return the size of the derived context, reduced to @part, within a few bytes. */
size_t bus_context_size(const struct bus_envelope *envelope, enum bus_context_part part);

/* As bus_response_begin(), with a context reduced to @part. */
void bus_response_begin_part(
	struct buffer *message, const struct bus_envelope *envelope, enum bus_context_part part);

/* Return the share of the queue (bus_send) for responses to the source of @envelope. */
unsigned int bus_response_share(const struct bus_envelope *envelope);

/* Begin a message that answers no request, up to its data. Its context has @source and the session
 * "default", without which clients of OVOS warn of it. */
void bus_broadcast_begin(struct buffer *message, const char *topic, const char *source);

/* Begin a message called @topic with the context of @response, whose first @response_head bytes are
 * those that bus_response_begin() has written. */
void bus_aside_begin(struct buffer *message, const char *topic, const struct buffer *response,
	size_t response_head);

/* Begin a request with a context of our own: @context is the JSON text of an object. */
void bus_request_begin(struct buffer *message, const char *topic, const char *context);

/* Close the message, which is then ready for bus_send(). */
static inline void bus_message_end(struct buffer *message)
{
	buffer_append_char(message, '}');
}
