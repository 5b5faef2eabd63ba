/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "json/pointer.h"
#include "schema/describe.h"
#include "schema/rewrite.h"
#include "schema/validate.h"

/*
 * Replace strings by the values that they hold: many callers quote every value, and a model cannot
 * correct its serializer.
 *
 *   "25", "2.50"         ──▶ 25, 2.50      where a number is taken (an integer only if whole)
 *   "true", "false"      ──▶ true, false   where a boolean is
 *   "{\"a\": 1}", "[1]"  ──▶ {"a": 1}, [1] where an object or an array is
 *
 * A string is replaced only when no schema that applies accepts one, and nothing else is: null
 * stays null, "yes" is not true, and no value becomes a string. A branch of anyOf and oneOf applies
 * if it is the only one that accepts the type of the value.
 */
struct coercion {
	struct rewrite rewrite; /* first, so that one is the other */
	uint32_t root;
	bool is_inside; /* a string that held JSON: its own changes are not reported */
	struct schema_report *changes;
};

static bool takes(const struct json_tape *tape, const struct node *node, uint32_t index)
{
	return node->types & node_type_of(tape, index, node->types);
}

static bool applies(struct rewrite *rewrite, const struct node_applicator *applicator,
	const struct node *node, uint32_t index)
{
	const struct json_tape *tape = rewrite->context->tape;

	switch (applicator->kind) {
	case NODE_ALL_OF:
		return true;
	case NODE_ANY_OF:
	case NODE_ONE_OF:
		for (uint32_t i = 0; i < applicator->n_nodes; i++) {
			if (applicator->nodes[i] != node &&
				takes(tape, applicator->nodes[i], index))
				return false;
		}
		return takes(tape, node, index);
	default:
		return validate_accepts(rewrite->context, node, index, MARKS_NONE);
	}
}

/* Report the change at @index; its new text is in @out from @start on. */
static void add_change(struct coercion *coercion, uint32_t index, size_t start)
{
	const struct json_tape *tape = coercion->rewrite.context->tape;
	const struct buffer *out = coercion->rewrite.out;
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	size_t skipped;

	if (coercion->is_inside || buffer_status(out) < 0)
		return;
	/* Finding the path of a change costs as much as the way there. */
	if (coercion->changes->n_violations == SCHEMA_VIOLATIONS_MAX) {
		coercion->changes->is_cut = true;
		return;
	}
	json_pointer_write(tape, coercion->root, &path);
	skipped = path.size;
	buffer_reset(&path);
	json_pointer_write(tape, index, &path);
	describe_value(tape, index, &message);
	buffer_printf(&message, " was taken as the %s it holds",
		out->data[start] == '{'          ? "object"
		: out->data[start] == '['        ? "array"
		: strchr("tf", out->data[start]) ? "boolean"
						 : "number");
	if (!buffer_terminate(&path) || !buffer_terminate(&message) ||
		schema_report_add(coercion->changes, path.data + skipped, message.data) < 0)
		coercion->rewrite.error = -ENOMEM;
}

/* Write the container that the text at @inner holds, itself coerced. */
static void write_inner(
	struct coercion *coercion, const struct json_tape *inner, struct rewrite_set set)
{
	struct schema_context *context = coercion->rewrite.context;
	const struct json_tape *tape = context->tape;
	bool is_inside = coercion->is_inside;

	context->tape = inner;
	coercion->is_inside = true;
	rewrite_value(&coercion->rewrite, coercion->rewrite.nodes[set.first], 0);
	coercion->is_inside = is_inside;
	context->tape = tape;
}

static bool replace(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	struct coercion *coercion = (struct coercion *)rewrite;
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape inner = {0};
	size_t start = rewrite->out->size;
	unsigned int types = set.count > 0 ? NODE_ANY : NODE_STRING;
	int r;

	for (uint32_t i = 0; i < set.count; i++)
		types &= rewrite->nodes[set.first + i]->types;
	if (json_type_at(rewrite->context->tape, index) != JSON_STRING || types & NODE_STRING)
		return false;
	if (!context_spend_bytes(rewrite->context, index))
		return false;
	json_string_decode(rewrite->context->tape, index, &text);
	r = buffer_status(&text);
	if (r == 0 && text.size > 0)
		r = json_tape_read(&inner, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		rewrite->error = r;
	if (r != 0 || text.size == 0)
		return false;
	if (json_type_at(&inner, 0) == JSON_NULL || !(types & node_type_of(&inner, 0, types)))
		return false;
	if (json_type_at(&inner, 0) >= JSON_ARRAY)
		write_inner(coercion, &inner, set);
	else
		buffer_append(rewrite->out, json_bytes(&inner, 0), json_at(&inner, 0)->length);
	add_change(coercion, index, start);
	return true;
}

int schema_coerce(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out,
	struct schema_report *ret_changes)
{
	struct coercion coercion = {
		.rewrite = {.context = context, .out = out, .applies = applies, .replace = replace},
		.root = value,
		.changes = ret_changes};

	context_follow(context, schema, tape);
	rewrite_value(&coercion.rewrite, schema->root, value);
	return rewrite_end(&coercion.rewrite);
}
