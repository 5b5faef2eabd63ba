/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the key run_llm (call/run_llm.h) of the entry at @object into @tool, whose schemas are
 * read: the argument schema gets the property, or calls are checked without it. Mistakes are added
 * to the problems. 0 or -ENOMEM. */
int manifest_run_llm_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
