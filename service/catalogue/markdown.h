/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "util/buffer.h"

/*
 * A listing as text for a model without an interface for tools:
 *
 *   ## math_tools
 *
 *   ### add
 *
 *   Add two integers.
 *
 *   - `a` (integer, required): First operand
 *
 * Line ends inside a description become spaces, so no description can begin a heading.
 */

/* Append the heading of @toolbox. */
void markdown_write_toolbox(const struct toolbox *toolbox, struct buffer *out);

/* Append @tool; models call it by @name. */
void markdown_write_tool(const struct tool *tool, const char *name, struct buffer *out);
