/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The headers of a request over HTTP, which repeat parts of its body (2026-07-28, Streamable HTTP),
 * a line `NAME: VALUE` for each:
 *
 *   MCP-Protocol-Version: 2026-07-28      both eras, but not with initialize
 *   Mcp-Method: tools/call                modern
 *   Mcp-Name: add                         modern, of tools/call; the URI, of resources/read
 *   Mcp-Param-Region: eu                  modern, for a parameter with `"x-mcp-header": "Region"`
 *
 * A value other than plain text is in base64 (mcp/header_value.h).
 */

/* The most parameters of a tool with a header. */
#define MCP_PARAM_HEADERS_MAX 64

/* Append the first three. @method and @name: absent, no such header. */
void mcp_write_headers(
	struct buffer *out, const char *version, const char *method, struct text_view name);

/* Append the headers for the object @arguments of @tape, of a tool with the input schema @schema of
 * @schema_tape, approved by mcp_judge_param_headers(). */
void mcp_write_param_headers(struct buffer *out, const struct json_tape *schema_tape,
	uint32_t schema, const struct json_tape *tape, uint32_t arguments);

/* Return the reason against offering a tool with the input schema @schema over HTTP, a clause, or
 * NULL. */
const char *mcp_judge_param_headers(const struct json_tape *tape, uint32_t schema);
