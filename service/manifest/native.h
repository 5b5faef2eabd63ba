/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the function that the tool entry at @object calls, and its schemas: those that are given,
 * which must mean the same parameters, or what follows from the types. Mistakes are added to the
 * problems. 0 or -ENOMEM. */
int manifest_native_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
