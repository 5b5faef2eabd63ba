/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request_text.h"

#include <string.h>

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

int request_text_read_parts(const struct request_text *text, struct bus_envelope *envelope,
	bool is_skim, uint32_t depth_max)
{
	const struct text_view unread = text->tape ? (struct text_view){0} : text->args;
	int r = bus_envelope_fill(
		envelope, text->topic, &text->message, &unread, is_skim, depth_max);

	if (r == 0 && text->tape && !is_skim)
		bus_envelope_give(envelope, text->tape, text->token, depth_max);
	return r;
}
