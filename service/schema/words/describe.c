/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/describe.h"

#include <string.h>

#include "json/writer.h"
#include "schema/format/format.h"
#include "schema/source.h"
#include "util/array.h"
#include "util/text/utf8.h"

/* Schemas are described this deep: an array of arrays of something. */
#define DEPTH_MAX 4

/* A description of at least this many bytes gets no more parts. */
#define BYTES_MAX 600

/* A longer value is shown with its escapes. */
#define READABLE_BYTES_MAX 4096

/* Parameters that a summary lists. */
#define PARAMETERS_MAX 40

/* The most names in the description of an object. */
#define REQUIRED_MAX 4

/* The most alternatives in the description of a union. */
#define ALTERNATIVES_MAX 6

/* A list names more values than DESCRIBE_LIST_MAX as long as they take no more bytes. */
#define VALUES_BYTES 160

static void describe(const struct node *node, unsigned int depth, struct buffer *out);

/* Append text of unknown origin: cut, and without control characters. */
static void append_clean(struct buffer *out, const char *text, size_t size)
{
	size_t kept = utf8_prefix(text, size, DESCRIBE_POINTS_MAX);

	for (size_t i = 0; i < kept; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
			buffer_printf(out, "\\u%04x", (unsigned int)text[i]);
		else
			buffer_append_char(out, text[i]);
	}
	if (kept < size)
		buffer_append_string(out, "…");
}

void describe_name(const char *name, size_t size, struct buffer *out)
{
	buffer_append_char(out, '\'');
	append_clean(out, name, size);
	buffer_append_char(out, '\'');
}

void describe_text(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer readable = {0};
	size_t size;
	const char *text = json_value_text(tape, index, &size);
	size_t kept;

	if (size <= READABLE_BYTES_MAX && memchr(text, '\\', size)) {
		json_write_readable(&readable, text, size);
		buffer_fail_with(out, &readable);
		text = buffer_text(&readable);
		size = readable.size;
	}
	kept = utf8_prefix(text, size, DESCRIBE_POINTS_MAX);
	/* White space between tokens may be a line break; strings hold none. */
	for (size_t i = 0; i < kept; i++) {
		if ((unsigned char)text[i] < 0x20)
			buffer_append_char(out, ' ');
		else
			buffer_append_char(out, text[i]);
	}
	if (kept < size)
		buffer_append_string(out, json_type_at(tape, index) == JSON_STRING ? "…\"" : "…");
}

void describe_value(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	enum json_type type = json_type_at(tape, index);

	if (type == JSON_ARRAY && json_count(tape, index) == 0)
		buffer_append_string(out, "an empty array");
	else if (type == JSON_OBJECT && json_count(tape, index) == 0)
		buffer_append_string(out, "an empty object");
	else {
		if (type >= JSON_NUMBER)
			buffer_printf(out, "the %s ", json_type_name(type));
		describe_text(tape, index, out);
	}
}

void describe_values(const struct node *node, const struct node_values *values, struct buffer *out)
{
	const struct json_tape *tape = &node->source->tape;
	uint32_t count = values->is_constant ? 1 : json_count(tape, values->token);
	size_t start = out->size;
	uint32_t n = 0;

	if (values->is_constant) {
		describe_text(tape, values->token, out);
		return;
	}
	if (count != 1)
		buffer_append_string(out, count == 0 ? "one of no values" : "one of ");
	json_each(i, tape, values->token) {
		if (n >= DESCRIBE_LIST_MAX && out->size - start > VALUES_BYTES) {
			buffer_printf(out, ", … (%u in all)", count);
			return;
		}
		buffer_append_string(out, n++ > 0 ? ", " : "");
		describe_text(tape, i, out);
	}
}

static void append_bound(struct buffer *out, const char *words, const struct node_bound *bound)
{
	if (bound->text && bound->size <= DESCRIBE_POINTS_MAX)
		buffer_printf(out, " %s %.*s", words, (int)bound->size, bound->text);
}

