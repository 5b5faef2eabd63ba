/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schema/compile/subschema.h"

/*
 * From schemas to nodes.
 *
 *   compile ─▶ queue of subschemas ─▶ for each: find its keywords, then compile its sections
 *                    ▲                   │
 *                    └───────────────────┘ a child or the target of a $ref, if new: make its node
 *                                          and queue it
 *           ─▶ link: replace aliases, fold the types of applicators into the masks
 *
 * The queue handles recursive schemas, and deep ones need no stack.
 */

/* Compile the schema at @place, and everything referred to, into compiler->schema. 0,
 * SCHEMA_E_REFUSED with the error filled, or -ENOMEM. */
int compile_schema(struct compiler *compiler, const struct place *place);
