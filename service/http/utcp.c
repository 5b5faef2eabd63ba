/* SPDX-License-Identifier: Apache-2.0 */
#include "http/utcp.h"

#include "http/tool_document.h"
#include "json/writer.h"

static const char auth[] =
	",\"auth\":{\"auth_type\":\"api_key\",\"api_key\":\"Bearer ${TOOLBOXD_TOKEN}\","
	"\"var_name\":\"Authorization\",\"location\":\"header\"}";

static void write_inputs(const struct tool *tool, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer definitions = {0};

	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{\"body\":");
	tool_document_arguments(tool, &portable_own_names, out, &definitions);
	buffer_append_string(out, "},\"required\":[\"body\"]}");
	portable_add_definitions(out, &definitions);
}

static void write_outputs(const struct tool *tool, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer definitions = {0};

	tool_document_answer(tool, &portable_own_names, out, &definitions);
	portable_add_definitions(out, &definitions);
}

static void write_template(const char *name, const char *base, bool needs_token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer url = {0};

	buffer_append_string(out, "{\"call_template_type\":\"http\",\"url\":");
	buffer_printf(&url, "%s/v1/tools/%s", base, name);
	buffer_fail_with(out, &url);
	json_write_bytes_lossy(out, buffer_text(&url), url.size);
	buffer_append_string(out, ",\"http_method\":\"POST\","
				  "\"content_type\":\"application/json\",\"body_field\":\"body\"");
	buffer_append_string(out, needs_token ? auth : "");
	buffer_append_char(out, '}');
}

static void write_utcp_tool(const struct tool *tool, const char *name, const char *base,
	bool needs_token, struct buffer *out)
{
	buffer_printf(out, "{\"name\":\"%s\",\"description\":", name);
	tool_document_description(tool, out);
	buffer_append_string(out, ",\"inputs\":");
	write_inputs(tool, out);
	buffer_append_string(out, ",\"outputs\":");
	write_outputs(tool, out);
	buffer_append_string(out, ",\"tags\":[");
	json_write_text(out, tool->toolbox->id);
	buffer_append_string(out, "],\"tool_call_template\":");
	write_template(name, base, needs_token, out);
	buffer_append_char(out, '}');
}

void utcp_write(
	const struct catalogue *view, const char *base, bool needs_token, struct buffer *out)
{
	char name[MODEL_NAME_BYTES];

	buffer_append_string(
		out, "{\"utcp_version\":\"1.1.0\",\"manual_version\":\"1.0.0\",\"tools\":[");
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		write_utcp_tool(catalogue_tool(view, i), catalogue_model_name(view, i, name), base,
			needs_token, out);
	}
	buffer_append_string(out, "]}");
}
