/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"

/* The values of the keywords of JSON Schema, as a walk over a schema distinguishes them. */
enum mcp_keyword {
	MCP_KEYWORD_OTHER, /* a schema, a list of schemas, or anything that holds none */
	MCP_KEYWORD_DATA,  /* a value, perhaps like a schema */
	MCP_KEYWORD_MAP,   /* an object with schemas as members */
};

/* Return the kind of the value of the keyword at the key @key. */
enum mcp_keyword mcp_keyword_at(const struct json_tape *tape, uint32_t key);
