/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"
#include "util/text/text_view.h"

/* The codes of JSON-RPC 2.0 (§5.1), with the additions by MCP 2026-07-28. */
enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021, /* the client has not declared the tasks (mcp/task.h) */
	MCP_UNSUPPORTED_VERSION = -32022,
};

/* The error of a request, for mcp_write_error(). */
struct mcp_error {
	enum mcp_code code;
	unsigned int status;        /* status code of HTTP */
	struct text_view message;   /* a sentence for a person */
	struct text_view requested; /* with MCP_UNSUPPORTED_VERSION: the version as JSON */
};

/* The positive result of functions with a struct mcp_error: the request is refused. */
#define MCP_E_REFUSED 1

/* Fill @error, with a constant @message. Return MCP_E_REFUSED. */
int mcp_refuse(
	struct mcp_error *error, enum mcp_code code, unsigned int status, const char *message);

/* Append the response with @error to the request whose id is the JSON text @id; without one it has
 * no id, as in MCP's schema (JSON-RPC has null). */
void mcp_write_error(struct buffer *out, struct text_view id, const struct mcp_error *error);
