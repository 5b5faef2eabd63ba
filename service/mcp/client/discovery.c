/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/discovery.h"

#include "json/number.h"
#include "mcp/error.h"
#include "json/member.h"
#include "mcp/version.h"
#include "util/text/utf8.h"

/* The longest part of a text of a server that a reason repeats. */
#define QUOTED_CHARS 200

bool mcp_discovery_has_modern(const struct json_tape *tape, uint32_t result)
{
	return json_has_text(tape, json_find_typed(tape, result, "supportedVersions", JSON_ARRAY),
		MCP_VERSION_MODERN);
}

bool mcp_discovery_has_changes(const struct json_tape *tape, uint32_t result)
{
	uint32_t capabilities = json_find_typed(tape, result, "capabilities", JSON_OBJECT);
	uint32_t tools = json_find_typed(tape, capabilities, "tools", JSON_OBJECT);

	return json_find_typed(tape, tools, "listChanged", JSON_TRUE) != JSON_NONE;
}

bool mcp_discovery_has_resources(const struct json_tape *tape, uint32_t result)
{
	uint32_t capabilities = json_find_typed(tape, result, "capabilities", JSON_OBJECT);

	return json_find_typed(tape, capabilities, "resources", JSON_OBJECT) != JSON_NONE;
}

int64_t mcp_discovery_error_code(const struct json_tape *tape)
{
	uint32_t code = json_find_typed(tape, json_find_root(tape, "error"), "code", JSON_NUMBER);
	int64_t number;

	return json_read_i64(tape, code, &number) ? number : 0;
}

bool mcp_discovery_names_modern(const struct json_tape *tape)
{
	uint32_t data;

	/* With a code, the error is an object. */
	if (mcp_discovery_error_code(tape) != MCP_UNSUPPORTED_VERSION)
		return false;
	data = json_find_typed(tape, json_find(tape, 0, "error"), "data", JSON_OBJECT);
	return json_has_text(
		tape, json_find_typed(tape, data, "supported", JSON_ARRAY), MCP_VERSION_MODERN);
}

void mcp_discovery_write_error(
	const struct json_tape *tape, const char *subject, struct buffer *out)
{
	uint32_t message =
		json_find_typed(tape, json_find_root(tape, "error"), "message", JSON_STRING);
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(out, subject);
	if (message == JSON_NONE)
		return;
	json_string_decode(tape, message, &text);
	buffer_fail_with(out, &text);
	buffer_append_string(out, ": ");
	buffer_append(out, text.data, utf8_prefix(text.data, text.size, QUOTED_CHARS));
}
