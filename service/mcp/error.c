/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/error.h"

#include "json/writer.h"
#include "mcp/version.h"

int mcp_refuse(
	struct mcp_error *error, enum mcp_code code, unsigned int status, const char *message)
{
	*error = (struct mcp_error){code, status, TEXT_VIEW(message), {NULL, 0}};
	return MCP_E_REFUSED;
}

void mcp_write_error(struct buffer *out, struct text_view id, const struct mcp_error *error)
{
	buffer_append_string(out, "{\"jsonrpc\":\"2.0\",");
	if (id.text) {
		json_write_key(out, "id");
		buffer_append(out, id.text, id.size);
		buffer_append_char(out, ',');
	}
	buffer_printf(out, "\"error\":{\"code\":%d,\"message\":", (int)error->code);
	json_write_bytes_lossy(out, error->message.text, error->message.size);
	if (error->code == MCP_UNSUPPORTED_VERSION) {
		buffer_append_string(out,
			",\"data\":{\"supported\":[\"" MCP_VERSION_MODERN "\"],\"requested\":");
		buffer_append(out, error->requested.text, error->requested.size);
		buffer_append_char(out, '}');
	}
	if (error->code == MCP_MISSING_CAPABILITY)
		buffer_append_string(out, ",\"data\":{\"requiredCapabilities\":{\"extensions\":{"
					  "\"" MCP_TASKS_EXTENSION "\":{}}}}");
	buffer_append_string(out, "}}");
}
