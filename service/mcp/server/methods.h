/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/server/engine.h"

/* The methods that our clients may use. */
extern const struct mcp_method_row mcp_methods[];

/* Read the @size bytes at @text as the message of @exchange, and serve it. @fields are the headers
 * of its HTTP request, or NULL. The door is asked to respond before this returns, unless
 * mcp_exchange_is_open() afterwards. */
void mcp_take(struct mcp_exchange *exchange, const char *text, size_t size,
	const struct mcp_fields *fields);
