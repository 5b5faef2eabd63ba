/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_schema.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "json/pointer.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/text.h"

/*
 *   $ref ─▶ its target ─┬─ not under way ──▶ written in place
 *                       └─ under way: it contains itself ──▶ noted as recursive; next pass:
 *                                                           {"$ref": "#/$defs/rN"}, and in "$defs" at the end
 *
 * A pass that has found a new recursive target is written again; so there are as many passes as there
 * are such targets at most, and PASSES_MAX.
 */

#define DEPTH_MAX      64   /* references in one another, and levels of a schema */
#define REFERENCES_MAX 1024 /* in one pass, as each is looked up */
#define RECURSIVE_MAX  32
#define PASSES_MAX     8
#define MERGED_MAX     64 /* members beside the reference of a root */

struct writer {
	const struct json_tape *tape;
	struct buffer *out;
	bool keeps;         /* references stay, and "$defs" with them */
	bool fails;         /* the written text is not used */
	bool has_siblings;  /* members beside "$ref" count: not in draft-07 */
	bool is_incomplete; /* a new recursive target was found */
	unsigned int n_references;
	unsigned int depth;
	uint32_t under_way[DEPTH_MAX]; /* the targets that are being written */
	unsigned int n_under_way;
	uint32_t recursive[RECURSIVE_MAX];
	unsigned int n_recursive;
};

/* The place of a member by its key. */
enum place {
	PLACE_VALUE,   /* a value that holds no schema */
	PLACE_SCHEMA,  /* a schema, or an array of them */
	PLACE_SCHEMAS, /* an object of schemas, by names */
};

static bool is_keyword(const struct json_tape *tape, uint32_t key, const char *const *names)
{
	for (; *names; names++)
		if (json_string_equals(tape, key, *names, strlen(*names)))
			return true;
	return false;
}

