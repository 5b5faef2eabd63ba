/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/scan.h"
#include "message/envelope.h"
#include "util/text/text_view.h"

/*
 * The text of a request, as its door has it. Only arguments with a tape are checked.
 *
 *   bus    message   {"type": …, "data": {"name": …, "args": {…}}, "context": …}, as it came
 *
 *   HTTP   topic     of the route
 *          message   {"name": …}: the data, which the door writes from the path and the query
 *          args      the body, as it came: the value of `args` in the data
 *                    (a batch: the body is the message)
 *
 *   MCP    as HTTP, but for args: they are a part of the body, which the door has read
 *
 * The body is read by itself, and never joined with the data: it cannot add a member to the
 * request, or end it. The caller is not a part of the text: its door names it
 * (core/request/address.h).
 */

/* A text of so many bytes is measured; a shorter one has too few values to take long. */
#define REQUEST_TEXT_LONG_BYTES (128u << 10)

/* A text with so many values can take DEBT_FREE_NS to read. */
#define REQUEST_TEXT_LONG_VALUES 65536

struct request_text {
	const char *topic; /* constant text; NULL: the message has it */
	struct text_view message;
	struct text_view args; /* absent: none */
	/* The arguments as the value @token of @tape, if the door has read them; or NULL */
	const struct json_tape *tape;
	uint32_t token;
};

/* Return the size of @text in bytes. */
static inline size_t request_text_size(const struct request_text *text)
{
	return text->message.size + text->args.size;
}

/* Copy @text to @bytes, which has room for its size. Return the copy, which has no tape. */
struct request_text request_text_copy(const struct request_text *text, char *bytes);

/* Return whether @text has so many values that reading may take long. */
static inline bool request_text_is_long(const struct request_text *text)
{
	const struct text_view *view = text->args.text ? &text->args : &text->message;

	return view->size >= REQUEST_TEXT_LONG_BYTES &&
	       json_scan_is_dense(view->text, view->size, REQUEST_TEXT_LONG_VALUES);
}

/* Read the parts of @text, which has a topic, into @envelope: arguments with a tape are not read
 * again. See request_text_read(). */
int request_text_read_parts(const struct request_text *text, struct bus_envelope *envelope,
	bool is_skim, uint32_t depth_max);

/* Read @text into @envelope, or skim it: bus_envelope_read(), bus_envelope_skim(),
 * bus_envelope_fill(). */
static inline int request_text_read(const struct request_text *text, struct bus_envelope *envelope,
	bool is_skim, uint32_t depth_max)
{
	const struct text_view *message = &text->message;

	if (text->topic)
		return request_text_read_parts(text, envelope, is_skim, depth_max);
	return is_skim ? bus_envelope_skim(envelope, message->text, message->size, depth_max)
		       : bus_envelope_read(envelope, message->text, message->size, depth_max);
}
