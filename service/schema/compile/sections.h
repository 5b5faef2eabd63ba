/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schema/compile/subschema.h"

/*
 * The sections of a node. Each function reads its keywords of @subschema and, without any of them,
 * leaves the pointer to its section NULL. 0, SCHEMA_E_REFUSED with the error filled, or -ENOMEM.
 */

/* One value alone: type, enum and const, numbers, strings. (In value.c.) */
int compile_types(const struct subschema *subschema);
int compile_values(const struct subschema *subschema);
int compile_number(const struct subschema *subschema);
int compile_string(const struct subschema *subschema);

/* Containers and their members. (In container.c.) */
int compile_array(const struct subschema *subschema);
int compile_object(const struct subschema *subschema);

/* Other schemas that apply to the same instance. (In applicator.c.) */
int compile_applicators(const struct subschema *subschema);

/* Place the nodes of all possible targets of a `$dynamicRef` of the schema, in the resources used
 * by now. New nodes may be queued. 0, SCHEMA_E_REFUSED, -ENOMEM. (In applicator.c.) */
int compile_dynamic_anchors(struct compiler *compiler);

/* Give each `$dynamicRef` its candidates, once all nodes are compiled. 0 or -ENOMEM. (In
 * applicator.c.) */
int link_candidates(struct compiler *compiler);
