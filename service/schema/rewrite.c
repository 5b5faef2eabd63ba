/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/validate.h"

#define STACK_FIRST 64

static void write_value(struct rewrite *rewrite, uint32_t index, struct rewrite_set set);
static void expand(struct rewrite *rewrite, const struct node *node, uint32_t index);

static void push(struct rewrite *rewrite, const struct node *node)
{
	if (rewrite->count == rewrite->capacity) {
		uint32_t capacity = rewrite->capacity ? rewrite->capacity * 2 : STACK_FIRST;
		const struct node **nodes = reallocarray(rewrite->nodes, capacity, sizeof(*nodes));

		if (!nodes) {
			rewrite->error = -ENOMEM;
			return;
		}
		rewrite->nodes = nodes;
		rewrite->capacity = capacity;
	}
	rewrite->nodes[rewrite->count++] = node;
}

static bool applies(struct rewrite *rewrite, const struct node_applicator *applicator,
	const struct node *node, uint32_t index)
{
	return rewrite->applies ? rewrite->applies(rewrite, applicator, node, index)
				: validate_accepts(rewrite->context, node, index, MARKS_NONE);
}

/* Expand the applicable branches of @applicator for the value at @index. */
static void expand_branches(
	struct rewrite *rewrite, const struct node_applicator *applicator, uint32_t index)
{
	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		if (applies(rewrite, applicator, applicator->nodes[i], index))
			expand(rewrite, applicator->nodes[i], index);
	}
}

static void expand_applicator(
	struct rewrite *rewrite, const struct node_applicator *applicator, uint32_t index)
{
	const struct node *next;

	switch (applicator->kind) {
	case NODE_REF:
		expand(rewrite, applicator->nodes[0], index);
		break;
	case NODE_DYNAMIC_REF:
		expand(rewrite, context_find_dynamic(rewrite->context, applicator), index);
		break;
	case NODE_ALL_OF:
	case NODE_ANY_OF:
	case NODE_ONE_OF:
		expand_branches(rewrite, applicator, index);
		break;
	case NODE_NOT:
		break;
	case NODE_IF:
		next = applicator->nodes[2];
		if (applies(rewrite, applicator, applicator->nodes[0], index)) {
			expand(rewrite, applicator->nodes[0], index);
			next = applicator->nodes[1];
		}
		if (next)
			expand(rewrite, next, index);
		break;
	}
}

/* Push @node and every schema applied by it to the same value. */
static void expand(struct rewrite *rewrite, const struct node *node, uint32_t index)
{
	struct schema_context *context = rewrite->context;

	if (context->depth == RECURSION_MAX)
		context_stop(context, STOP_DEPTH);
	if (!context_spend(context, 1))
		return;
	context->depth++;
	context_enter_scope(context, node);
	push(rewrite, node);
	for (const struct node_applicator *a = node->applicators; a; a = a->next)
		expand_applicator(rewrite, a, index);
	for (uint32_t i = 0; node->object && i < node->object->n_dependencies; i++) {
		const struct node_dependency *d = &node->object->dependencies[i];

		if (d->node && json_type_at(context->tape, index) == JSON_OBJECT &&
			json_find_sized(context->tape, index, d->trigger.bytes,
				d->trigger.length) != JSON_NONE)
			expand(rewrite, d->node, index);
	}
	context->depth--;
}

/* Expand the schemas of @node for the member at @key. */
static void expand_member(struct rewrite *rewrite, const struct node *node, uint32_t key)
{
	struct schema_context *context = rewrite->context;
	const struct node_object *object = node->object;
	const struct node *next = NULL;
	bool is_taken = false;
	uint32_t place;

	if (!object)
		return;
	place = context_find_key(context, &object->names, key, 0);
	if (place != KEY_NONE)
		next = object->properties[place].node;
	is_taken = next != NULL;
	if (next)
		expand(rewrite, next, key + 1);
	for (uint32_t i = 0; i < object->n_patterns; i++) {
		if (!validate_matches(context, object->patterns[i].pattern, key))
			continue;
		expand(rewrite, object->patterns[i].node, key + 1);
		is_taken = true;
	}
	if (!is_taken && object->additional)
		expand(rewrite, object->additional, key + 1);
}

/* Expand the schemas of @node for the element at @index, the @at'th. */
static void expand_element(
	struct rewrite *rewrite, const struct node *node, uint32_t index, uint32_t at)
{
	const struct node_array *array = node->array;

