/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "schema/words/describe.h"
#include "schema/format/format.h"
#include "schema/node.h"
#include "schema/source.h"
#include "util/text/base64.h"

/* Values are made this deep. */
#define DEPTH_MAX 8

/* A sample of at least this many bytes gets no more parts. */
#define BYTES_MAX 4096

/* The most elements of an array. */
#define ELEMENTS_MAX 16

/* The text of a sample, repeated until it is long enough. */
static const char text[] = "text ";

static void make_value(const struct node *node, unsigned int depth, struct buffer *out);

/* Append the value given by the schema of @node itself. Return whether there is a value. */
static bool make_given(const struct node *node, struct buffer *out)
{
	const struct json_tape *tape = &node->source->tape;
	uint32_t list = node->values ? node->values->token : JSON_NONE;
	uint32_t value;

	if (json_type_at(tape, node->token) != JSON_OBJECT)
		return false;
	value = json_find(tape, node->token, "default");
	if (value == JSON_NONE && node->values && node->values->is_constant)
		value = node->values->token;
	if (value == JSON_NONE && list == JSON_NONE)
		list = json_find(tape, node->token, "examples");
	if (value == JSON_NONE && list != JSON_NONE && json_type_at(tape, list) == JSON_ARRAY &&
		json_count(tape, list) > 0)
		value = json_first(tape, list);
	if (value == JSON_NONE)
		return false;
	json_write_compact(out, tape, value);
	return true;
}

/* Append the bound, or the first number beyond an exclusive one. */
static void make_bound(const struct node_bound *bound, int beyond, struct buffer *out)
{
	char digits[32];

	if (beyond == 0 || bound->size >= sizeof(digits)) {
		buffer_append(out, bound->text, bound->size);
		return;
	}
	memcpy(digits, bound->text, bound->size);
	digits[bound->size] = '\0';
	buffer_printf(out, "%lld", strtoll(digits, NULL, 10) + beyond);
}

static void make_number(const struct node_number *number, struct buffer *out)
{
	const struct node_bound *bounds = number ? number->bounds : NULL;

	if (!bounds)
		buffer_append_char(out, '1');
	else if (bounds[NODE_MINIMUM].text)
		make_bound(&bounds[NODE_MINIMUM], 0, out);
	else if (bounds[NODE_EXCLUSIVE_MINIMUM].text)
		make_bound(&bounds[NODE_EXCLUSIVE_MINIMUM], 1, out);
	else if (bounds[NODE_MULTIPLE_OF].text)
		make_bound(&bounds[NODE_MULTIPLE_OF], 0, out);
	else if (bounds[NODE_MAXIMUM].text)
		make_bound(&bounds[NODE_MAXIMUM], 0, out);
	else
		make_bound(&bounds[NODE_EXCLUSIVE_MAXIMUM], -1, out);
}

/* Return the example of the format of strings of @node, or NULL. */
static const char *find_format(const struct node *node)
{
	cleanup_free char *name = json_find_dup(&node->source->tape, node->token, "format");
	const struct format *format = name ? format_find(FORMAT_TEXT, name) : NULL;

	return format ? format->example : NULL;
}

static void make_string(const struct node *node, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer value = {0};
	size_t least = node->string ? node->string->length_min : 0;
	size_t most = node->string ? node->string->length_max : NODE_UNBOUNDED;
	size_t size = least > sizeof(text) - 2 ? least : sizeof(text) - 2;
	const char *example = find_format(node);

	if (example) {
		json_write_text(out, example);
		return;
	}
	size = size > most ? most : size;
	size = size > BYTES_MAX ? BYTES_MAX : size;
	if (describe_encoding(node, "", &value)) {
		buffer_reset(&value);
		base64_encode(text, sizeof(text) - 2, &value);
	} else {
		for (size_t i = 0; i < size; i++)
			buffer_append_char(&value, text[i % (sizeof(text) - 1)]);
	}
	json_write_buffer(out, &value);
}