static enum place place_of(const struct json_tape *tape, uint32_t key)
{
	static const char *const schemas[] = {"properties", "patternProperties", "dependentSchemas",
		"$defs", "definitions", "dependencies", NULL};
	static const char *const schema[] = {"items", "prefixItems", "additionalItems", "contains",
		"additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"contentSchema", NULL};

	if (is_keyword(tape, key, schemas))
		return PLACE_SCHEMAS;
	return is_keyword(tape, key, schema) ? PLACE_SCHEMA : PLACE_VALUE;
}

/* ── references ──────────────────────────────────────────────────────────────────────────────── */

/* Return the token of the text of "$ref" in the schema at @schema, or JSON_NONE. */
static uint32_t find_reference(const struct json_tape *tape, uint32_t schema)
{
	uint32_t at = json_find(tape, schema, "$ref");

	return at != JSON_NONE && json_type_at(tape, at) == JSON_STRING ? at : JSON_NONE;
}

/* Decode the %XX of a URI's fragment in place. */
static void decode_percent(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (*from == '%' && isxdigit((unsigned char)from[1]) &&
			isxdigit((unsigned char)from[2])) {
			*to = (char)(text_hex_value(from[1]) * 16 + text_hex_value(from[2]));
			from += 3;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Find the target of the reference at @reference, a JSON Pointer as a fragment. */
static bool find_target(struct writer *writer, uint32_t reference, uint32_t *ret_target)
{
	cleanup_free char *text = json_string_dup(writer->tape, reference, NULL);

	if (++writer->n_references > REFERENCES_MAX)
		return false;
	if (!text) {
		writer->out->error = -ENOMEM;
		return false;
	}
	if (text[0] != '#' || (text[1] != '/' && text[1] != '\0'))
		return false;
	decode_percent(text);
	return json_pointer_find(writer->tape, text + 1, NULL, ret_target);
}

/* Return the number of @target among the recursive ones, from 1; 0: it is none. */
static unsigned int recursive_number(const struct writer *writer, uint32_t target)
{
	for (unsigned int i = 0; i < writer->n_recursive; i++)
		if (writer->recursive[i] == target)
			return i + 1;
	return 0;
}

static bool is_under_way(const struct writer *writer, uint32_t target)
{
	for (unsigned int i = 0; i < writer->n_under_way; i++)
		if (writer->under_way[i] == target)
			return true;
	return false;
}

/* ── schemas ─────────────────────────────────────────────────────────────────────────────────── */

static void write_schema(struct writer *writer, uint32_t schema);

static void begin_member(struct writer *writer, uint32_t key, bool *is_first)
{
	buffer_append_string(writer->out, *is_first ? "" : ",");
	*is_first = false;
	json_write_compact(writer->out, writer->tape, key);
	buffer_append_char(writer->out, ':');
}

static void write_named(struct writer *writer, uint32_t object)
{
	const struct json_tape *tape = writer->tape;
	bool is_first = true;

	buffer_append_char(writer->out, '{');
	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key)) {
		begin_member(writer, key, &is_first);
		write_schema(writer, key + 1);
	}
	buffer_append_char(writer->out, '}');
}

static void write_listed(struct writer *writer, uint32_t array)
{
	const struct json_tape *tape = writer->tape;

	buffer_append_char(writer->out, '[');
	for (uint32_t i = json_first(tape, array); i < json_end(tape, array);
		i = json_next(tape, i)) {
		buffer_append_string(writer->out, i == json_first(tape, array) ? "" : ",");
		write_schema(writer, i);
	}
	buffer_append_char(writer->out, ']');
}

/* Write the member whose key is at @key. */
static void write_kept_member(struct writer *writer, uint32_t key, bool *is_first)
{
	const struct json_tape *tape = writer->tape;
	enum place place = place_of(tape, key);
	enum json_type type = json_type_at(tape, key + 1);

	begin_member(writer, key, is_first);
	if (place == PLACE_SCHEMAS && type == JSON_OBJECT)
		write_named(writer, key + 1);
	else if (place == PLACE_SCHEMA && type == JSON_ARRAY)
		write_listed(writer, key + 1);
	else if (place == PLACE_SCHEMA)
		write_schema(writer, key + 1);
	else
		json_write_compact(writer->out, tape, key + 1);
}

/* Whether a reference depends on more than where its target is. */
static bool is_elsewhere(const struct json_tape *tape, uint32_t key)
{
	static const char *const names[] = {"$id", "$anchor", "$dynamicRef", "$dynamicAnchor",
		"$recursiveRef", "$recursiveAnchor", NULL};

	return is_keyword(tape, key, names) && json_type_at(tape, key + 1) == JSON_STRING;
}

/* Whether the key at @key is not written: the definitions, when none refers to them. */
static bool is_left_out(const struct writer *writer, uint32_t key)
{
	static const char *const names[] = {"$defs", "definitions", "$ref", "$schema", NULL};

	return !writer->keeps && is_keyword(writer->tape, key, names);
}

/* Whether the schema at @schema names "array" as the type of its value. */
static bool names_array(const struct json_tape *tape, uint32_t schema)
{
	uint32_t type = json_find(tape, schema, "type");

	if (type == JSON_NONE)
		return false;
	if (json_type_at(tape, type) != JSON_ARRAY)
		return json_string_equals(tape, type, "array", strlen("array"));
	for (uint32_t i = json_first(tape, type); i < json_end(tape, type); i = json_next(tape, i))
		if (json_string_equals(tape, i, "array", strlen("array")))
			return true;
	return false;
}

/* Write the "items" that the schema at @schema lacks, unless @others (or JSON_NONE) has them. */
static void write_absent_items(
	struct writer *writer, uint32_t schema, uint32_t others, bool *is_first)
{
	const struct json_tape *tape = writer->tape;

	if (writer->keeps || !names_array(tape, schema) ||
		json_find(tape, schema, "items") != JSON_NONE ||
		(others != JSON_NONE && json_find(tape, others, "items") != JSON_NONE))
		return;
	buffer_append_string(writer->out, *is_first ? "\"items\":{}" : ",\"items\":{}");
	*is_first = false;
}

/* Write the members of the schema at @object, but those that @others (or JSON_NONE) has. */
static void write_kept_members(
	struct writer *writer, uint32_t object, uint32_t others, bool *is_first)
{
	const struct json_tape *tape = writer->tape;

	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key)) {
		cleanup(buffer_deinit) struct buffer name = {0};

		if (!writer->keeps && is_elsewhere(tape, key))
			writer->fails = true;
		if (is_left_out(writer, key))
			continue;
		json_string_decode(tape, key, &name);
		if (others != JSON_NONE && json_find_sized(tape, others, name.data ? name.data : "",
						   name.size) != JSON_NONE)
			continue;
		write_kept_member(writer, key, is_first);
	}
	write_absent_items(writer, object, others, is_first);
}

