/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "schema/words/finding.h"
#include "schema/node.h"
#include "schema/validate.h"

/*
 * The second pass: describe the violations of an instance rejected by the first pass.
 *
 * It is a recursive walk over a tree, and its three files call each other: explain_node (explain.c)
 * explains an object by its members (explain_object.c) and an anyOf or oneOf by its branches
 * (union.c), and both explain nodes again.
 */

/* At no token null would have done as well. */
#define OR_NULL_NOWHERE UINT32_MAX

/* The steps of one comparison of two names for similarity. */
#define NEAR_STEPS 8

/* The state of the second pass. */
struct explanation {
	struct schema_context *context;
	struct findings findings;
	uint32_t or_null; /* at this token null would have done as well, or OR_NULL_NOWHERE */
};

/* Report into @ret_report why the value at @value of @tape does not satisfy @node, a node of
 * @schema; see schema_explain(), and for what it returns. */
int explain_value(struct schema_context *context, const struct schema *schema,
	const struct node *node, const struct json_tape *tape, uint32_t value,
	struct schema_report *ret_report);

/* Find why the value at @index does not satisfy @node; nothing where it does. */
void explain_node(struct explanation *explanation, const struct node *node, uint32_t index);

/* Add the formatted message for the value at @index. */
void explain_add(struct explanation *explanation, uint32_t index, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Add "must be WANTED, not …" for the value at @index, with what may help where it is looked at
 * with what @node takes. */
void explain_wanted(struct explanation *explanation, const struct node *node,
	const struct buffer *wanted, uint32_t index);

/* Find why the value at @index satisfies no branch of @applicator of @node. (In union.c.) */
void explain_union(struct explanation *explanation, const struct node *node,
	const struct node_applicator *applicator, uint32_t index);

/* Find the violations of the object at @index. (In explain_object.c.) */
void explain_object(
	struct explanation *explanation, const struct node_object *object, uint32_t index);

/* Add a violation: nothing takes the member at @key of the object at @index. @object (may be NULL)
 * is searched for the intended name. */
void explain_unexpected(struct explanation *explanation, const struct node_object *object,
	uint32_t index, uint32_t key);

/* Add that the container at @index has fewer than @min or more than @max members. */
void explain_size(struct explanation *explanation, uint32_t index, uint32_t min, uint32_t max,
	const char *singular, const char *plural);
