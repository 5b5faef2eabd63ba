/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "json/writer.h"
#include "schema/validate.h"

/*
 * Defaults put in place. The instance's text is copied as it stands, and behind the last member of
 * an object come the properties that are absent and have a default:
 *
 *   {"a": {"b": 1 }, "c": [ ]}
 *    ──────────copied─ ▲       ▲ ,"d":"…"
 *                      └ ,"e":2
 *
 * Which schemas apply to a value is not one node but a set: those of its parent's set that speak of
 * it, each with what it refers to, all of allOf, and of anyOf, oneOf and if the branches that hold.
 * The sets of the values on the way from the root stand on one stack. Where two of them have a
 * default for one property, the first has it.
 */
struct fill {
	struct schema_context *context;
	struct buffer *out;
	const struct node **nodes; /* the stack */
	uint32_t count;
	uint32_t capacity;
	bool is_changed;
	int error; /* 0, or the first failure */
};

/* The nodes of one value: a part of the stack. */
struct set {
	uint32_t first;
	uint32_t count;
};

static void write_value(struct fill *fill, uint32_t index, struct set set);

static void push(struct fill *fill, const struct node *node)
{
	if (fill->count == fill->capacity) {
		uint32_t capacity = fill->capacity ? fill->capacity * 2 : 64;
		const struct node **nodes = reallocarray(fill->nodes, capacity, sizeof(*nodes));

		if (!nodes) {
			fill->error = -ENOMEM;
			return;
		}
		fill->nodes = nodes;
		fill->capacity = capacity;
	}
	fill->nodes[fill->count++] = node;
}

static void expand(struct fill *fill, const struct node *node, uint32_t index);

/* Expand the branches of @applicator that hold for the value at @index. */
static void expand_applicator(
	struct fill *fill, const struct node_applicator *applicator, uint32_t index)
{
	struct schema_context *context = fill->context;
	const struct node *next;

	switch (applicator->kind) {
	case NODE_REF:
		expand(fill, applicator->nodes[0], index);
		break;
	case NODE_DYNAMIC_REF:
		expand(fill, validate_find_dynamic(context, applicator), index);
		break;
	case NODE_ALL_OF:
	case NODE_ANY_OF:
	case NODE_ONE_OF:
		for (uint32_t i = 0; i < applicator->n_nodes; i++) {
			if (validate_accepts(context, applicator->nodes[i], index, MARKS_NONE))
				expand(fill, applicator->nodes[i], index);
		}
		break;
	case NODE_NOT:
		break;
	case NODE_IF:
		next = applicator->nodes[1];
		if (validate_accepts(context, applicator->nodes[0], index, MARKS_NONE))
			expand(fill, applicator->nodes[0], index);
		else
			next = applicator->nodes[2];
		if (next)
			expand(fill, next, index);
		break;
	}
}

/* Push @node and everything that it applies to the same value. */
static void expand(struct fill *fill, const struct node *node, uint32_t index)
{
	struct schema_context *context = fill->context;

	if (context->depth == RECURSION_MAX || !validate_spend(context, 1))
		return;
	context->depth++;
	validate_enter_scope(context, node);
	push(fill, node);
	for (const struct node_applicator *a = node->applicators; a; a = a->next)
		expand_applicator(fill, a, index);
	for (uint32_t i = 0; node->object && i < node->object->n_dependencies; i++) {
		const struct node_dependency *d = &node->object->dependencies[i];

		if (d->node && json_type_at(context->tape, index) == JSON_OBJECT &&
			json_find_sized(context->tape, index, d->trigger.bytes,
				d->trigger.length) != JSON_NONE)
			expand(fill, d->node, index);
	}
	context->depth--;
}

/* Expand what @node says of the member at @key. */
static void expand_member(struct fill *fill, const struct node *node, uint32_t key)
{
	struct schema_context *context = fill->context;
	const struct node_object *object = node->object;
	const struct node *next = NULL;
	bool is_taken = false;
	uint32_t place;

	if (!object)
		return;
	place = validate_find_key(context, &object->names, key, 0);
	if (place != KEY_NONE)
		next = object->properties[place].node;
	is_taken = next != NULL;
	if (next)
		expand(fill, next, key + 1);
	for (uint32_t i = 0; i < object->n_patterns; i++) {
		if (!validate_matches(context, object->patterns[i].pattern, key))
			continue;
		expand(fill, object->patterns[i].node, key + 1);
		is_taken = true;
	}
	if (!is_taken && object->additional)
		expand(fill, object->additional, key + 1);
}

/* Expand what @node says of the element at @index, the @at'th. */
static void expand_element(struct fill *fill, const struct node *node, uint32_t index, uint32_t at)
{
	const struct node_array *array = node->array;

	if (!array)
		return;
	if (at < array->n_prefix)
		expand(fill, array->prefix[at], index);
	else if (array->items)
		expand(fill, array->items, index);
}