static void make_array(const struct node_array *array, unsigned int depth, struct buffer *out)
{
	uint32_t least = array && array->items_min > 0 ? array->items_min : 1;
	uint32_t count = array && array->items_max < least ? array->items_max : least;

	buffer_append_char(out, '[');
	for (uint32_t i = 0; i < count && i < ELEMENTS_MAX; i++) {
		const struct node *node = NULL;

		if (array && i < array->n_prefix)
			node = array->prefix[i];
		else if (array)
			node = array->items;
		buffer_append_string(out, i > 0 ? "," : "");
		if (node)
			make_value(node, depth + 1, out);
		else
			buffer_append_char(out, '1');
	}
	buffer_append_char(out, ']');
}

static void make_object(const struct node_object *object, unsigned int depth, struct buffer *out)
{
	const char *before = "";

	buffer_append_char(out, '{');
	for (uint32_t i = 0; object && i < object->names.count; i++) {
		const struct node_property *property = &object->properties[i];
		const struct key *key = &object->names.keys[i];

		if (!property->is_required)
			continue;
		buffer_append_string(out, before);
		before = ",";
		json_write_string(out, key->bytes, key->length);
		buffer_append_char(out, ':');
		if (property->node)
			make_value(property->node, depth + 1, out);
		else
			buffer_append_char(out, '1');
	}
	buffer_append_char(out, '}');
}

/* Append a value of the first type in @types, in the order of a person's preference. */
static void make_typed(
	const struct node *node, unsigned int types, unsigned int depth, struct buffer *out)
{
	if (types & NODE_OBJECT && types != NODE_ANY)
		make_object(node->object, depth, out);
	else if (types & NODE_ARRAY && types != NODE_ANY)
		make_array(node->array, depth, out);
	else if (types & NODE_STRING)
		make_string(node, out);
	else if (types & NODE_NUMBER)
		make_number(node->number, out);
	else if (types & NODE_TRUE)
		buffer_append_string(out, "true");
	else
		buffer_append_string(out, types & NODE_FALSE ? "false" : "null");
}

/* Return the branch of the applicators of @node for a value to follow, or NULL. */
static const struct node *find_branch(const struct node *node)
{
	for (const struct node_applicator *a = node->applicators; a; a = a->next) {
		if (a->kind == NODE_REF || a->kind == NODE_ALL_OF)
			return a->nodes[0];
		if (a->kind != NODE_ANY_OF && a->kind != NODE_ONE_OF)
			continue;
		for (uint32_t i = 0; i < a->n_nodes; i++)
			if (a->nodes[i]->declared != NODE_NULL)
				return a->nodes[i];
		return a->nodes[0];
	}
	return NULL;
}

static void make_value(const struct node *node, unsigned int depth, struct buffer *out)
{
	unsigned int types = node->declared;
	const struct node *branch = types == NODE_ANY ? find_branch(node) : NULL;

	if (depth > DEPTH_MAX || out->size > BYTES_MAX)
		buffer_append_string(out, "null");
	else if (make_given(node, out))
		return;
	else if (branch)
		make_value(branch, depth + 1, out);
	else if (types == NODE_ANY && describe_implied_types(node) != 0)
		make_typed(node, describe_implied_types(node), depth, out);
	else
		make_typed(node, types, depth, out);
}

int sample_write(const struct schema *schema, struct buffer *out, bool *ret_fits)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer value = {0};
	const struct node *node = describe_target(schema->root);
	int r = context ? 0 : -ENOMEM;

	if (node->object || node->declared == NODE_OBJECT)
		make_object(node->object, 0, &value);
	else if (schema->root->types & NODE_OBJECT && !find_branch(node))
		buffer_append_string(&value, "{}");
	else
		make_value(node, 0, &value);
	if (r == 0)
		r = buffer_status(&value);
	if (r == 0)
		r = json_tape_read(&tape, value.data, value.size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		return r;
	*ret_fits = r == 0 && schema_validate(schema, context, &tape, 0) == 0;
	buffer_append_buffer(out, &value);
	return buffer_status(out);
}
