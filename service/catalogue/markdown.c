/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/markdown.h"

#include <errno.h>
#include <string.h>

#include "catalogue/model_schema.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

/* Append @text of @size bytes with each run of control characters and spaces as one space. */
static void write_line(const char *text, size_t size, struct buffer *out)
{
	bool is_space = true;

	for (size_t i = 0; i < size; i++) {
		bool was_space = is_space;

		is_space = (unsigned char)text[i] <= ' ' || text[i] == 0x7f;
		if (!is_space)
			buffer_append_char(out, text[i]);
		else if (!was_space)
			buffer_append_char(out, ' ');
	}
}

static void write_string(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_string_decode(tape, token, &text);
	buffer_fail_with(out, &text);
	write_line(buffer_text(&text), text.size, out);
}

/* Write the types named by the schema at @schema, or "any". */
static void write_types(const struct json_tape *tape, uint32_t schema, struct buffer *out)
{
	uint32_t type = json_type_at(tape, schema) == JSON_OBJECT ? json_find(tape, schema, "type")
								  : JSON_NONE;
	bool is_first = true;

	if (type != JSON_NONE && json_type_at(tape, type) == JSON_STRING) {
		write_string(tape, type, out);
	} else if (type != JSON_NONE && json_type_at(tape, type) == JSON_ARRAY) {
		json_each(i, tape, type) {
			buffer_append_string(out, is_first ? "" : " or ");
			is_first = false;
			if (json_type_at(tape, i) == JSON_STRING)
				write_string(tape, i, out);
		}
	} else {
		buffer_append_string(out, "any");
	}
}

/* Write the values of the "enum" of the schema at @schema. */
static void write_values(const struct json_tape *tape, uint32_t schema, struct buffer *out)
{
	uint32_t values = json_find_typed_at(tape, schema, "enum", JSON_ARRAY);

	json_each_found(i, tape, values) {
		buffer_append_string(out, i == json_first(tape, values) ? ", one of " : ", ");
		json_write_compact(out, tape, i);
	}
}

/* Write the argument with the name at @key. */
static void write_argument(
	const struct json_tape *tape, uint32_t required, uint32_t key, struct buffer *out)
{
	bool is_object = json_type_at(tape, key + 1) == JSON_OBJECT;
	uint32_t fallback = is_object ? json_find(tape, key + 1, "default") : JSON_NONE;
	uint32_t description = is_object ? json_find(tape, key + 1, "description") : JSON_NONE;

	buffer_append_string(out, "- `");
	write_string(tape, key, out);
	buffer_append_string(out, "` (");
	write_types(tape, key + 1, out);
	if (is_object)
		write_values(tape, key + 1, out);
	if (json_has_string(tape, required, key))
		buffer_append_string(out, ", required");
	if (fallback != JSON_NONE) {
		buffer_append_string(out, ", default ");
		json_write_compact(out, tape, fallback);
	}
	buffer_append_char(out, ')');
	if (description != JSON_NONE && json_type_at(tape, description) == JSON_STRING) {
		buffer_append_string(out, ": ");
		write_string(tape, description, out);
	}
	buffer_append_char(out, '\n');
}

static void write_argument_lines(const struct tool *tool, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer schema = {0};
	uint32_t properties;
	uint32_t required;

	model_schema_write(tool->argument_schema, &schema);
	if (buffer_status(&schema) < 0 || json_tape_read(&tape, schema.data, schema.size,
						  4 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return;
	}
	properties = json_find_typed_at(&tape, 0, "properties", JSON_OBJECT);
	required = json_find_typed_at(&tape, 0, "required", JSON_ARRAY);
	if (properties == JSON_NONE || json_count(&tape, properties) == 0)
		return;
	json_each_key(key, &tape, properties)
		write_argument(&tape, required, key, out);
	buffer_append_char(out, '\n');
}

void markdown_write_toolbox(const struct toolbox *toolbox, struct buffer *out)
{
	buffer_printf(out, "## %s\n\n", toolbox->id);
	if (!toolbox->description || !*toolbox->description)
		return;
	write_line(toolbox->description, strlen(toolbox->description), out);
	buffer_append_string(out, "\n\n");
}

void markdown_write_tool(const struct tool *tool, const char *name, struct buffer *out)
{
	buffer_printf(out, "### %s\n\n", name);
	if (*tool->description) {
		write_line(tool->description, strlen(tool->description), out);
		buffer_append_string(out, "\n\n");
	}
	write_argument_lines(tool, out);
}
