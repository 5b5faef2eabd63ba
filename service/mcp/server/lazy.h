/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/tape.h"
#include "mcp/server/tools.h"
#include "util/buffer.h"

/*
 * Three tools in place of a long list, which would fill the context of a model (contract.md, MCP,
 * Lazy lists):
 *
 *   tools/list    search_tools {query, limit}   get_tool {name}   call_tool {name, arguments}
 *                       │                            │                  │
 *                 the best of the list        one of the list     the call of that tool itself:
 *                                                                 its policy, schema and rate
 *
 * The names of the list can be called as before, too.
 */
enum mcp_lazy_tool {
	MCP_SEARCH_TOOLS,
	MCP_GET_TOOL,
	MCP_CALL_TOOL,
};

/* The tools of a response to search_tools. */
#define MCP_FOUND_DEFAULT 8
#define MCP_FOUND_MAX     50

/* The toolboxes that the description of search_tools names, and the characters of a line about
 * one. */
#define MCP_LAZY_TOOLBOXES_MAX 64
#define MCP_LAZY_LINE_POINTS   100

/* The longest name of a tool in a list. */
#define MCP_NAME_BYTES 64

/* Return the description of the toolbox @toolbox_id, or NULL. */
typedef const char *(*mcp_about_function)(void *data, const char *toolbox_id);

/* Have clients get the three tools in place of the complete list @tools; @about is called with
 * @data for each toolbox. Return 0 or -ENOMEM. */
int mcp_lazy_make(struct mcp_tools *tools, mcp_about_function about, void *data);

/* Return which of the three has the name at @name of @tape; -1: none. */
int mcp_lazy_find(const struct json_tape *tape, uint32_t name);

/* The names of tools in a list. */
enum mcp_lazy_names {
	MCP_NAMES_WHOLE, /* toolbox__name */
	MCP_NAMES_GIVEN, /* as in the other listings for models */
	MCP_NAMES_OWN,   /* name, in the list of one toolbox */
};

/* A search of search_tools. */
struct mcp_lazy_search {
	size_t limit; /* the most tools of its result; 0: there is no search */
	enum mcp_lazy_names names;

	/* Return whether the Tool at @tool of @found is in the list. NULL: every Tool is. */
	bool (*serves)(void *data, const struct json_tape *found, uint32_t tool);
	void *data;
};

/* Append the result of @search, the text of an object: of the tools in @found, the data of a
 * response to ovos.tools.search in the format mcp, with their names in the list. */
void mcp_lazy_write_found(
	const struct json_tape *found, const struct mcp_lazy_search *search, struct buffer *out);