	if (!array)
		return;
	if (at < array->n_prefix)
		expand(rewrite, array->prefix[at], index);
	else if (array->items)
		expand(rewrite, array->items, index);
}

/* Write the member (its @key is not 0) or element at @index, to whose parent @set applies. */
static void write_child(
	struct rewrite *rewrite, struct rewrite_set set, uint32_t key, uint32_t index, uint32_t at)
{
	struct rewrite_set child = {rewrite->count, 0};
	uint32_t scopes = rewrite->context->scopes_used;

	for (uint32_t i = 0; i < set.count && rewrite->error == 0; i++) {
		if (key != 0)
			expand_member(rewrite, rewrite->nodes[set.first + i], key);
		else
			expand_element(rewrite, rewrite->nodes[set.first + i], index, at);
	}
	for (uint32_t i = 0; rewrite->count == child.first && i < set.count; i++) {
		const struct node *node = rewrite->nodes[set.first + i];

		if (key != 0 && node->unevaluated_properties)
			expand(rewrite, node->unevaluated_properties, index);
		else if (key == 0 && node->unevaluated_items)
			expand(rewrite, node->unevaluated_items, index);
	}
	child.count = rewrite->count - child.first;
	rewrite->key = key;
	rewrite->parent = set;
	write_value(rewrite, index, child);
	rewrite->count = child.first;
	rewrite->context->scopes_used = scopes;
}

/* Write the container at @index: its text, its children, what is filled in. */
static void write_container(struct rewrite *rewrite, uint32_t index, struct rewrite_set set,
	const char *text, size_t size)
{
	struct schema_context *context = rewrite->context;
	const struct json_tape *tape = context->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	bool has_members = false;
	const char *written = text + 1;
	uint32_t i = json_first(tape, index);

	buffer_append_char(rewrite->out, *text);

	for (uint32_t at = 0; i < json_end(tape, index) && context->stop == STOP_NONE; at++) {
		uint32_t value = is_object ? i + 1 : i;
		size_t value_size;
		const char *value_text = json_value_text(tape, value, &value_size);
		size_t start = rewrite->out->size;

		/* The members before this one were dropped, but not the comma after them. */
		if (at > 0 && !has_members)
			written = memchr(written, ',', (size_t)(value_text - written)) + 1;
		buffer_append(rewrite->out, written, (size_t)(value_text - written));
		write_child(rewrite, set, is_object ? i : 0, value, at);
		written = value_text + value_size;
		i = json_next(tape, value);
		if (rewrite->is_dropped)
			rewrite->out->size = start;
		else
			has_members = true;
		rewrite->is_dropped = false;
	}
	if (is_object && rewrite->complete)
		rewrite->complete(rewrite, index, set);
	buffer_append(rewrite->out, written, (size_t)(text + size - written));
}

static void write_value(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	struct schema_context *context = rewrite->context;
	enum json_type type = json_type_at(context->tape, index);
	size_t size;
	const char *text = json_value_text(context->tape, index, &size);

	if (rewrite->replace && rewrite->replace(rewrite, index, set))
		return;
	if (context->depth == RECURSION_MAX)
		context_stop(context, STOP_DEPTH);
	if (type < JSON_ARRAY || set.count == 0 || context->stop != STOP_NONE) {
		buffer_append(rewrite->out, text, size);
		return;
	}
	context->depth++;
	write_container(rewrite, index, set, text, size);
	context->depth--;
}

void rewrite_value(struct rewrite *rewrite, const struct node *node, uint32_t index)
{
	struct rewrite_set set = {rewrite->count, 0};
	uint32_t scopes = rewrite->context->scopes_used;

	expand(rewrite, node, index);
	set.count = rewrite->count - set.first;
	rewrite->key = 0;
	write_value(rewrite, index, set);
	rewrite->count = set.first;
	rewrite->context->scopes_used = scopes;
}

int rewrite_end(struct rewrite *rewrite)
{
	free(rewrite->nodes);
	if (rewrite->context->stop == STOP_MEMORY || rewrite->error < 0)
		return -ENOMEM;
	/* A skipped value may lack a default, or be a string still. */
	return rewrite->context->stop != STOP_NONE ? SCHEMA_E_UNCHECKED
						   : buffer_status(rewrite->out);
}
