/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/definition.h"

#include <errno.h>
#include <string.h>

#include "catalogue/anthropic.h"
#include "catalogue/content.h"
#include "catalogue/markdown.h"
#include "catalogue/model_schema.h"
#include "catalogue/package.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/stringify.h"
#include "util/text/utf8.h"

/* The most characters of a description for OpenAI. */
#define OPENAI_DESCRIPTION_POINTS 1024

static const char *const format_names[] = {
	[DEFINITION_FULL] = "full",
	[DEFINITION_COMPACT] = "compact",
	[DEFINITION_OPENAI] = "openai",
	[DEFINITION_ANTHROPIC] = "anthropic",
	[DEFINITION_MCP] = "mcp",
	[DEFINITION_MARKDOWN] = "markdown",
};

int definition_format_from_name(const char *name, size_t size)
{
	for (int format = DEFINITION_FULL; format <= DEFINITION_MARKDOWN; format++)
		if (text_is(name, size, format_names[format]))
			return format;
	return -1;
}

const char *definition_format_name(size_t format)
{
	return format < ARRAY_SIZE(format_names) ? format_names[format] : NULL;
}

/* Write where a tool of @toolbox comes from, in the member @key. */
static void write_source(const char *key, const struct toolbox *toolbox, struct buffer *out)
{
	const struct package *package = toolbox->package;

	json_write_key(out, key);
	buffer_append_string(out, "{\"kind\":");
	json_write_text(out, kind_facts(package->kind)->name);
	buffer_append_string(out, ",\"toolbox\":");
	json_write_text(out, toolbox->id);
	if (package->mcp.origin) {
		buffer_append_string(out, ",\"server\":");
		json_write_text(out, package->mcp.origin);
	}
	buffer_append_char(out, '}');
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
	buffer_append_char(out, ',');
	write_source("source", tool->toolbox, out);
	buffer_append_string(out, extra);
	buffer_append_char(out, '}');
}

/* Write the name and the description. */
static void begin_for_model(const struct tool *tool, const char *name, struct buffer *out)
{
	buffer_printf(out, "{\"name\":\"%s\",\"description\":", name);
	json_write_text(out, tool->description);
}

/* Write the name and the description, at most as long as OpenAI takes it: a longer description has
 * the whole request refused (string_above_max_length). */
static void begin_for_openai(const struct tool *tool, const char *name, struct buffer *out)
{
	static const char ellipsis[] = "\u2026";
	const char *text = tool->description;
	size_t size = strlen(text);
	cleanup(buffer_deinit) struct buffer cut = {0};

	if (utf8_prefix(text, size, OPENAI_DESCRIPTION_POINTS) == size) {
		begin_for_model(tool, name, out);
		return;
	}
	buffer_append(&cut, text, utf8_prefix(text, size, OPENAI_DESCRIPTION_POINTS - 1));
	buffer_append_string(&cut, ellipsis);
	buffer_printf(out, "{\"name\":\"%s\",\"description\":", name);
	json_write_buffer(out, &cut);
}

static void write_openai(const struct tool *tool, const char *name, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	model_schema_write(tool->argument_schema, &schema);
	buffer_append_string(out, "{\"type\":\"function\",\"function\":");
	begin_for_openai(tool, name, out);
	json_write_member_json(out, "parameters", schema.data, schema.size);
	if (buffer_status(&schema) < 0)
		out->error = -ENOMEM;
	else if (model_schema_is_strict(schema.data, schema.size))
		buffer_append_string(out, ",\"strict\":true");
	buffer_append_string(out, "}}");
}

/* Return whether an example may have the arguments at @arguments: the API holds it against the
 * schema. */
static bool takes_arguments(const struct json_tape *tape, uint32_t arguments)
{
	json_each_key(key, tape, arguments)
		if (!anthropic_takes_name(tape, key))
			return false;
	return true;
}

