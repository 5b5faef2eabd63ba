/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The resources of a server as tools, which its host adds to the list of its tools:
 *
 *   list_resources {cursor?}  ─▶ resources/list
 *   read_resource  {uri}      ─▶ resources/read
 */

/* Append the array @list with those of the two tools that it has no tool with the name of. @out
 * records -ENOMEM. */
void mcp_resources_add(struct buffer *out, const struct json_tape *tape, uint32_t list);

/* Return the method for the tool @name of these two, a constant; NULL: it is none of them. */
const char *mcp_resources_method(const char *name);
