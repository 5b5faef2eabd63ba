/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Headers of MCP over HTTP, which repeat parts of the body for programs between client and server
 * (2026-07-28, Streamable HTTP, Value Encoding):
 *
 *   Mcp-Name: add                       the value itself: visible ASCII, spaces and tabs
 *   Mcp-Name: =?base64?U29ubmU=?=       its UTF-8 in base64
 */

/* The headers of a request. */
struct mcp_fields {
	/* Return the value of the field @name (in any case), or NULL. @ret_count: how many there
	 * are. */
	const char *(*find)(const void *request, const char *name, unsigned int *ret_count);
	const void *request;
};

/* How a header was found. */
enum mcp_field_status {
	MCP_FIELD_ABSENT,
	MCP_FIELD_WRONG, /* twice, or with a value that is not well-formed */
	MCP_FIELD_FOUND,
};

/* Append the decoded value of the header @name to @out (see buffer_status), without the white space
 * around it. With @is_encoded it may be in base64. */
enum mcp_field_status mcp_field_read(
	const struct mcp_fields *fields, const char *name, bool is_encoded, struct buffer *out);

/* Append @value of @size bytes as the value of a header: in base64 when it is no text of visible
 * ASCII and spaces, begins or ends with a space, or looks like base64. */
void mcp_field_write(const char *value, size_t size, struct buffer *out);
