/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * Characters invisible to a person, but read by a model (util/text/visible.h): with them a tool may
 * hold instructions. They are removed from the texts of a tool, where their removal changes
 * nothing: descriptions, titles, comments. Tabs and newlines stay there. A tool that has them
 * anywhere else in a schema is refused.
 */

/* Append the UTF-8 @text without them. Return how many were removed. */
size_t mcp_strip_hidden(struct buffer *out, const char *text, size_t size);

/* Append the schema at @index, an object, as compact JSON. In its descriptions, titles and
 * comments, at any depth, hidden characters are removed; nothing else is changed. @omitted: the key
 * of a member that is left out, or JSON_NONE. Return how many characters were removed. */
size_t mcp_strip_schema(
	struct buffer *out, const struct json_tape *tape, uint32_t index, uint32_t omitted);

/* Find whether the schema at @index, an object, has hidden characters left by mcp_strip_schema():
 * in a name, a value or a pattern. Return 0 or -ENOMEM. */
int mcp_find_hidden(const struct json_tape *tape, uint32_t index, bool *ret_has);
