/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/context.h"
#include "schema/node.h"

/* Whether the value at @index satisfies @node. @marks: the row to set bits in, or MARKS_NONE. */
bool validate_accepts(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks);

/* The same without the unevaluated members and elements of @node itself. */
bool validate_accepts_evaluated(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks);

/* Return whether the number or string at @index satisfies the sections of @node alone. */
bool validate_accepts_alone(
	struct schema_context *context, const struct node *node, uint32_t index);

/* Whether @pattern matches the string at @index. */
bool validate_matches(
	struct schema_context *context, const struct pattern *pattern, uint32_t index);

/* Whether one bound, or multipleOf, holds for the number at @index. */
bool validate_bound_holds(struct schema_context *context, const struct node_number *number,
	enum node_bound_kind kind, uint32_t index);

/* Return whether the number at @index satisfies @number. */
bool validate_number(
	struct schema_context *context, const struct node_number *number, uint32_t index);

/* Return whether the string at @index satisfies @string. */
bool validate_string(
	struct schema_context *context, const struct node_string *string, uint32_t index);

/* Whether the value at @index is what `enum` and `const` of @node, where it has them, allow. (In
 * equal.c.) */
bool validate_has_values(struct schema_context *context, const struct node *node, uint32_t index);
