/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/tape.h"
#include "mcp/message.h"
#include "mcp/response.h"
#include "util/buffer.h"

/*
 * The response to tools/call, made from the data of the answer as at other doors (contract.md,
 * Errors; Size of results):
 *
 *   {"result": {…}}                        structuredContent, and its JSON as text
 *   {"result": {"content": […]}}           of a tool with rich content: its blocks,
 *                                          structuredContent; with "truncated": true, a last
 *                                          text block with the hint
 *   {"result": {"truncated": true, …}}     isError, its hint and its head as text
 *   {"error", "code", "violations"?}       isError, error and violations as text; unknown_tool,
 *                                          missing_name and bad_request are errors of JSON-RPC
 */

/* Return whether @data is an error of the request, not of the call. */
bool mcp_is_request_error(const struct json_tape *data);

/* Append the members of the result of a call, without braces: every error is a result. */
void mcp_write_call_members(struct buffer *out, const struct mcp_message *message,
	const struct json_tape *data, bool has_content);

/* Append it; @has_content: the tool answers with rich content. @is_inner: the call was an argument
 * of call_tool, whose errors are all results. Return 0, or MCP_E_REFUSED with
 * @ret_error filled, whose message is appended to @text, and nothing appended to @out. */
int mcp_write_call_result(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data, bool has_content,
	bool is_inner, struct buffer *text, struct mcp_error *ret_error);
