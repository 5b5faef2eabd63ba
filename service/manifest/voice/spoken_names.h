/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "catalogue/toolbox.h"
#include "manifest/scope.h"

/*
 * The spoken faces of a tool entry (catalogue/voice/spoken.h), and the names in them:
 *
 *   confirm, wait   properties of the argument schema
 *   done            the same, and properties of the output schema
 *   failed          properties of the argument schema, and `error`
 */

/* Read `spoken` of the tool entry at @object, read into @tool without a mistake. A name without a
 * value is added to the problems, as is a language given twice. 0 or -ENOMEM. */
int manifest_spoken_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);
