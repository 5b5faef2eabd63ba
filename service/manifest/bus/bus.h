/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/* Read the part of kind bus of the tool entry at @object into @tool: the messages it sends and the
 * meaning of the reply, and the schemas. A topic that changes the machine makes its risk `execute`.
 * Mistakes are added to the problems. 0 or -ENOMEM. */
int manifest_bus_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);

/* Refuse keys of the toolbox about processes: a toolbox of kind bus has none. */
void manifest_bus_refuse_processes(const struct json_tape *tape, struct diagnostics *problems);
