/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/signature.h"

#include <string.h>

#include "schema/words/describe.h"
#include "schema/node.h"
#include "schema/source.h"
#include "util/array.h"

/* Types are written this deep: an array of arrays of something. */
#define DEPTH_MAX 4

/* The most alternatives of a type. */
#define ALTERNATIVES_MAX 6

/* Parameters and alternatives beyond so many bytes are left out. */
#define BYTES_MAX 600

static void write_type(const struct node *node, unsigned int depth, struct buffer *out);

/* Return whether @types, alternatives separated by `|`, has the alternative @text. */
static bool has_alternative(const char *types, size_t size, const struct buffer *text)
{
	const char *end = types + size;
	const char *found = types;

	while ((found = memmem(found, (size_t)(end - found), text->data, text->size))) {
		const char *after = found + text->size;

		if ((found == types || found[-1] == '|') && (after == end || *after == '|'))
			return true;
		found++;
	}
	return false;
}

/* Append an alternative, unless the type at @start has it. Return whether there is room for one
 * more. */
static bool write_alternative(
	const struct buffer *text, size_t start, uint32_t *n_written, struct buffer *out)
{
	buffer_fail_with(out, text);
	if (text->size == 0 ||
		(out->size > start && has_alternative(out->data + start, out->size - start, text)))
		return true;
	buffer_append_string(out, *n_written > 0 ? "|" : "");
	if (*n_written == ALTERNATIVES_MAX || out->size > BYTES_MAX) {
		buffer_append_string(out, "…");
		return false;
	}
	buffer_append(out, text->data, text->size);
	*n_written += 1;
	return true;
}

static void write_values(
	const struct node *node, const struct node_values *values, struct buffer *out)
{
	const struct json_tape *tape = &node->source->tape;
	size_t start = out->size;
	uint32_t n_written = 0;

	if (values->is_constant) {
		describe_text(tape, values->token, out);
		return;
	}
	json_each(i, tape, values->token) {
		cleanup(buffer_deinit) struct buffer text = {0};

		describe_text(tape, i, &text);
		if (!write_alternative(&text, start, &n_written, out))
			return;
	}
}

/* Append the types of the branches, or of what a reference leads to. Return whether there are
 * any. */
static bool write_branches(const struct node *node, unsigned int depth, struct buffer *out)
{
	size_t start = out->size;
	uint32_t n_written = 0;

	for (const struct node_applicator *a = node->applicators; a; a = a->next) {
		if (a->kind != NODE_REF && a->kind != NODE_ALL_OF && a->kind != NODE_ANY_OF &&
			a->kind != NODE_ONE_OF)
			continue;
		for (uint32_t i = 0; i < a->n_nodes; i++) {
			cleanup(buffer_deinit) struct buffer text = {0};

			write_type(a->nodes[i], depth + 1, &text);
			if (!write_alternative(&text, start, &n_written, out))
				break;
		}
		return true;
	}
	return false;
}

static void write_array_type(const struct node *node, unsigned int depth, struct buffer *out)
{
	const struct node_array *array = node->array;
	cleanup(buffer_deinit) struct buffer text = {0};
	bool is_union;

	buffer_append_string(out, "array");
	if (!array || !array->items || array->n_prefix > 0 || describe_takes_all(array->items))
		return;
	write_type(array->items, depth + 1, &text);
	is_union = text.size > 0 && memchr(text.data, '|', text.size);
	buffer_append_string(out, is_union ? " of (" : " of ");
	buffer_append_buffer(out, &text);
	buffer_append_string(out, is_union ? ")" : "");
}

/* Append the types of @types. Strings of encoded bytes are called by their encoding. */
static void write_types(
	const struct node *node, unsigned int types, unsigned int depth, struct buffer *out)
{
	static const struct {
		unsigned int types;
		const char *name;
	} names[] = {
		{NODE_NUMBER, "number"},
		{NODE_INTEGER, "integer"},
		{NODE_STRING, "string"},
		{NODE_BOOLEAN, "boolean"},
		{NODE_TRUE, "true"},
		{NODE_FALSE, "false"},
		{NODE_ARRAY, NULL},
		{NODE_OBJECT, "object"},
		{NODE_NULL, "null"},
	};
	const char *before = "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((types & names[i].types) != names[i].types)
			continue;
		types &= ~names[i].types;
		buffer_append_string(out, before);
		before = "|";
		if (names[i].types == NODE_ARRAY)
			write_array_type(node, depth, out);
		else if (names[i].types != NODE_STRING || !describe_encoding(node, "", out))
			buffer_append_string(out, names[i].name);
	}
}

static void write_type(const struct node *node, unsigned int depth, struct buffer *out)
{
	unsigned int types = node->declared;

	if (depth > DEPTH_MAX) {
		buffer_append_string(out, "…");
		return;
	}
	if (node->values) {
		write_values(node, node->values, out);
		return;
	}
	if (types == NODE_ANY && write_branches(node, depth, out))
		return;
	if (types == NODE_ANY)
		types = describe_implied_types(node);
	if (types == 0)
		buffer_append_string(out, "any");
	write_types(node, types, depth, out);
}

/* Append the members of an object of @node. @has_defaults: mark the optional members. */
static void write_members(const struct node *node, bool has_defaults, struct buffer *out)
{
	const struct node_object *object = node->object;
	uint32_t count = object ? object->names.count : 0;
	size_t start = out->size;

	for (uint32_t i = 0; i < count; i++) {
		const struct node_property *property = &object->properties[i];
		const struct key *key = &object->names.keys[i];
		bool is_optional = has_defaults && !property->is_required;

		buffer_append_string(out, i > 0 ? ", " : "");
		if (out->size - start > BYTES_MAX) {
			buffer_printf(out, "… (%u in all)", count);
			return;
		}
		buffer_append(out, key->bytes, key->length);
		buffer_append_string(
			out, is_optional && property->default_token == 0 ? "?: " : ": ");
		if (property->node)
			write_type(property->node, 0, out);
		else
			buffer_append_string(out, "any");
		if (is_optional && property->default_token != 0) {
			buffer_append_string(out, " = ");
			describe_text(&node->source->tape, property->default_token, out);
		}
	}
}

void signature_write_parameters(const struct schema *schema, struct buffer *out)
{
	const struct node *node = describe_target(schema->root);

	if (node->object || node->declared == NODE_OBJECT)
		write_members(node, true, out);
	else
		buffer_append_string(out, "…");
}

void signature_write_result(const struct schema *schema, struct buffer *out)
{
	const struct node *node = describe_target(schema->root);

	if (node->object && node->object->names.count > 0)
		write_members(node, false, out);
	else
		write_type(node, 0, out);
}

void signature_describe_member(
	const struct schema *schema, const char *key, size_t size, struct buffer *out)
{
	const struct node_object *object = describe_target(schema->root)->object;

	for (uint32_t i = 0; object && i < object->names.count; i++) {
		const struct key *name = &object->names.keys[i];
		const struct node *node = object->properties[i].node;

		if (name->length != size || memcmp(name->bytes, key, size) != 0)
			continue;
		if (node && !describe_takes_all(node)) {
			describe_node(node, out);
			return;
		}
	}
	buffer_append_string(out, "anything");
}
