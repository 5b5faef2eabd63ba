/* SPDX-License-Identifier: Apache-2.0 */

/* A plugin whose results are rich content. */

#include <toolbox.h>

static void draw(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_json(call, "content",
		"[{\"type\": \"image\", \"data\": \"AAEC\", \"mimeType\": \"image/png\"}]");
	toolbox_open_object(call, "structured");
	toolbox_put_i64(call, "width", 3);
	toolbox_close(call);
	toolbox_reply(call);
}

static const struct toolbox_tool tools[] = {{
	.name = "draw",
	.description = "Draws three bytes.",
	.output_schema =
		"{\"type\": \"object\", \"properties\": {\"width\": {\"type\": \"integer\"}},"
		" \"required\": [\"width\"]}",
	.risk = TOOLBOX_READ,
	.handler = draw,
}};

TOOLBOX_PLUGIN(tools, NULL, NULL);
