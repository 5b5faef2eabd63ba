/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/scope.h"

/*
 * Try the calls of a manifest before there is any other:
 *
 *   examples     are calls: their arguments must pass the schema and then what runs the tool, their
 *                results the schema
 *   defaults     replace arguments: they must pass, too
 *   left out     arguments that a given schema makes optional though the function needs them: calls
 *                without it are refused (tool->may_lack), and the author is warned
 */

/* Try the calls of the tool entry at @object, read into @tool without a mistake. Mistakes are added
 * to the problems. 0 or -ENOMEM. */
int manifest_check_examples(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
