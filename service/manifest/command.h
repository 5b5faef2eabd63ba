/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the program of the tool entry at @object, and its schemas: the given ones, or an object
 * without members for the arguments, and a schema by the kind of output for the result. Mistakes
 * are added to the problems, and a warning for a missing program. 0 or -ENOMEM. */
int manifest_command_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
