/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#define MCP_TOOL_NAME_BYTES 64

/*
 * Write our name of the tool called @name by its server, of UTF-8, to @ret_name (contract.md,
 * Names):
 *
 *   get.weather   get_weather    each other character becomes `_`
 *   2d-plot       _2d-plot       before one that may not come first, there is a `_`
 *   (long)        …_1a2b3c       over 64: the first 57, `_`, 6 digits of the SHA-256 of @name
 */
void mcp_map_tool_name(const char *name, size_t size, char ret_name[MCP_TOOL_NAME_BYTES + 1]);
