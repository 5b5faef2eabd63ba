/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "catalogue/toolbox.h"
#include "manifest/scope.h"

/*
 * Named groups of triggers: `what is (?<a>\d+) plus (?<b>\d+)`. A match has the arguments `a` and
 * `b`, so each group has to be a property of the argument schema.
 */

/* Check the groups of the triggers of the tool entry at @object, read into @tool without a mistake.
 * Mistakes are added to the problems. 0 or -ENOMEM. */
int manifest_trigger_groups_check(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool);
