/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/context.h"
#include "util/buffer.h"

/*
 * Copy an instance with changes asked for by its schema: the common part of filling in defaults,
 * coercing and masking.
 *
 * The text is copied unchanged; a rewriter may replace a value, and add to an object after its last
 * member:
 *
 *   {"a": {"b": "1" }, "c": [ ]}
 *    ────────────▲  ▲         ▲
 *                1  ,"e":2    ,"d":"…"
 *
 * The schemas of a value are not one node but a set: the ones in its parent's set for this value,
 * each with its references, all of allOf, and the branches of anyOf, oneOf and if found applicable
 * by the rewriter. The sets of the values on the way from the root are on one stack.
 */

/* The nodes of one value: a part of the stack. */
struct rewrite_set {
	uint32_t first;
	uint32_t count;
};

struct rewrite {
	struct schema_context *context;
	struct buffer *out;
	const struct node **nodes; /* the stack */
	uint32_t count;
	uint32_t capacity;
	int error;                 /* 0, or the first failure */
	uint32_t key;              /* the key of the replaced value; 0: it is no member */
	struct rewrite_set parent; /* the nodes of its object */
	bool is_dropped;           /* replace() has left the member out */
	bool is_changed;           /* set by a rewriter that has written another value */

	/* Whether the branch @node of @applicator applies to the value at @index. NULL: a branch
	 * applies when it holds, as for any annotation. */
	bool (*applies)(struct rewrite *rewrite, const struct node_applicator *applicator,
		const struct node *node, uint32_t index);
	/* Write another value for the one at @index, or set is_dropped; false: copy it, or go into
	 * it. */
	bool (*replace)(struct rewrite *rewrite, uint32_t index, struct rewrite_set set);
	/* Add members to the object at @index. May be NULL. */
	void (*complete)(struct rewrite *rewrite, uint32_t index, struct rewrite_set set);
};

/* Write the value at @index of the context's tape, to which @node applies. */
void rewrite_value(struct rewrite *rewrite, const struct node *node, uint32_t index);

/* Free the stack. 0, SCHEMA_E_UNCHECKED, or what failed: -ENOMEM, or the status of the output. */
int rewrite_end(struct rewrite *rewrite);