/* Whether all members beside "$ref" are annotations, which may replace those of the target. */
static bool has_only_annotations(const struct json_tape *tape, uint32_t object)
{
	static const char *const names[] = {"$ref", "title", "description", "default", "examples",
		"deprecated", "readOnly", "writeOnly", "$comment", "$defs", "definitions",
		"$schema", NULL};

	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key))
		if (!is_keyword(tape, key, names))
			return false;
	return true;
}

/* Write the members of @schema, a reference to @target, with those of the target. */
static void write_both(struct writer *writer, uint32_t schema, uint32_t target, bool *is_first)
{
	const struct json_tape *tape = writer->tape;
	bool may_merge = !writer->has_siblings || has_only_annotations(tape, schema);
	uint32_t next = find_reference(tape, target);
	uint32_t further;

	if (writer->n_under_way == DEPTH_MAX || json_type_at(tape, target) != JSON_OBJECT ||
		!may_merge) {
		writer->fails = true;
		return;
	}
	if (writer->has_siblings)
		write_kept_members(writer, schema, JSON_NONE, is_first);
	writer->under_way[writer->n_under_way++] = target;
	if (next == JSON_NONE)
		write_kept_members(
			writer, target, writer->has_siblings ? schema : JSON_NONE, is_first);
	else if (has_only_annotations(tape, schema) && json_count(tape, schema) == 1 &&
		 find_target(writer, next, &further) && !is_under_way(writer, further))
		write_both(writer, target, further, is_first);
	else
		writer->fails = true;
	writer->n_under_way--;
}

/* Note that @target contains itself. */
static void note_recursive(struct writer *writer, uint32_t target)
{
	if (recursive_number(writer, target))
		return;
	if (writer->n_recursive == RECURSIVE_MAX) {
		writer->fails = true;
		return;
	}
	writer->recursive[writer->n_recursive++] = target;
	writer->is_incomplete = true;
}

/* Write the schema at @schema, which refers to another one by the text at @reference. */
static void write_reference(struct writer *writer, uint32_t schema, uint32_t reference)
{
	bool is_first = true;
	unsigned int number;
	uint32_t target;

	if (!find_target(writer, reference, &target)) {
		writer->fails = true;
		return;
	}
	if (is_under_way(writer, target))
		note_recursive(writer, target);
	number = recursive_number(writer, target);
	if (number) {
		buffer_printf(writer->out, "{\"$ref\":\"#/$defs/r%u\"", number);
		is_first = false;
		if (writer->has_siblings)
			write_kept_members(writer, schema, JSON_NONE, &is_first);
	} else {
		buffer_append_char(writer->out, '{');
		write_both(writer, schema, target, &is_first);
	}
	buffer_append_char(writer->out, '}');
}

static void write_schema(struct writer *writer, uint32_t schema)
{
	const struct json_tape *tape = writer->tape;
	uint32_t reference;
	bool is_first = true;

	if (writer->depth == DEPTH_MAX)
		writer->fails = true;
	if (writer->fails || buffer_status(writer->out) < 0)
		return;
	if (writer->keeps || json_type_at(tape, schema) != JSON_OBJECT) {
		json_write_compact(writer->out, tape, schema);
		return;
	}
	writer->depth++;
	reference = find_reference(tape, schema);
	if (reference != JSON_NONE) {
		write_reference(writer, schema, reference);
	} else {
		buffer_append_char(writer->out, '{');
		write_kept_members(writer, schema, JSON_NONE, &is_first);
		buffer_append_char(writer->out, '}');
	}
	writer->depth--;
}

/* ── the root ────────────────────────────────────────────────────────────────────────────────── */

