/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/validate.h"

/*
 * Nodes that ask what was evaluated (unevaluatedProperties, unevaluatedItems), and the dynamic
 * scope: the slow entry, which most schemas never take.
 */

/* Let @node have what is not marked in @row, and mark it. */
static bool check_rest(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t row)
{
	const struct json_tape *tape = context->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	uint32_t at = 0;

	for (uint32_t i = json_first(tape, index); i < json_end(tape, index); at++) {
		uint32_t value = is_object ? i + 1 : i;

		if (!validate_is_marked(context, row, at) &&
			!validate_accepts(context, node, value, MARKS_NONE))
			return false;
		validate_mark(context, row, at);
		i = json_next(tape, value);
	}
	return true;
}

/* The node that has what is left over of the value at @index, or NULL. */
static const struct node *unevaluated_node(
	const struct schema_context *context, const struct node *node, uint32_t index)
{
	switch (json_type_at(context->tape, index)) {
	case JSON_ARRAY:
		return node->unevaluated_items;
	case JSON_OBJECT:
		return node->unevaluated_properties;
	default:
		return NULL;
	}
}

/* A node that asks what was evaluated: with a row of its own, added to @marks if it holds. */
static bool check_evaluated(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	const struct node *rest = unevaluated_node(context, node, index);
	uint32_t count;
	uint32_t row;
	bool holds;

	if (!rest)
		return validate_accepts_evaluated(context, node, index, marks);
	count = node_count(context->tape, index);
	row = validate_push_marks(context, count);
	if (row == MARKS_NONE)
		return false;
	holds = validate_accepts_evaluated(context, node, index, row) &&
		check_rest(context, rest, index, row);
	for (uint32_t i = 0; holds && marks != MARKS_NONE && i <= count / 64; i++)
		context->marks[marks + i] |= context->marks[row + i];
	context->marks_used = row;
	return holds;
}

bool validate_scoped(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	bool is_entered = validate_enter_scope(context, node);
	bool holds = check_evaluated(context, node, index, marks);

	if (is_entered)
		validate_leave_scope(context);
	return holds;
}
