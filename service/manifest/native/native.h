/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the function called by the tool entry at @object, and its schemas: the given ones, which
 * must mean the same parameters, or schemas by the types. Mistakes are added to the problems. 0 or
 * -ENOMEM. */
int manifest_native_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
