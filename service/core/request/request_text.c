/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request_text.h"

#include <string.h>

#include "json/scan.h"

/* A text with so many values can take DEBT_FREE_NS to read. */
#define LONG_VALUES 65536

/* Copy @view to @bytes, and return the copy. An absent text stays absent. */
static struct text_view copy_view(const struct text_view *view, char *bytes)
{
	if (!view->text)
		return (struct text_view){0};
	memcpy(bytes, view->text, view->size);
	return (struct text_view){bytes, view->size};
}

struct request_text request_text_copy(const struct request_text *text, char *bytes)
{
	return (struct request_text){
		.topic = text->topic,
		.message = copy_view(&text->message, bytes),
		.args = copy_view(&text->args, bytes + text->message.size),
	};
}

bool request_text_is_long(const struct request_text *text)
{
	const struct text_view *view = text->topic ? &text->args : &text->message;

	return view->size >= REQUEST_TEXT_LONG_BYTES &&
	       json_scan_is_dense(view->text, view->size, LONG_VALUES);
}

/* Read the parts of a request with a topic: arguments with a tape are not read again. */
static int read_parts(const struct request_text *text, struct bus_envelope *envelope, bool is_skim,
	uint32_t depth_max)
{
	const struct text_view unread = text->tape ? (struct text_view){0} : text->args;
	int r = bus_envelope_fill(
		envelope, text->topic, &text->message, &unread, is_skim, depth_max);

	if (r == 0 && text->tape && !is_skim)
		bus_envelope_give(envelope, text->tape, text->token, depth_max);
	return r;
}

int request_text_read(const struct request_text *text, struct bus_envelope *envelope, bool is_skim,
	uint32_t depth_max)
{
	const struct text_view *message = &text->message;

	if (text->topic)
		return read_parts(text, envelope, is_skim, depth_max);
	return is_skim ? bus_envelope_skim(envelope, message->text, message->size, depth_max)
		       : bus_envelope_read(envelope, message->text, message->size, depth_max);
}
