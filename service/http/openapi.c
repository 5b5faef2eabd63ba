/* SPDX-License-Identifier: Apache-2.0 */
#include "http/openapi.h"

#include <string.h>

#include "http/tool_document.h"
#include "json/writer.h"

static const char components[] =
	"},\"components\":{\"schemas\":{\"Error\":{\"type\":\"object\",\"properties\":{"
	"\"error\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},"
	"\"name\":{\"type\":\"string\"}},\"required\":[\"error\",\"code\"]}},"
	"\"responses\":{\"Error\":{\"description\":\"The call was refused, or has failed.\","
	"\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
	"Error\"}}}}}";

/* RFC 6750 */
static const char security[] =
	",\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}},"
	"\"security\":[{\"token\":[]}]}";

static void write_operation(const struct tool *tool, const char *name, struct buffer *out)
{
	buffer_printf(out,
		"\"/v1/tools/%s\":{\"post\":{\"operationId\":\"%s\",\"description\":", name, name);
	json_write_text(out, tool->description);
	buffer_append_string(out, ",\"tags\":[");
	json_write_text(out, tool->toolbox->id);
	buffer_append_string(
		out, "],\"requestBody\":{\"content\":{\"application/json\":{\"schema\":");
	tool_document_arguments(tool, name, out);
	buffer_append_string(out, "}}},\"responses\":{\"200\":{\"description\":\"The result.\","
				  "\"content\":{\"application/json\":{\"schema\":");
	tool_document_answer(tool, name, out);
	buffer_append_string(out, "}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}}}");
}

void openapi_write(
	const struct catalogue *view, const char *base, bool needs_token, struct buffer *out)
{
	char name[MODEL_NAME_BYTES];

	buffer_append_string(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"toolboxd\","
				  "\"version\":\"" TOOLBOXD_VERSION "\"},"
				  "\"servers\":[{\"url\":");
	json_write_bytes_lossy(out, base, strlen(base));
	buffer_append_string(out, "}],\"paths\":{");
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		write_operation(catalogue_tool(view, i), catalogue_model_name(view, i, name), out);
	}
	buffer_append_string(out, components);
	buffer_append_string(out, needs_token ? security : "}}");
}