/* Write the arguments of the examples in the definition of @tool. */
static void write_examples(const struct tool *tool, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	bool is_first = true;
	uint32_t examples;

	if (json_tape_read(&tape, tool->definition, tool->definition_size, 2 * JSON_DEPTH_DEFAULT,
		    NULL) != 0) {
		out->error = -ENOMEM;
		return;
	}
	examples = json_find(&tape, 0, "examples");
	json_each_found(i, &tape, examples) {
		uint32_t arguments = json_find(&tape, i, "args");

		if (arguments != JSON_NONE && !takes_arguments(&tape, arguments))
			continue;
		buffer_append_string(out, is_first ? ",\"input_examples\":[" : ",");
		is_first = false;
		if (arguments != JSON_NONE)
			json_write_compact(out, &tape, arguments);
		else
			buffer_append_string(out, "{}");
	}
	buffer_append_string(out, is_first ? "" : "]");
}

static bool write_anthropic(const struct tool *tool, const char *name, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer refused = {0};

	if (!anthropic_write_schema(tool->argument_schema, &schema, &refused))
		return false;
	begin_for_model(tool, name, out);
	buffer_append_string(out, ",\"input_schema\":");
	buffer_append_buffer(out, &schema);
	write_examples(tool, out);
	buffer_append_char(out, '}');
	return true;
}

void definition_write_reason(
	const struct tool *tool, enum definition_format format, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer refused = {0};

	if (format == DEFINITION_ANTHROPIC &&
		!anthropic_write_schema(tool->argument_schema, &schema, &refused))
		buffer_printf(out,
			"it requires %.*s, and Anthropic's API takes names of at most " STRINGIFY(
				ANTHROPIC_NAME_BYTES) " letters, digits, '_', '.' and '-'",
			(int)utf8_prefix(refused.data, refused.size, ANTHROPIC_REFUSED_CHARS),
			refused.data);
}

/* Write the object at the root of @tape with the members needed by an inputSchema: "type" and
 * "properties". */
static void write_completed(const struct json_tape *tape, struct buffer *out)
{
	buffer_append_string(out, "{\"type\":\"object\"");
	if (json_find(tape, 0, "properties") == JSON_NONE)
		buffer_append_string(out, ",\"properties\":{}");
	json_each_key(key, tape, 0) {
		if (json_is_text(tape, key, "type"))
			continue;
		json_write_member_copy(out, tape, key);
	}
	buffer_append_char(out, '}');
}

/* Return whether `$schema` at the root of @tape names draft 2020-12, the draft of MCP. */
static bool names_draft(const struct json_tape *tape)
{
	return json_member_is(tape, 0, "$schema", "https://json-schema.org/draft/2020-12/schema");
}

/* Write the schema @text of the arguments. Clients pass the schema on to interfaces of models, so a
 * schema that these do not take has the form for a model; an author who names the draft knows the
 * reader. */
static void write_input_schema(const char *text, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer form = {0};

	if (json_tape_read(&tape, text, strlen(text), 2 * JSON_DEPTH_DEFAULT, NULL) != 0)
		out->error = -ENOMEM;
	else if (names_draft(&tape))
		write_completed(&tape, out);
	else if (model_schema_write(text, &form))
		buffer_append_string(out, text);
	else
		buffer_append_buffer(out, &form);
	buffer_fail_with(out, &form);
}

/* Write the schema of `structuredContent`, if there is one with an object as its root. Strict
 * clients know one draft, and drop the tool or the whole list for any other. */
