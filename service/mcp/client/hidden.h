/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * Characters that a person does not see, but a model reads: with them the description of a tool may hold
 * instructions. These are removed from descriptions and titles:
 *
 *   U+0000–001F but tab and newline, U+007F–009F        control characters
 *   U+200B–200F, U+2060–2064, U+FEFF                    without width
 *   U+202A–202E, U+2066–206F                            controls of the writing direction
 *   U+E0000–E007F                                       tags
 *
 * The joiners U+200C and U+200D stay between letters or emoji, which they form.
 */

/* Append the UTF-8 @text without them. Return how many were removed. */
size_t mcp_strip_hidden(struct buffer *out, const char *text, size_t size);

/* Append the schema at @index, an object, as compact JSON. In its descriptions and titles, at any depth,
 * hidden characters are removed; nothing else is changed. @omitted: the key of a member that is left out, or
 * JSON_NONE. Return how many characters were removed. */
size_t mcp_strip_schema(
	struct buffer *out, const struct json_tape *tape, uint32_t index, uint32_t omitted);
