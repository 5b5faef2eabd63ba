/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the program that the tool entry at @object runs, and its schemas: those that are given, or
 * an object without members for the arguments, and what its output makes for the result. Mistakes
 * are added to the problems, and a warning for a program that is not there. 0 or -ENOMEM. */
int manifest_command_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
