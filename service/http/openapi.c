/* SPDX-License-Identifier: Apache-2.0 */
#include "http/openapi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "http/tool_document.h"
#include "json/reader.h"
#include "json/writer.h"

static const char error_schema[] =
	"},\"components\":{\"schemas\":{\"Error\":{\"type\":\"object\",\"properties\":{"
	"\"error\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},"
	"\"name\":{\"type\":\"string\"}},\"required\":[\"error\",\"code\"]}";

static const char error_response[] =
	"},\"responses\":{\"Error\":{\"description\":\"The call was refused, or has failed.\","
	"\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
	"Error\"}}}}}";

/* RFC 6750 */
static const char security[] =
	",\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}},"
	"\"security\":[{\"token\":[]}]}";

/* The name of the definitions of a tool: `NAME.arguments.r`. */
#define DEFINITION_BYTES (MODEL_NAME_BYTES + sizeof(".arguments.r"))

/* Begin another definition. */
static void separate_members(struct buffer *definitions, const struct buffer *more)
{
	if (more->size == 0)
		return;
	buffer_append_char(definitions, ',');
	buffer_append_buffer(definitions, more);
}

/* Append the body of a request, whose schema is @schema. A tool without parameters has none: some
 * programs then refuse to call it. */
static void write_body(const struct buffer *schema, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t required;
	uint32_t properties;

	if (buffer_status(schema) < 0 || json_tape_read(&tape, schema->data, schema->size,
						 8 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return;
	}
	required = json_find(&tape, 0, "required");
	properties = json_find(&tape, 0, "properties");
	if (properties == JSON_NONE || json_count(&tape, properties) == 0)
		return;
	buffer_append_string(out, ",\"requestBody\":{");
	if (required != JSON_NONE && json_count(&tape, required) > 0)
		buffer_append_string(out, "\"required\":true,");
	buffer_append_string(out, "\"content\":{\"application/json\":{\"schema\":");
	buffer_append_buffer(out, schema);
	buffer_append_string(out, "}}}");
}

static void write_operation(
	const struct tool *tool, const char *name, struct buffer *out, struct buffer *definitions)
{
	static const char base[] = "#/components/schemas/";
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup(buffer_deinit) struct buffer argument_definitions = {0};
	cleanup(buffer_deinit) struct buffer answer_definitions = {0};
	char text[DEFINITION_BYTES];
	const struct portable_names names = {base, text};

	buffer_printf(
		out, "\"/v1/tools/%s\":{\"post\":{\"operationId\":\"%s\",\"summary\":", name, name);
	tool_document_summary(tool, out);
	buffer_append_string(out, ",\"description\":");
	tool_document_description(tool, out);
	buffer_append_string(out, ",\"tags\":[");
	json_write_text(out, tool->toolbox->id);
	buffer_append_char(out, ']');
	snprintf(text, sizeof(text), "%s.arguments.r", name);
	tool_document_arguments(tool, &names, &arguments, &argument_definitions);
	write_body(&arguments, out);
	buffer_append_string(out, ",\"responses\":{\"200\":{\"description\":\"The result.\","
				  "\"content\":{\"application/json\":{\"schema\":");
	snprintf(text, sizeof(text), "%s.result.r", name);
	tool_document_answer(tool, &names, out, &answer_definitions);
	buffer_append_string(out, "}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}}}");
	separate_members(definitions, &argument_definitions);
	separate_members(definitions, &answer_definitions);
}

void openapi_write(
	const struct catalogue *view, const char *base, bool needs_token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer definitions = {0};
	char name[MODEL_NAME_BYTES];

	buffer_append_string(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"toolboxd\","
				  "\"version\":\"" TOOLBOXD_VERSION "\"},\"servers\":[{\"url\":");
	json_write_bytes_lossy(out, base, strlen(base));
	buffer_append_string(out, "}],\"paths\":{");
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		write_operation(catalogue_tool(view, i), catalogue_model_name(view, i, name), out,
			&definitions);
	}
	buffer_append_string(out, error_schema);
	buffer_append_buffer(out, &definitions);
	buffer_append_string(out, error_response);
	buffer_append_string(out, needs_token ? security : "}}");
}