/* Write the members of @object that a root may have, but those that @others has. */
static void write_root_members(
	struct writer *writer, uint32_t object, uint32_t others, bool *ret_has_properties)
{
	static const char *const forbidden[] = {"type", "oneOf", "anyOf", "allOf", "enum", "const",
		"not", "$ref", "if", "then", "else", "$schema", "$id", "$comment", NULL};
	const struct json_tape *tape = writer->tape;
	bool is_first = false;

	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key)) {
		cleanup(buffer_deinit) struct buffer name = {0};
		bool is_id = json_string_equals(tape, key, "$id", strlen("$id"));

		if (!writer->keeps && !is_id && is_elsewhere(tape, key))
			writer->fails = true;
		if (is_keyword(tape, key, forbidden) || is_left_out(writer, key))
			continue;
		json_string_decode(tape, key, &name);
		if (others != JSON_NONE && json_find_sized(tape, others, name.data ? name.data : "",
						   name.size) != JSON_NONE)
			continue;
		*ret_has_properties |=
			json_string_equals(tape, key, "properties", strlen("properties"));
		write_kept_member(writer, key, &is_first);
	}
}

/* Write the schemas that contain themselves. */
static void write_recursive(struct writer *writer)
{
	if (writer->n_recursive == 0)
		return;
	buffer_append_string(writer->out, ",\"$defs\":{");
	for (unsigned int i = 0; i < writer->n_recursive; i++) {
		buffer_printf(writer->out, "%s\"r%u\":", i > 0 ? "," : "", i + 1);
		writer->under_way[writer->n_under_way++] = writer->recursive[i];
		write_schema(writer, writer->recursive[i]);
		writer->n_under_way--;
	}
	buffer_append_char(writer->out, '}');
}

/* Write the root. A reference there is always replaced, once. */
static void write_root(struct writer *writer)
{
	const struct json_tape *tape = writer->tape;
	bool is_object = json_type_at(tape, 0) == JSON_OBJECT;
	bool is_merged = is_object && json_count(tape, 0) <= MERGED_MAX;
	uint32_t reference = is_merged ? find_reference(tape, 0) : JSON_NONE;
	uint32_t target = JSON_NONE;
	bool has_properties = false;

	buffer_append_string(writer->out, "{\"type\":\"object\"");
	if (is_object)
		write_root_members(writer, 0, JSON_NONE, &has_properties);
	if (reference != JSON_NONE && find_target(writer, reference, &target) && target != 0 &&
		json_type_at(tape, target) == JSON_OBJECT)
		write_root_members(writer, target, 0, &has_properties);
	if (!has_properties)
		buffer_append_string(writer->out, ",\"properties\":{}");
	if (!writer->keeps)
		write_recursive(writer);
	buffer_append_char(writer->out, '}');
}

/* Return whether references of this schema have members beside them that count. */
static bool has_siblings(const struct json_tape *tape)
{
	cleanup_free char *schema = NULL;
	uint32_t at =
		json_type_at(tape, 0) == JSON_OBJECT ? json_find(tape, 0, "$schema") : JSON_NONE;

	if (at != JSON_NONE && json_type_at(tape, at) == JSON_STRING)
		schema = json_string_dup(tape, at, NULL);
	return !schema || !strstr(schema, "draft-07");
}

/* Write the schema with its references replaced. Return whether it can be used. */
static bool write_inlined(const struct json_tape *tape, size_t size, struct buffer *ret_text)
{
	struct writer writer = {.tape = tape, .out = ret_text, .has_siblings = has_siblings(tape)};

	ret_text->limit = 3 * size + MODEL_SCHEMA_BYTES_ADDED;
	for (unsigned int pass = 0; pass < PASSES_MAX; pass++) {
		buffer_reset(ret_text);
		writer.is_incomplete = false;
		writer.n_references = 0;
		write_root(&writer);
		if (writer.fails || buffer_status(ret_text) < 0)
			return false;
		if (!writer.is_incomplete)
			return true;
	}
	return false;
}

void model_schema_write(const char *text, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer inlined = {0};
	size_t size = strlen(text);
	struct writer keeper = {.tape = &tape, .out = out, .keeps = true};

	if (json_tape_read(&tape, text, size, 2 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return;
	}
	if (size <= MODEL_SCHEMA_BYTES_MAX && write_inlined(&tape, size, &inlined))
		buffer_append(out, inlined.data, inlined.size);
	else if (inlined.error == -ENOMEM)
		out->error = -ENOMEM;
	else
		write_root(&keeper);
}
