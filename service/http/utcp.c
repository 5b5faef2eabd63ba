/* SPDX-License-Identifier: Apache-2.0 */
#include "http/utcp.h"

#include "http/tool_document.h"
#include "json/writer.h"

static void write_utcp_tool(
	const struct tool *tool, const char *name, const char *base, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer url = {0};

	buffer_printf(out, "{\"name\":\"%s\",\"description\":", name);
	json_write_text(out, tool->description);
	buffer_append_string(out, ",\"inputs\":{\"type\":\"object\",\"properties\":{\"body\":");
	tool_document_arguments(tool, name, out);
	buffer_append_string(out, "},\"required\":[\"body\"]},\"outputs\":");
	tool_document_answer(tool, name, out);
	buffer_append_string(out, ",\"tags\":[");
	json_write_text(out, tool->toolbox->id);
	buffer_append_string(
		out, "],\"tool_call_template\":{\"call_template_type\":\"http\",\"url\":");
	buffer_printf(&url, "%s/v1/tools/%s", base, name);
	buffer_fail_with(out, &url);
	json_write_bytes_lossy(out, url.data ? url.data : "", url.size);
	buffer_append_string(out,
		",\"http_method\":\"POST\","
		"\"content_type\":\"application/json\",\"body_field\":\"body\"}}");
}

void utcp_write(const struct catalogue *view, const char *base, struct buffer *out)
{
	char name[MODEL_NAME_BYTES];

	buffer_append_string(
		out, "{\"utcp_version\":\"1.1.0\",\"manual_version\":\"1.0.0\",\"tools\":[");
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		write_utcp_tool(
			catalogue_tool(view, i), catalogue_model_name(view, i, name), base, out);
	}
	buffer_append_string(out, "]}");
}
