/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/resources.h"

#include <string.h>

#include "json/writer.h"
#include "json/member.h"
#include "util/array.h"

static const struct {
	const char *name;
	const char *method;
	const char *definition;
} tools[] = {
	{"list_resources", "resources/list",
		"{\"name\":\"list_resources\",\"description\":\"List the resources of this server, "
		"which read_resource reads. A result with nextCursor has more: pass it as "
		"cursor.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"cursor\":{"
		"\"type\":\"string\"}},\"additionalProperties\":false},\"annotations\":{"
		"\"readOnlyHint\":true}}"},
	{"read_resource", "resources/read",
		"{\"name\":\"read_resource\",\"description\":\"Read a resource of this server, by "
		"its URI as list_resources has it.\",\"inputSchema\":{\"type\":\"object\","
		"\"required\":[\"uri\"],\"properties\":{\"uri\":{\"type\":\"string\"}},"
		"\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":true}}"},
};

#define N_TOOLS ARRAY_SIZE(tools)

/* Return whether the array @list has a tool called @name. */
static bool has_tool(const struct json_tape *tape, uint32_t list, const char *name)
{
	json_each(at, tape, list)
		if (json_member_is(tape, at, "name", name))
			return true;
	return false;
}

void mcp_resources_add(struct buffer *out, const struct json_tape *tape, uint32_t list)
{
	buffer_append_char(out, '[');
	json_each(at, tape, list) {
		if (at > json_first(tape, list))
			buffer_append_char(out, ',');
		json_write_compact(out, tape, at);
	}
	for (size_t i = 0; i < N_TOOLS; i++) {
		if (has_tool(tape, list, tools[i].name))
			continue;
		if (out->size > 1)
			buffer_append_char(out, ',');
		buffer_append_string(out, tools[i].definition);
	}
	buffer_append_char(out, ']');
}

const char *mcp_resources_method(const char *name)
{
	for (size_t i = 0; i < N_TOOLS; i++)
		if (strcmp(name, tools[i].name) == 0)
			return tools[i].method;
	return NULL;
}
