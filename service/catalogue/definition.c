/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/definition.h"

#include <string.h>

#include "json/writer.h"

static const char *const format_names[] = {
	[DEFINITION_FULL] = "full",
	[DEFINITION_COMPACT] = "compact",
	[DEFINITION_OPENAI] = "openai",
	[DEFINITION_ANTHROPIC] = "anthropic",
};

int definition_format_from_name(const char *name, size_t size)
{
	for (int format = DEFINITION_FULL; format <= DEFINITION_ANTHROPIC; format++)
		if (strlen(format_names[format]) == size &&
			memcmp(format_names[format], name, size) == 0)
			return format;
	return -1;
}

void definition_write_full(const struct tool *tool, const char *extra, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, tool->name);
	buffer_append_string(out, ",\"description\":");
	json_write_text(out, tool->description);
	buffer_append_string(out, ",\"argument_schema\":");
	buffer_append_string(out, tool->argument_schema);
	buffer_append_string(out, ",\"output_schema\":");
	buffer_append_string(out, tool->output_schema);
	buffer_append_string(out, ",\"toolbox_id\":");
	json_write_text(out, tool->toolbox->id);
	buffer_append_string(out, extra);
	buffer_append_char(out, '}');
}

static void write_for_model(
	const struct tool *tool, const char *schema_key, bool is_shared, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":\"");
	if (is_shared) {
		buffer_append_string(out, tool->toolbox->id);
		buffer_append_string(out, "__");
	}
	buffer_append_string(out, tool->name);
	buffer_append_string(out, "\",\"description\":");
	json_write_text(out, tool->description);
	buffer_printf(out, ",\"%s\":", schema_key);
	buffer_append_string(out, tool->argument_schema);
	buffer_append_char(out, '}');
}

void definition_write(
	const struct tool *tool, enum definition_format format, bool is_shared, struct buffer *out)
{
	switch (format) {
	case DEFINITION_FULL:
		buffer_append(out, tool->definition, tool->definition_size);
		return;
	case DEFINITION_COMPACT:
		write_for_model(tool, "parameters", is_shared, out);
		return;
	case DEFINITION_OPENAI:
		buffer_append_string(out, "{\"type\":\"function\",\"function\":");
		write_for_model(tool, "parameters", is_shared, out);
		buffer_append_char(out, '}');
		return;
	case DEFINITION_ANTHROPIC:
		write_for_model(tool, "input_schema", is_shared, out);
		return;
	}
}
