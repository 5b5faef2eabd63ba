/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "schema/finding.h"
#include "schema/node.h"
#include "schema/validate.h"

/* What the second pass carries along. */
struct explanation {
	struct schema_context *context;
	struct findings findings;
	uint32_t or_null; /* at this token null would have done as well; 0: at none */
};

/* Find why the value at @index does not satisfy @node; nothing where it does. */
void explain_node(struct explanation *explanation, const struct node *node, uint32_t index);

/* Add "must be …, not …" for the value at @index and what @node wants. */
void explain_mismatch(struct explanation *explanation, const struct node *node, uint32_t index);

/* Find why the value at @index satisfies none of the branches of @applicator of @node. (In
 * union.c.) */
void explain_union(struct explanation *explanation, const struct node *node,
	const struct node_applicator *applicator, uint32_t index);