static void describe_number(const struct node_number *number, struct buffer *out)
{
	const struct node_bound *bounds = number->bounds;

	if (bounds[NODE_MINIMUM].text && bounds[NODE_MAXIMUM].text) {
		append_bound(out, "from", &bounds[NODE_MINIMUM]);
		append_bound(out, "to", &bounds[NODE_MAXIMUM]);
	} else {
		append_bound(out, "of at least", &bounds[NODE_MINIMUM]);
		append_bound(out, "of at most", &bounds[NODE_MAXIMUM]);
	}
	append_bound(out, "greater than", &bounds[NODE_EXCLUSIVE_MINIMUM]);
	append_bound(out, "less than", &bounds[NODE_EXCLUSIVE_MAXIMUM]);
	append_bound(out, "that is a multiple of", &bounds[NODE_MULTIPLE_OF]);
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

/* " of 1 to 80 characters": a size between @min and @max of things called @noun. */
static void describe_size(
	const char *before, uint32_t min, uint32_t max, const char *noun, struct buffer *out)
{
	if (min > 0 && min == max)
		buffer_printf(out, " %s exactly %u %s%s", before, min, noun, plural(min));
	else if (min > 0 && max != NODE_UNBOUNDED)
		buffer_printf(out, " %s %u to %u %ss", before, min, max, noun);
	else if (min > 0)
		buffer_printf(out, " %s at least %u %s%s", before, min, noun, plural(min));
	else if (max != NODE_UNBOUNDED)
		buffer_printf(out, " %s at most %u %s%s", before, max, noun, plural(max));
}

/* Append the string member @key of the schema of @node, in quotes after @before. */
static bool append_annotation(
	const struct node *node, const char *key, const char *before, struct buffer *out)
{
	const struct json_tape *tape = &node->source->tape;
	uint32_t value = json_find(tape, node->token, key);

	if (value != JSON_NONE && json_type_at(tape, value) == JSON_ARRAY &&
		json_count(tape, value) > 0)
		value = json_first(tape, value);
	if (value == JSON_NONE || json_type_at(tape, value) != JSON_STRING)
		return false;
	buffer_append_string(out, before);
	describe_text(tape, value, out);
	return true;
}

bool describe_encoding(const struct node *node, const char *before, struct buffer *out)
{
	const struct json_tape *tape = &node->source->tape;
	cleanup(buffer_deinit) struct buffer name = {0};
	uint32_t encoding = json_type_at(tape, node->token) == JSON_OBJECT
				    ? json_find(tape, node->token, "contentEncoding")
				    : JSON_NONE;

	if (encoding == JSON_NONE || json_type_at(tape, encoding) != JSON_STRING)
		return false;
	json_string_decode(tape, encoding, &name);
	buffer_fail_with(out, &name);
	buffer_append_string(out, before);
	append_clean(out, buffer_text(&name), name.size);
	return true;
}

static void describe_string(const struct node *node, struct buffer *out)
{
	const struct node_string *string = node->string;
	const struct json_tape *tape = &node->source->tape;

	if (string)
		describe_size("of", string->length_min, string->length_max, "character", out);
	if (string && string->format)
		buffer_printf(out, " that is a %s such as %s", string->format->name,
			string->format->example);
	describe_encoding(node, " in ", out);
	if (!string)
		return;
	if (string->media)
		buffer_printf(out, " that holds %s", string->media->name);
	if (!string->pattern)
		return;
	{
		cleanup(buffer_deinit) struct buffer pattern = {0};
		uint32_t token = json_find(tape, node->token, "pattern");

		json_string_decode(tape, token, &pattern);
		buffer_fail_with(out, &pattern);
		buffer_append_string(out, " that matches ");
		append_clean(out, buffer_text(&pattern), pattern.size);
	}
	if (!append_annotation(node, "examples", ", for example ", out))
		append_annotation(node, "description", ": ", out);
}

static void describe_array(const struct node_array *array, unsigned int depth, struct buffer *out)
{
	describe_size("of", array->items_min, array->items_max, "element", out);
	if (array->is_unique)
		buffer_append_string(out, " that differ");
	if (array->items && array->n_prefix == 0 && array->items->types != NODE_ANY &&
		depth < DEPTH_MAX) {
		buffer_append_string(out, ", each ");
		describe(array->items, depth + 1, out);
	}
}

/* Describe an object by its distinguishing constants and its required names. */
static void describe_object(
	const struct node_object *object, unsigned int depth, struct buffer *out)
{
	const char *before = " with ";
	uint32_t n_listed = 0;

	describe_size("of", object->members_min, object->members_max, "member", out);
	for (uint32_t i = 0; i < object->names.count && n_listed < REQUIRED_MAX; i++) {
		const struct node *node = object->properties[i].node;
		const struct key *key = &object->names.keys[i];
		bool is_constant = node && node->values && node->values->is_constant;

		if (!is_constant && !object->properties[i].is_required)
			continue;
		buffer_append_string(out, before);
		describe_name(key->bytes, key->length, out);
		if (is_constant && depth < DEPTH_MAX) {
			buffer_append_char(out, ' ');
			describe_values(node, node->values, out);
		}
		before = ", ";
		n_listed++;
	}
}

/* Append the branches joined by @word; equal texts once. */
static void describe_branches(const struct node_applicator *applicator, const char *word,
	unsigned int depth, struct buffer *out)
{
	uint32_t n_listed = 0;

	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		if (n_listed == ALTERNATIVES_MAX || out->size > BYTES_MAX) {
			buffer_printf(out, "%s…", word);
			return;
		}
		describe(applicator->nodes[i], depth + 1, &text);
		buffer_fail_with(out, &text);
		if (text.size > 0 && out->size >= text.size &&
			memmem(out->data, out->size, text.data, text.size))
			continue;
		buffer_append_string(out, n_listed++ > 0 ? word : "");
		buffer_append(out, text.data, text.size);
	}
}

