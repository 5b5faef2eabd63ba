/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tool_document.h"

#include <string.h>

#include "catalogue/model_schema.h"
#include "util/cleanup.h"

/* Append the schema @text, with an `$id` if it is an object that has references. */
static void write_rooted(
	const char *text, size_t size, const char *name, const char *part, struct buffer *out)
{
	if (size < 2 || *text != '{' || !memmem(text, size, "\"$ref\"", strlen("\"$ref\"")) ||
		memmem(text, size, "\"$id\"", strlen("\"$id\""))) {
		buffer_append(out, text, size);
		return;
	}
	buffer_printf(
		out, "{\"$id\":\"urn:toolboxd:%s:%s\"%s", name, part, text[1] == '}' ? "" : ",");
	buffer_append(out, text + 1, size - 1);
}

void tool_document_arguments(const struct tool *tool, const char *name, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	model_schema_write(tool->argument_schema, &schema);
	buffer_fail_with(out, &schema);
	write_rooted(schema.data ? schema.data : "", schema.size, name, "arguments", out);
}

void tool_document_answer(const struct tool *tool, const char *name, struct buffer *out)
{
	const char *schema = tool->output_schema;

	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
				  "\"string\"},\"result\":");
	write_rooted(schema, strlen(schema), name, "result", out);
	buffer_append_string(out, "},\"required\":[\"name\",\"result\"]}");
}
