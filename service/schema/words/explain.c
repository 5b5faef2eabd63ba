/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/explain.h"

#include <errno.h>
#include <string.h>

#include "schema/words/describe.h"
#include "schema/equal.h"
#include "util/text/text.h"

/*
 * The second pass: describe the violations of a rejected instance, for a person or a model to
 * correct.
 *
 * It walks the nodes as the first pass does, asks the first pass which nodes hold, and goes on only
 * below the others. So it finds every independent violation and no consequence of another one: a
 * value of the wrong type has no further violations, leftovers of unevaluated* are reported only
 * when all else holds, and a union has only the violations of the intended branch (union.c).
 */

/* The longest string read for a hint. */
#define HINT_BYTES_MAX 4096

/* Append to a message where the string at @index holds what would be right without its quotes. */
static void hint_at_quotes(
	const struct json_tape *tape, const struct node *node, uint32_t index, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape inner = {0};
	unsigned int type;
	int r;

	if (json_type_at(tape, index) != JSON_STRING || node->types & NODE_STRING ||
		json_at(tape, index)->length > HINT_BYTES_MAX)
		return;
	json_string_decode(tape, index, &text);
	buffer_fail_with(out, &text);
	r = json_tape_read(&inner, buffer_text(&text), text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		out->error = r;
	if (r != 0)
		return;
	type = node_type_of(&inner, 0, node->types);
	if (!(node->types & type))
		return;
	buffer_printf(out, "; send the %s ", json_type_name(json_type_at(&inner, 0)));
	if (json_type_at(&inner, 0) <= JSON_NUMBER)
		describe_text(&inner, 0, out);
	else
		buffer_append_string(out, "itself");
	buffer_append_string(out, ", without quotes");
}

/* The string of @node's enum nearest to the string at @index. */
static void hint_at_value(
	struct schema_context *context, const struct node *node, uint32_t index, struct buffer *out)
{
	const struct json_tape *tape = context->tape;
	cleanup_free char *came = NULL;
	const struct key *best = NULL;
	unsigned int best_distance = 0;
	size_t size;

	if (json_type_at(tape, index) != JSON_STRING || !node->values ||
		node->values->strings.count < 2 || json_at(tape, index)->length > HINT_BYTES_MAX ||
		!context_spend(context, (uint64_t)node->values->strings.count * NEAR_STEPS))
		return;
	came = json_string_dup(tape, index, &size);
	if (!came)
		out->error = -ENOMEM;
	for (uint32_t i = 0; came && i < node->values->strings.count; i++) {
		const struct key *key = &node->values->strings.keys[i];
		unsigned int distance;

		if (text_is_near(came, size, key->bytes, key->length, &distance) &&
			(!best || distance < best_distance)) {
			best = key;
			best_distance = distance;
		}
	}
	if (best) {
		buffer_append_string(out, "; did you mean ");
		describe_name(best->bytes, best->length, out);
		buffer_append_char(out, '?');
	}
}

void explain_wanted(struct explanation *explanation, const struct node *node,
	const struct buffer *wanted, uint32_t index)
{
	const struct json_tape *tape = explanation->context->tape;
	cleanup(buffer_deinit) struct buffer message = {0};

	buffer_append_string(&message, "must be ");
	buffer_append_buffer(&message, wanted);
	if (explanation->or_null == index)
		buffer_append_string(&message, " or null");
	if (!node->is_write_only) {
		buffer_append_string(&message, ", not ");
		describe_value(tape, index, &message);
		hint_at_quotes(tape, node, index, &message);
		hint_at_value(explanation->context, node, index, &message);
	}
	findings_add(&explanation->findings, index, &message);
}

static void explain_mismatch(
	struct explanation *explanation, const struct node *node, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer wanted = {0};

	describe_node(node, &wanted);
	explain_wanted(explanation, node, &wanted, index);
}

void explain_add(struct explanation *explanation, uint32_t index, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&message, format, arguments);
	va_end(arguments);
	findings_add(&explanation->findings, index, &message);
}

void explain_size(struct explanation *explanation, uint32_t index, uint32_t min, uint32_t max,
	const char *singular, const char *plural)
{
	uint32_t count = json_count(explanation->context->tape, index);

	if (count < min)
		explain_add(explanation, index, "must have at least %u %s, has %u", min,
			min == 1 ? singular : plural, count);
	if (count > max)
		explain_add(explanation, index, "must have at most %u %s, has %u", max,
			max == 1 ? singular : plural, count);
}

/* Return how many elements of the array at @index are before the one at @element. */
static uint32_t position(const struct json_tape *tape, uint32_t index, uint32_t element)
{
	uint32_t at = 0;

	for (uint32_t i = json_first(tape, index); i < element; i = json_next(tape, i))
		at++;
	return at;
}