/* Write the member (its @key is not 0) or element at @index, to whose parent @set applies. */
static void write_child(
	struct fill *fill, struct set set, uint32_t key, uint32_t index, uint32_t at)
{
	struct set child = {fill->count, 0};
	uint32_t scopes = fill->context->scopes_used;

	for (uint32_t i = 0; i < set.count && fill->error == 0; i++) {
		if (key != 0)
			expand_member(fill, fill->nodes[set.first + i], key);
		else
			expand_element(fill, fill->nodes[set.first + i], index, at);
	}
	for (uint32_t i = 0; fill->count == child.first && i < set.count; i++) {
		const struct node *node = fill->nodes[set.first + i];

		if (key != 0 && node->unevaluated_properties)
			expand(fill, node->unevaluated_properties, index);
		else if (key == 0 && node->unevaluated_items)
			expand(fill, node->unevaluated_items, index);
	}
	child.count = fill->count - child.first;
	write_value(fill, index, child);
	fill->count = child.first;
	fill->context->scopes_used = scopes;
}

/* Whether one of the first @count nodes of @set has a default for the property called @key. */
static bool has_default(
	const struct fill *fill, struct set set, uint32_t count, const struct key *key)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct node_object *object = fill->nodes[set.first + i]->object;
		uint32_t place = object ? key_set_find(&object->names, key, 0) : KEY_NONE;

		if (place != KEY_NONE && object->properties[place].default_token != 0)
			return true;
	}
	return false;
}

/* Write one default, itself filled in. */
static void write_default(struct fill *fill, const struct node *owner, uint32_t place)
{
	struct schema_context *context = fill->context;
	const struct node_property *property = &owner->object->properties[place];
	const struct key *key = &owner->object->names.keys[place];
	const struct json_tape *tape = context->tape;
	uint32_t scopes = context->scopes_used;
	struct set set = {fill->count, 0};

	json_write_string(fill->out, key->bytes, key->length);
	buffer_append_char(fill->out, ':');
	context->tape = &owner->source->tape;
	expand(fill, property->node, property->default_token);
	set.count = fill->count - set.first;
	write_value(fill, property->default_token, set);
	fill->count = set.first;
	context->tape = tape;
	context->scopes_used = scopes;
	fill->is_changed = true;
}

/* Write the defaults of what the object at @index lacks; @is_empty tells whether a comma is needed
 * in front. */
static void write_defaults(struct fill *fill, uint32_t index, struct set set, bool is_empty)
{
	const struct json_tape *tape = fill->context->tape;

	for (uint32_t i = 0; i < set.count; i++) {
		const struct node *node = fill->nodes[set.first + i];

		for (uint32_t k = 0; node->object && k < node->object->names.count; k++) {
			const struct key *key = &node->object->names.keys[k];

			if (node->object->properties[k].default_token == 0 ||
				json_find_sized(tape, index, key->bytes, key->length) !=
					JSON_NONE ||
				has_default(fill, set, i, key))
				continue;
			if (!is_empty)
				buffer_append_char(fill->out, ',');
			write_default(fill, node, k);
			is_empty = false;
		}
	}
}

/* Write the container at @index: its text, its children, what is filled in. */
static void write_container(
	struct fill *fill, uint32_t index, struct set set, const char *text, size_t size)
{
	const struct json_tape *tape = fill->context->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	const char *written = text;
	uint32_t i = json_first(tape, index);

	for (uint32_t at = 0; i < json_end(tape, index); at++) {
		uint32_t value = is_object ? i + 1 : i;
		size_t value_size;
		const char *value_text = json_value_text(tape, value, &value_size);

		buffer_append(fill->out, written, (size_t)(value_text - written));
		write_child(fill, set, is_object ? i : 0, value, at);
		written = value_text + value_size;
		i = json_next(tape, value);
	}
	if (written == text)
		buffer_append_char(fill->out, *written++);
	if (is_object)
		write_defaults(fill, index, set, json_count(tape, index) == 0);
	buffer_append(fill->out, written, (size_t)(text + size - written));
}

static void write_value(struct fill *fill, uint32_t index, struct set set)
{
	struct schema_context *context = fill->context;
	enum json_type type = json_type_at(context->tape, index);
	size_t size;
	const char *text = json_value_text(context->tape, index, &size);

	if (type < JSON_ARRAY || set.count == 0 || context->depth == RECURSION_MAX) {
		buffer_append(fill->out, text, size);
		return;
	}
	context->depth++;
	write_container(fill, index, set, text, size);
	context->depth--;
}

int schema_fill(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed)
{
	struct fill fill = {.context = context, .out = out};
	struct set set = {0};

	validate_begin(context, schema, tape);
	if (schema->has_defaults)
		expand(&fill, schema->root, value);
	set.count = fill.count;
	write_value(&fill, value, set);
	free(fill.nodes);
	if (context->stop == STOP_MEMORY || fill.error < 0)
		return -ENOMEM;
	if (buffer_status(out) == 0 && ret_is_changed)
		*ret_is_changed = fill.is_changed;
	return buffer_status(out);
}
