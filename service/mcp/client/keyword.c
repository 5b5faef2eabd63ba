/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/keyword.h"

#include "json/member.h"
#include "util/array.h"

static const struct {
	const char *name;
	enum mcp_keyword keyword;
} keywords[] = {
	{"$defs", MCP_KEYWORD_MAP},
	{"const", MCP_KEYWORD_DATA},
	{"default", MCP_KEYWORD_DATA},
	{"definitions", MCP_KEYWORD_MAP},
	{"dependencies", MCP_KEYWORD_MAP},
	{"dependentSchemas", MCP_KEYWORD_MAP},
	{"enum", MCP_KEYWORD_DATA},
	{"example", MCP_KEYWORD_DATA},
	{"examples", MCP_KEYWORD_DATA},
	{"patternProperties", MCP_KEYWORD_MAP},
	{"properties", MCP_KEYWORD_MAP},
};

enum mcp_keyword mcp_keyword_at(const struct json_tape *tape, uint32_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (json_is_text(tape, key, keywords[i].name))
			return keywords[i].keyword;
	return MCP_KEYWORD_OTHER;
}
