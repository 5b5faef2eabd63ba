/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/masked_arguments.h"

#include "catalogue/tool_schemas.h"
#include "json/document.h"

int masked_arguments_mask(struct masked_arguments *shown, const struct tool *tool,
	struct schema_context *context, const char *arguments, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	/* A default may be as deep as a schema. */
	int r = json_tape_read(&tape, arguments, size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	if (r == 0)
		r = tool_schemas_wake(tool);
	if (r == 0)
		r = schema_mask(tool->schemas->arguments.compiled, context, &tape, 0, &shown->text,
			&shown->is_hidden);
	if (r == 0)
		r = json_tape_read(&shown->tape, shown->text.data, shown->text.size,
			JSON_DOCUMENT_DEPTH_MAX, NULL);
	return r;
}

int masked_arguments_read(struct masked_arguments *shown, const struct tool *tool,
	struct schema_context *context, const char *arguments, size_t size,
	const unsigned char *key)
{
	int r = masked_arguments_mask(shown, tool, context, arguments, size);

	if (r == 0)
		r = fingerprint_write(tool->name, &shown->tape, 0, shown->is_hidden ? key : NULL,
			shown->fingerprint);
	return r;
}

void masked_arguments_deinit(struct masked_arguments *shown)
{
	json_tape_deinit(&shown->tape);
	buffer_deinit(&shown->text);
}
