/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "json/pointer.h"
#include "schema/words/describe.h"
#include "schema/rewrite.h"
#include "schema/validate.h"
#include "util/array.h"

/*
 * Replace strings by the values they hold: many callers quote every value, and a model cannot
 * correct its serializer.
 *
 *   "25", "2.50"         ──▶ 25, 2.50      where a number is taken (an integer only if whole)
 *   "true", "false"      ──▶ true, false   where a boolean is
 *   "True", "None"       ──▶ true, null   as Python writes them
 *   "{\"a\": 1}", "[1]"  ──▶ {"a": 1}, [1] where an object or an array is
 *   null, "null"         ──▶ absent       where null is not taken, and the member is optional
 *   "twenty one"         ──▶ 21           where the caller reads the words of a person
 *
 * A value is replaced only when no applicable schema accepts its type, and no other values are:
 * "yes" is not true, and no value becomes a string. A branch of anyOf and oneOf applies if no other
 * branch accepts the type of the value.
 */
struct coercion {
	struct rewrite rewrite; /* first, so the other two follow */
	uint32_t root;
	bool is_inside; /* a string of JSON: the changes inside are not reported */
	const struct schema_words *words; /* or NULL */
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

/* Report that the value at @index was taken as @what. */
static void add_change(struct coercion *coercion, uint32_t index, const char *what)
{
	const struct json_tape *tape = coercion->rewrite.context->tape;
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	size_t skipped;

	if (coercion->is_inside || buffer_status(coercion->rewrite.out) < 0)
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
	buffer_printf(&message, " was taken as %s", what);
	if (!buffer_terminate(&path) || !buffer_terminate(&message) ||
		schema_report_add(coercion->changes, path.data + skipped, message.data) < 0)
		coercion->rewrite.error = -ENOMEM;
}

/* Coerce and write the container in the text at @inner. */
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

/* Replace a word of Python in @text by its value. */
static void replace_python(struct buffer *text)
{
	static const char *const words[][2] = {
		{"True", "true"}, {"False", "false"}, {"None", "null"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (buffer_is(text, words[i][0])) {
			buffer_reset(text);
			buffer_append_string(text, words[i][1]);
		}
}

/* Replace the words of a person in @text by their value. */
static void replace_words(const struct schema_words *words, struct buffer *text)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	if (text->size == 0 || !words->read(words->data, text->data, text->size, &value))
		return;
	buffer_reset(text);
	buffer_append_buffer(text, &value);
}

/* Read the string at @index as a JSON value, or a word, into @inner, with @text as memory. Return
 * whether the string is a value. */
static bool read_held(
	struct coercion *coercion, uint32_t index, struct buffer *text, struct json_tape *inner)
{
	struct rewrite *rewrite = &coercion->rewrite;
	int r;

	json_string_decode(rewrite->context->tape, index, text);
	replace_python(text);
	if (coercion->words)
		replace_words(coercion->words, text);
	r = buffer_status(text);
	if (r == 0 && text->size > 0)
		r = json_tape_read(inner, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		rewrite->error = r;
	return r == 0 && text->size > 0;
}

/* Return whether a schema declares the replaced member by its name, and no schema of the object
 * requires it. A map declares no names: there null may be a value. */
static bool is_optional(struct rewrite *rewrite, struct rewrite_set set)
{
	bool is_declared = false;

	if (rewrite->key == 0 || set.count == 0)
		return false;
	for (uint32_t i = 0; i < rewrite->parent.count; i++) {
		const struct node_object *object =
			rewrite->nodes[rewrite->parent.first + i]->object;
		uint32_t place =
			object ? context_find_key(rewrite->context, &object->names, rewrite->key, 0)
			       : KEY_NONE;

		if (place != KEY_NONE && object->properties[place].is_required)
			return false;
		is_declared |= place != KEY_NONE;
	}
	return is_declared;
}

/* Take a null as absent where no schema accepts null. */
static bool drop_null(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	if (!is_optional(rewrite, set))
		return false;
	rewrite->is_dropped = true;
	add_change((struct coercion *)rewrite, index, "absent");
	return true;
}

static void write_held(struct coercion *coercion, const struct json_tape *inner, uint32_t index,
	struct rewrite_set set)
{
	static const char *const names[] = {"null", "the boolean it holds", "the boolean it holds",
		"the number it holds", "", "the array it holds", "the object it holds"};

	if (json_type_at(inner, 0) >= JSON_ARRAY)
		write_inner(coercion, inner, set);
	else
		buffer_append(
			coercion->rewrite.out, json_bytes(inner, 0), json_at(inner, 0)->length);
	add_change(coercion, index, names[json_type_at(inner, 0)]);
}

static bool replace(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	struct coercion *coercion = (struct coercion *)rewrite;
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape inner = {0};
	enum json_type type = json_type_at(rewrite->context->tape, index);
	unsigned int types = set.count > 0 ? NODE_ANY : NODE_STRING;

	for (uint32_t i = 0; i < set.count; i++)
		types &= rewrite->nodes[set.first + i]->types;
	if (type == JSON_NULL && !(types & NODE_NULL))
		return drop_null(rewrite, index, set);
	if (type != JSON_STRING || types & NODE_STRING)
		return false;
	if (!context_spend_bytes(rewrite->context, index) ||
		!read_held(coercion, index, &text, &inner))
		return false;
	if (json_type_at(&inner, 0) == JSON_NULL && !(types & NODE_NULL))
		return drop_null(rewrite, index, set);
	if (!(types & node_type_of(&inner, 0, types)))
		return false;
	write_held(coercion, &inner, index, set);
	return true;
}

int schema_coerce(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, const struct schema_words *words,
	struct buffer *out, struct schema_report *ret_changes)
{
	struct coercion coercion = {
		.rewrite = {.context = context, .out = out, .applies = applies, .replace = replace},
		.root = value,
		.words = words,
		.changes = ret_changes};

	context_follow(context, schema, tape);
	rewrite_value(&coercion.rewrite, schema->root, value);
	return rewrite_end(&coercion.rewrite);
}