static void explain_unique(struct explanation *explanation, uint32_t index)
{
	const struct json_tape *tape = explanation->context->tape;
	struct equal_pair pair;

	if (equal_elements(explanation->context, index, &pair))
		explain_add(explanation, index,
			"its elements must differ, but number %u and %u are equal (counted from 0)",
			position(tape, index, pair.first), position(tape, index, pair.second));
}

static void explain_contains(
	struct explanation *explanation, const struct node_array *array, uint32_t index)
{
	const struct json_tape *tape = explanation->context->tape;
	cleanup(buffer_deinit) struct buffer message = {0};
	uint32_t count = 0;

	json_each(i, tape, index)
		count += validate_accepts(explanation->context, array->contains, i, MARKS_NONE);
	if (count >= array->contains_min && count <= array->contains_max)
		return;
	if (count < array->contains_min)
		buffer_printf(&message, "must contain at least %u of ", array->contains_min);
	else
		buffer_printf(&message, "must contain at most %u of ", array->contains_max);
	describe_node(array->contains, &message);
	buffer_printf(&message, ", contains %u", count);
	findings_add(&explanation->findings, index, &message);
}

static void explain_array(
	struct explanation *explanation, const struct node_array *array, uint32_t index)
{
	const struct json_tape *tape = explanation->context->tape;
	uint32_t at = 0;

	explain_size(explanation, index, array->items_min, array->items_max, "element", "elements");
	for (uint32_t i = json_first(tape, index);
		i < json_end(tape, index) && !explanation->findings.is_full;
		i = json_next(tape, i), at++) {
		if (at < array->n_prefix)
			explain_node(explanation, array->prefix[at], i);
		else if (array->items && array->items->types == 0)
			explain_add(explanation, i, "must be absent: the array takes %u element%s",
				array->n_prefix, array->n_prefix == 1 ? "" : "s");
		else if (array->items)
			explain_node(explanation, array->items, i);
	}
	if (array->contains)
		explain_contains(explanation, array, index);
	if (array->is_unique)
		explain_unique(explanation, index);
}

static void explain_not(struct explanation *explanation, const struct node *node, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	if (!validate_accepts(explanation->context, node, index, MARKS_NONE))
		return;
	buffer_append_string(&message, "must not be ");
	describe_node(node, &message);
	buffer_append_string(&message, ", but is ");
	describe_value(explanation->context->tape, index, &message);
	findings_add(&explanation->findings, index, &message);
}

/* A value for more than one branch, or else for none. */
static void explain_one_of(struct explanation *explanation, const struct node *node,
	const struct node_applicator *applicator, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer held = {0};
	uint32_t holding = 0;

	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		if (!validate_accepts(
			    explanation->context, applicator->nodes[i], index, MARKS_NONE))
			continue;
		buffer_append_string(&held, holding++ > 0 ? " and " : "");
		if (holding <= DESCRIBE_LIST_MAX)
			describe_node(applicator->nodes[i], &held);
	}
	if (holding == 0) {
		explain_union(explanation, node, applicator, index);
	} else if (holding > 1) {
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&message,
			"must satisfy exactly one of %u alternatives, but satisfies %u: ",
			applicator->n_nodes, holding);
		buffer_append_buffer(&message, &held);
		findings_add(&explanation->findings, index, &message);
	}
}

static bool accepts_any(
	struct schema_context *context, const struct node_applicator *applicator, uint32_t index)
{
	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		if (validate_accepts(context, applicator->nodes[i], index, MARKS_NONE))
			return true;
	}
	return false;
}

static void explain_applicator(struct explanation *explanation, const struct node *node,
	const struct node_applicator *applicator, uint32_t index)
{
	struct schema_context *context = explanation->context;
	const struct node *next;

	switch (applicator->kind) {
	case NODE_REF:
		explain_node(explanation, applicator->nodes[0], index);
		break;
	case NODE_DYNAMIC_REF:
		explain_node(explanation, context_find_dynamic(context, applicator), index);
		break;
	case NODE_ALL_OF:
		for (uint32_t i = 0; i < applicator->n_nodes; i++)
			explain_node(explanation, applicator->nodes[i], index);
		break;
	case NODE_ANY_OF:
		if (!accepts_any(context, applicator, index))
			explain_union(explanation, node, applicator, index);
		break;
	case NODE_ONE_OF:
		explain_one_of(explanation, node, applicator, index);
		break;
	case NODE_NOT:
		explain_not(explanation, applicator->nodes[0], index);
		break;
	case NODE_IF:
		next = applicator->nodes[validate_accepts(
						 context, applicator->nodes[0], index, MARKS_NONE)
						 ? 1
						 : 2];
		if (next)
			explain_node(explanation, next, index);
		break;
	}
}

