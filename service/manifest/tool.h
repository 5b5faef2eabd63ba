/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the tool entry at @object (its shape is checked already) into the zeroed @tool. Mistakes are
 * added to the problems. 0 or -ENOMEM. */
int manifest_tool_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);

/* Return whether the @size bytes at @name can be a tool's name (contract.md, Names):
 * [A-Za-z_][A-Za-z0-9_-]{0,63} */
bool manifest_is_tool_name(const char *name, size_t size);
