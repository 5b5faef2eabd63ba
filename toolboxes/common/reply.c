/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

int reply_content(struct toolbox_call call, const struct text *text, const char *structured)
{
	if (text->has_failed)
		return toolbox_fail(call, "out of memory");
	toolbox_open_array(call, "content");
	toolbox_open_object(call, NULL);
	toolbox_put_string(call, "type", "text");
	toolbox_put_string_sized(call, "text", text_string(text), text->size);
	toolbox_close(call);
	toolbox_close(call);
	if (structured)
		toolbox_put_json(call, "structured", structured);
	return toolbox_reply(call);
}
