/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

#define MCP_PIN_BYTES   32
#define MCP_PIN_MEMBERS 7

/* The names of the members of a pin. */
extern const char *const mcp_pin_members[MCP_PIN_MEMBERS];

/*
 * The pin of a tool, for finding changes: the SHA-256 of
 *
 *   [name, description, inputSchema, outputSchema, title, annotations, execution]
 *
 * as canonical JSON (json/canonical.h), as the server sent them; a missing one is null. Only these
 * members are read, and shown to a policy, a model or a person. Write the pin of the object @tool
 * to @ret_pin. Return 0 or -ENOMEM.
 */
int mcp_pin(const struct json_tape *tape, uint32_t tool, unsigned char ret_pin[MCP_PIN_BYTES]);

/* Write the digest of the array @list, whatever its order, to *ret_digest (not 0): of everything
 * from which tools are made. Return 0 or -ENOMEM. */
int mcp_list_digest(const struct json_tape *tape, uint32_t list, uint64_t *ret_digest);

/* Append the text whose digest is the pin of the object @tool; @out records -ENOMEM. */
void mcp_pin_text(const struct json_tape *tape, uint32_t tool, struct buffer *out);

/* Write the pin of @size bytes of such text. */
void mcp_pin_digest(const char *text, size_t size, unsigned char ret_pin[MCP_PIN_BYTES]);
