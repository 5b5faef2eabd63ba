/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "mcp/client/pin.h"
#include "mcp/client/tools/pins.h"
#include "mcp/client/tools/tool_name.h"

/*
 * The tools in the list of a server become offered tools, or are refused with a reason:
 *
 *   elements ─▶ names ─▶ include, exclude ─▶ clashes ─▶ tool limit ─▶ texts, schemas, risk ─▶ tools
 *                                                                │
 *   a wrong tool costs only itself ──────────────────────────────┴─▶ refusals
 *
 * The operator names a tool as its server does; or as we do, unless the server gives this name to
 * another tool. Schemas are checked as far as possible without an engine: an `inputSchema` must
 * describe an object, an `outputSchema` other than a schema is dropped, and a `$schema` of an
 * unknown language is removed.
 */

/* The longest description and title; a longer one is cut. */
#define MCP_DESCRIPTION_BYTES 8192

/* The most examined elements of a list, and the most refusals of single tools with a reason. */
#define MCP_ELEMENTS_MAX 100000
#define MCP_REFUSALS_MAX 100

/* Patterns of names: `*` is any run of bytes. */
struct mcp_patterns {
	const char *const *items;
	size_t n_items;
};

/* The operator's choice. */
struct mcp_tool_rules {
	struct mcp_patterns include; /* none: all */
	struct mcp_patterns exclude;
	const struct json_tape *tape; /* the one with the settings */
	uint32_t
		settings; /* an object with an object for each name: the members replace the tool's;
		           * JSON_NONE: none */
	const char *
		/* the risk of each tool without a setting, whatever the server claims; or NULL */
		risk;
	const struct mcp_pins *pins; /* they keep each risk from falling; NULL: none */
	size_t tools_max;
	bool is_http; /* a tool whose headers cannot be sent is refused (headers.h) */
};

struct mcp_tool {
	char name[MCP_TOOL_NAME_BYTES + 1];
	char *server_name;
	char *entry; /* JSON, as in the tools of a manifest (contract.md, Manifest) */
	char *title; /* NULL: none */
	unsigned char pin[MCP_PIN_BYTES]; /* the digest of the tool as it was sent */
	size_t n_hidden;                  /* removed characters (hidden.h) */
	bool is_cut;                      /* its description was too long */
};

struct mcp_refusal {
	char *name; /* as the server calls it; NULL: several, or one without a name */
	char *reason;
};

/* Zero it before use; free it with mcp_server_tools_deinit(). */
struct mcp_server_tools {
	struct mcp_tool *items;
	size_t n_items;
	struct mcp_refusal *refusals;
	size_t n_refusals;
	size_t n_more; /* refusals without a reason */
};

/* Read the array @array of @tape. Return 0 or -ENOMEM. */
int mcp_server_tools_read(const struct json_tape *tape, uint32_t array,
	const struct mcp_tool_rules *rules, struct mcp_server_tools *ret_tools);

void mcp_server_tools_deinit(struct mcp_server_tools *tools);