/* Describe the applicators of @node with an expected value, and return whether there are any. */
static bool describe_applicators(const struct node *node, unsigned int depth, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (const struct node_applicator *a = node->applicators; a; a = a->next) {
		buffer_reset(&text);
		switch (a->kind) {
		case NODE_REF:
			describe(a->nodes[0], depth + 1, &text);
			break;
		case NODE_ALL_OF:
			describe_branches(a, " and ", depth, &text);
			break;
		case NODE_ANY_OF:
		case NODE_ONE_OF:
			describe_branches(a, " or ", depth, &text);
			break;
		case NODE_DYNAMIC_REF:
		case NODE_NOT:
		case NODE_IF:
			break;
		}
		buffer_append_buffer(out, &text);
		if (text.size > 0)
			return true;
	}
	return false;
}

static const struct {
	unsigned int types;
	const char *name;
} type_names[] = {
	{NODE_NUMBER, "a number"},
	{NODE_INTEGER, "an integer"},
	{NODE_STRING, "a string"},
	{NODE_BOOLEAN, "a boolean"},
	{NODE_TRUE, "true"},
	{NODE_FALSE, "false"},
	{NODE_ARRAY, "an array"},
	{NODE_OBJECT, "an object"},
	{NODE_NULL, "null"},
};

/* Append the types of @types, each with its section of @node. */
static void describe_types(
	const struct node *node, unsigned int types, unsigned int depth, struct buffer *out)
{
	const char *before = "";

	for (size_t i = 0; i < ARRAY_SIZE(type_names); i++) {
		unsigned int type = type_names[i].types;

		if ((types & type) != type)
			continue;
		types &= ~type;
		buffer_append_string(out, before);
		buffer_append_string(out, type_names[i].name);
		before = " or ";
		if (type & NODE_NUMBER && node->number)
			describe_number(node->number, out);
		if (type == NODE_STRING)
			describe_string(node, out);
		if (type == NODE_ARRAY && node->array)
			describe_array(node->array, depth, out);
		if (type == NODE_OBJECT && node->object)
			describe_object(node->object, depth, out);
	}
}

unsigned int describe_implied_types(const struct node *node)
{
	return (node->number ? (unsigned int)NODE_NUMBER : 0u) |
	       (node->string ? (unsigned int)NODE_STRING : 0u) |
	       (node->array ? (unsigned int)NODE_ARRAY : 0u) |
	       (node->object ? (unsigned int)NODE_OBJECT : 0u);
}

static void describe(const struct node *node, unsigned int depth, struct buffer *out)
{
	unsigned int types = node->declared;

	if (depth > DEPTH_MAX || out->size > BYTES_MAX) {
		buffer_append_string(out, "…");
		return;
	}
	if (node->values) {
		describe_values(node, node->values, out);
		return;
	}
	if (types == NODE_ANY && describe_applicators(node, depth, out))
		return;
	if (types == NODE_ANY)
		types = describe_implied_types(node);
	if (types == 0)
		buffer_append_string(out, node->declared == 0 ? "absent" : "anything");
	describe_types(node, types, depth, out);
}

void describe_node(const struct node *node, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	describe(node, 0, &text);
	buffer_append_buffer(out, &text);
}

const struct node *describe_target(const struct node *node)
{
	for (int hops = 0; hops < SCHEMA_DEPTH_MAX; hops++) {
		if (node->object || !node->applicators || node->applicators->kind != NODE_REF)
			break;
		node = node->applicators->nodes[0];
	}
	return node;
}

void describe_members(const struct node *node, struct buffer *out)
{
	const struct node_object *object = describe_target(node)->object;
	uint32_t count = object ? object->names.count : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct node_property *property = &object->properties[i];
		const struct key *key = &object->names.keys[i];

		buffer_append_string(out, i > 0 ? "; " : "");
		if (i == PARAMETERS_MAX) {
			buffer_printf(out, "… (%u in all)", count);
			return;
		}
		append_clean(out, key->bytes, key->length);
		buffer_append_string(out, " (");
		if (property->node && !describe_takes_all(property->node)) {
			describe_node(property->node, out);
			buffer_append_string(out, ", ");
		}
		buffer_append_string(out, property->is_required ? "required)" : "optional)");
	}
}

void describe_alternatives(const struct node_applicator *applicator, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	describe_branches(applicator, " or ", 0, &text);
	buffer_append_buffer(out, &text);
}