/* Explain the members left over by the other keywords of @node, all of which hold. */
static void explain_unevaluated(
	struct explanation *explanation, const struct node *node, uint32_t index)
{
	struct schema_context *context = explanation->context;
	const struct json_tape *tape = context->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	const struct node *rest =
		is_object ? node->unevaluated_properties : node->unevaluated_items;
	uint32_t row = context_push_marks(context, json_count(tape, index));
	uint32_t at = 0;

	if (row == MARKS_NONE || !validate_accepts_evaluated(context, node, index, row))
		return;
	for (uint32_t i = json_first(tape, index); i < json_end(tape, index); at++) {
		uint32_t value = is_object ? i + 1 : i;

		if (!context_is_marked(context, row, at)) {
			if (rest->types != 0)
				explain_node(explanation, rest, value);
			else if (is_object)
				explain_unexpected(explanation, NULL, index, i);
			else
				explain_add(
					explanation, i, "must be absent: no such element is taken");
		}
		i = json_next(tape, value);
	}
	context->marks_used = row;
}

/* The section of the actual type. */
static void explain_sections(
	struct explanation *explanation, const struct node *node, uint32_t index)
{
	struct schema_context *context = explanation->context;
	enum json_type type = json_type_at(context->tape, index);

	if (type == JSON_ARRAY && node->array)
		explain_array(explanation, node->array, index);
	if (type == JSON_OBJECT && node->object)
		explain_object(explanation, node->object, index);
	for (const struct node_applicator *a = node->applicators; a; a = a->next)
		explain_applicator(explanation, node, a, index);
}

static void explain_failed(struct explanation *explanation, const struct node *node, uint32_t index)
{
	struct schema_context *context = explanation->context;
	enum json_type type = json_type_at(context->tape, index);
	uint32_t before = explanation->findings.count;
	unsigned int bit = node_type_of(context->tape, index, node->declared);

	if (!(node->declared & bit) || !validate_has_values(context, node, index)) {
		explain_mismatch(explanation, node, index);
		return;
	}
	if (type == JSON_NUMBER || type == JSON_STRING) {
		if (!validate_accepts_alone(context, node, index))
			explain_mismatch(explanation, node, index);
	}
	explain_sections(explanation, node, index);
	if (explanation->findings.count > before || context->stop != STOP_NONE)
		return;
	if (type == JSON_OBJECT ? node->unevaluated_properties != NULL
				: type == JSON_ARRAY && node->unevaluated_items)
		explain_unevaluated(explanation, node, index);
}

void explain_node(struct explanation *explanation, const struct node *node, uint32_t index)
{
	struct schema_context *context = explanation->context;
	bool is_entered;

	/* When the types decide, the first pass takes no step, so this one takes its own. */
	if (!context_spend(context, 1) || explanation->findings.is_full ||
		validate_accepts(context, node, index, MARKS_NONE))
		return;
	if (context->depth == RECURSION_MAX) {
		context_stop(context, STOP_DEPTH);
		return;
	}
	context->depth++;
	is_entered = context_enter_scope(context, node);
	explain_failed(explanation, node, index);
	if (is_entered)
		context_leave_scope(context);
	context->depth--;
}

int explain_value(struct schema_context *context, const struct schema *schema,
	const struct node *node, const struct json_tape *tape, uint32_t value,
	struct schema_report *ret_report)
{
	struct explanation explanation;
	bool holds;
	int r;

	explanation.context = context;
	explanation.or_null = OR_NULL_NOWHERE;
	findings_init(&explanation.findings);
	context_follow(context, schema, tape);
	holds = context->stop == STOP_NONE && validate_accepts(context, node, value, MARKS_NONE);
	if (!holds && context->stop == STOP_NONE)
		explain_node(&explanation, node, value);
	if (context->stop == STOP_MEMORY)
		explanation.findings.error = -ENOMEM;
	else if (context->stop != STOP_NONE || (!holds && explanation.findings.count == 0))
		explain_add(&explanation, value, "%s", schema_stop_text(context));
	r = findings_report(&explanation.findings, tape, value, ret_report);
	findings_deinit(&explanation.findings);
	return r == 0 && context->stop != STOP_NONE ? SCHEMA_E_UNCHECKED : r;
}

int schema_explain(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct schema_report *ret_report)
{
	cleanup(buffer_deinit) struct buffer summary = {0};
	int r = explain_value(context, schema, schema->root, tape, value, ret_report);

	if (r != 0 || ret_report->n_violations == 0 || ret_report->summary)
		return r;
	describe_members(schema->root, &summary);
	if (summary.size == 0)
		return buffer_status(&summary);
	ret_report->summary = buffer_take(&summary, NULL);
	return ret_report->summary ? 0 : -ENOMEM;
}
