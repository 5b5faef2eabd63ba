/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/*
 * What a manifest says of calls, tried before there is any:
 *
 *   examples     are calls: their arguments must pass the schema and then what runs the tool, their
 *                results the schema
 *   defaults     stand in for arguments: they must pass, too
 *   left out     what a given schema lets callers leave out, though the function needs it: calls
 *                without it are refused (tool->may_lack), and the author is warned
 */

/* Try the calls of the tool entry at @object, read into @tool without a mistake. Mistakes are added
 * to the problems. 0 or -ENOMEM. */
int manifest_trial(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