static void write_output_schema(const struct tool *tool, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer structured = {0};
	cleanup(buffer_deinit) struct buffer form = {0};
	cleanup(buffer_deinit) struct buffer definitions = {0};
	const char *schema = tool->output_schema;
	int r;

	if (tool->has_content) {
		content_schema_read(schema, &structured);
		schema = buffer_terminate(&structured);
		buffer_fail_with(out, &structured);
	}
	if (!schema || !*schema)
		return;
	r = json_tape_read(&tape, schema, strlen(schema), 2 * JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		out->error = r;
	if (r != 0 || !json_member_is(&tape, 0, "type", "object"))
		return;
	buffer_append_string(out, ",\"outputSchema\":");
	if (portable_write(schema, &portable_own_names, &form, &definitions) ||
		names_draft(&tape)) {
		buffer_append_string(out, schema);
		return;
	}
	portable_add_definitions(&form, &definitions);
	buffer_append_buffer(out, &form);
}

/* The hints of a risk (MCP, ToolAnnotations); an unrated tool has no hints. */
static const char *const risk_hints[] = {
	[TOOL_UNRATED] = "",
	[TOOL_READ] = ",\"readOnlyHint\":true",
	[TOOL_WRITE] = ",\"readOnlyHint\":false,\"destructiveHint\":true",
	[TOOL_EXECUTE] = ",\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true",
};

/* Write the annotations of @tool, defined by @definition. */
static void write_annotations(
	const struct tool *tool, const struct json_tape *definition, struct buffer *out)
{
	bool is_idempotent = json_member_is_true(definition, 0, "idempotent");
	const char *hints = risk_hints[tool->risk];

	/* The key counts for the risk write alone. */
	if (tool->risk == TOOL_WRITE &&
		json_find_typed_at(definition, 0, "destructive", JSON_FALSE) != JSON_NONE)
		hints = ",\"readOnlyHint\":false,\"destructiveHint\":false";
	if (!*hints && !is_idempotent)
		return;
	buffer_append_string(out, ",\"annotations\":{");
	buffer_append_string(out, *hints ? hints + 1 : "");
	if (is_idempotent)
		buffer_printf(out, "%s\"idempotentHint\":true", *hints ? "," : "");
	buffer_append_char(out, '}');
}

/* Write the members by which a call finds @tool, under keys that MCP leaves to servers. */
static void write_meta(const struct tool *tool, struct buffer *out)
{
	buffer_append_string(out, ",\"_meta\":{");
	write_source("toolboxd/source", tool->toolbox, out);
	json_write_member_text(out, "toolboxd/name", tool->name);
	if (tool->has_content)
		json_write_member_text(out, "toolboxd/output", "content");
	if (tool_may_be_task(tool))
		json_write_member_text(out, "toolboxd/task",
			tool->task == TOOL_TASK_REQUIRED ? "required" : "optional");
	buffer_append_char(out, '}');
}

static void write_mcp(const struct tool *tool, const char *name, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape definition = {0};
	uint32_t title;

	if (json_tape_read(&definition, tool->definition, tool->definition_size,
		    2 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return;
	}
	title = json_find(&definition, 0, "title");
	begin_for_model(tool, name, out);
	if (title != JSON_NONE)
		json_write_member_value(out, "title", &definition, title);
	buffer_append_string(out, ",\"inputSchema\":");
	write_input_schema(tool->argument_schema, out);
	write_output_schema(tool, out);
	write_annotations(tool, &definition, out);
	write_meta(tool, out);
	buffer_append_char(out, '}');
}

bool definition_write(const struct tool *tool, enum definition_format format, const char *name,
	struct buffer *out)
{
	switch (format) {
	case DEFINITION_FULL:
		buffer_append(out, tool->definition, tool->definition_size);
		return true;
	case DEFINITION_COMPACT:
		begin_for_model(tool, name, out);
		buffer_printf(out, ",\"parameters\":%s}", tool->argument_schema);
		return true;
	case DEFINITION_OPENAI:
		write_openai(tool, name, out);
		return true;
	case DEFINITION_ANTHROPIC:
		return write_anthropic(tool, name, out);
	case DEFINITION_MCP:
		write_mcp(tool, name, out);
		return true;
	case DEFINITION_MARKDOWN:
		markdown_write_tool(tool, name, out);
		return true;
	}
	return false;
}
