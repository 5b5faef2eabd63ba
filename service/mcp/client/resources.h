/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The resources of a server as tools, added by its host to the list of its tools:
 *
 *   list_resources {cursor?}  ─▶ resources/list
 *   read_resource  {uri}      ─▶ resources/read
 */

/* Append the array @list with each of the two tools whose name is not in it. @out records
 * -ENOMEM. */
void mcp_resources_add(struct buffer *out, const struct json_tape *tape, uint32_t list);

/* Return the method for the tool @name of these two, a constant; NULL for another tool. */
const char *mcp_resources_method(const char *name);
