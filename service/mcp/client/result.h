/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The response of a server to tools/call as the end of our call:
 *
 *   result   {"content": […], "structuredContent": …?}    {"content": […], "structured": …?}
 *            with "isError": true                          a failure with its text blocks
 *            without content, or not complete              a failure with the reason
 *   error    {"code", "message"}                           a failure with the message
 *
 * The values of a result are the server's, without the white space between their tokens.
 */

enum mcp_end {
	MCP_END_RESULT, /* the text is a JSON object */
	MCP_END_FAILED, /* the text is for a person or a model */
};

/* Append the end of the call with the response at the root of @tape to @out (see buffer_status).
 * @ret_is_unknown: the server does not know the tool, so its list has changed. */
enum mcp_end mcp_read_end(const struct json_tape *tape, struct buffer *out, bool *ret_is_unknown);

/* The same for a request other than tools/call: its result object is the text of one block, and
 * `structured`. */
enum mcp_end mcp_read_plain_end(const struct json_tape *tape, struct buffer *out);
