/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/message.h"

/*
 * Headers with copies of arguments (2026-07-28, Custom Headers from Tool Parameters): a parameter
 * whose schema has `"x-mcp-header": "Region"` is sent as `Mcp-Param-Region`, too.
 */

/* Check the headers of the tools/call @message, of the modern era, of a tool with the input schema
 * @schema (JSON, NUL-terminated). Return 0, MCP_E_REFUSED with @ret_error filled, or -ENOMEM. */
int mcp_check_param_headers(const struct mcp_message *message, const struct mcp_fields *fields,
	const char *schema, struct mcp_error *ret_error);
