/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/portable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "schema/compile/library.h"
#include "schema/compile/reference.h"
#include "util/array.h"

/*
 *   $ref ─▶ its target ─┬─ not under way ──▶ written in place
 *                       └─ under way: it contains itself ──▶ gets a number; next pass:
 *                                                            {"$ref": "#/$defs/rN"},
 *                                                            and a definition rN
 *
 * A pass with a new target which contains itself is written again; so there are as many passes as
 * there are such targets at most, and PASSES_MAX. Such a schema has a number for every target: this
 * takes one pass, and about the bytes of the schema.
 */

#define DEPTH_MAX      64   /* references in one another, and levels of a schema, when inlined */
#define REFERENCES_MAX 1024 /* in one inlining pass */
#define RECURSIVE_MAX  32
#define PASSES_MAX     8
#define LEVELS_MAX     1024 /* levels of a schema in any case */

const struct portable_names portable_own_names = {"#/$defs/", "r"};

struct writer {
	struct library *library;
	struct source *source;
	const struct json_tape *tape;
	const struct portable_names *names;
	struct buffer *out;
	bool shares;        /* every target of a reference is a definition */
	bool fails;         /* the written text is not used */
	bool is_other;      /* a schema is no object, or of another draft */
	bool is_incomplete; /* a new recursive target was found */
	unsigned int n_references;
	unsigned int depth;
	struct place under_way[DEPTH_MAX]; /* the targets under way */
	unsigned int n_under_way;
	uint32_t *numbers;     /* by token: the number of its definition, from 1; 0: no
	                        * definition */
	struct place *defined; /* the definitions in the order of their numbers */
	uint32_t n_defined;
};

static void write_schema(struct writer *writer, struct place place);

static struct place child_of(const struct writer *writer, const struct place *place, uint32_t token)
{
	uint32_t resource = writer->source->resources[token];

	return (struct place){
		writer->source, token, resource != 0 ? resource - 1 : place->resource};
}

static const struct dialect *dialect_of(const struct writer *writer, const struct place *place)
{
	return &writer->library->resources[place->resource].dialect;
}

static void begin_copied_member(struct writer *writer, uint32_t key)
{
	json_write_comma(writer->out);
	json_write_compact(writer->out, writer->tape, key);
	buffer_append_char(writer->out, ':');
}

/* ── references ──────────────────────────────────────────────────────────────────────────────── */

/* Return the token of the reference's text in the object at @schema, or JSON_NONE. */
static uint32_t find_reference(const struct writer *writer, const struct place *schema)
{
	uint32_t at = json_find(writer->tape, schema->token, "$ref");

	if (at == JSON_NONE && dialect_of(writer, schema)->draft != DRAFT_07)
		at = json_find(writer->tape, schema->token, "$dynamicRef");
	return at != JSON_NONE && json_type_at(writer->tape, at) == JSON_STRING ? at : JSON_NONE;
}

/* Find the target of the reference at @reference in @schema. False: it is not in this schema. */
static bool find_target(struct writer *writer, const struct place *schema, uint32_t reference,
	struct place *ret_target)
{
	int r = reference_resolve(
		writer->library, schema->resource, writer->source, reference, ret_target, NULL);

	if (r == -ENOMEM)
		writer->out->error = -ENOMEM;
	if (++writer->n_references > REFERENCES_MAX && !writer->shares)
		writer->fails = true;
	return r == 0 && ret_target->source == writer->source;
}

static bool is_under_way(const struct writer *writer, uint32_t token)
{
	for (unsigned int i = 0; i < writer->n_under_way; i++)
		if (writer->under_way[i].token == token)
			return true;
	return false;
}

/* Give @target a definition, unless it has one. */
static void define(struct writer *writer, const struct place *target)
{
	if (writer->numbers[target->token] != 0)
		return;
	if (!writer->shares && writer->n_defined == RECURSIVE_MAX) {
		writer->fails = true;
		return;
	}
	if (array_grow(writer->defined, writer->n_defined) < 0) {
		writer->out->error = -ENOMEM;
		return;
	}
	writer->defined[writer->n_defined] = *target;
	writer->numbers[target->token] = ++writer->n_defined;
	writer->is_incomplete = true;
}

/* Write the schema at @target, marked as under way meanwhile. */
static void write_target(struct writer *writer, const struct place *target)
{
	if (writer->shares) {
		write_schema(writer, *target);
		return;
	}
	if (writer->n_under_way == DEPTH_MAX) {
		writer->fails = true;
		return;
	}
	writer->under_way[writer->n_under_way++] = *target;
	write_schema(writer, *target);
	writer->n_under_way--;
}

/* ── keywords ────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the key at @key, no keyword of @dialect, is not written. */
static bool is_unknown_left_out(
	const struct writer *writer, uint32_t key, const struct dialect *dialect)
{
	static const char *const annotations[] = {"default", "examples", "example", NULL};
	const struct dialect other = {dialect->draft == DRAFT_07 ? DRAFT_2020_12 : DRAFT_07, 0};

	if (json_word_at(writer->tape, key, annotations) >= 0)
		return false;
	return json_type_at(writer->tape, key + 1) >= JSON_ARRAY ||
	       json_is_text(writer->tape, key, "id") ||
	       (*json_bytes(writer->tape, key) == '$' &&
		       !json_is_text(writer->tape, key, "$comment")) ||
	       keyword_find(writer->tape, key, &other) != KEYWORD_NONE;
}

/* Return whether the @keyword is a reference, or only helps references. */
static bool is_for_references(enum keyword keyword)
{
	return keyword == KEYWORD_REF || keyword == KEYWORD_DYNAMIC_REF || keyword == KEYWORD_ID ||
	       keyword == KEYWORD_ANCHOR || keyword == KEYWORD_DYNAMIC_ANCHOR ||
	       keyword == KEYWORD_SCHEMA || keyword == KEYWORD_VOCABULARY ||
	       keyword == KEYWORD_DEFS || keyword == KEYWORD_DEFINITIONS;
}

/* Return whether a boolean is as common as a value of @keyword as a schema. */
static bool may_be_boolean(enum keyword keyword)
{
	return keyword == KEYWORD_ADDITIONAL_PROPERTIES ||
	       keyword == KEYWORD_UNEVALUATED_PROPERTIES || keyword == KEYWORD_UNEVALUATED_ITEMS;
}

/* Return whether the enum of the schema at @schema has no value. */
static bool has_empty_enum(const struct writer *writer, uint32_t schema)
{
	uint32_t values = json_find_typed_at(writer->tape, schema, "enum", JSON_ARRAY);

	return values != JSON_NONE && json_count(writer->tape, values) == 0;
}

/* Return whether the schema at @schema names "array" as the type of its value. */
static bool names_array(const struct json_tape *tape, uint32_t schema)
{
	uint32_t type = json_find(tape, schema, "type");

	return json_has_text(tape, type, "array");
}

/* ── members ─────────────────────────────────────────────────────────────────────────────────── */

static void write_list(struct writer *writer, const struct place *schema, uint32_t array)
{
	const struct json_tape *tape = writer->tape;

	buffer_append_char(writer->out, '[');
	json_each(i, tape, array) {
		buffer_append_string(writer->out, i == json_first(tape, array) ? "" : ",");
		write_schema(writer, child_of(writer, schema, i));
	}
	buffer_append_char(writer->out, ']');
}

static void write_map(struct writer *writer, const struct place *schema, uint32_t object)
{
	const struct json_tape *tape = writer->tape;

	buffer_append_char(writer->out, '{');
	json_each_key(key, tape, object) {
		begin_copied_member(writer, key);
		write_schema(writer, child_of(writer, schema, key + 1));
	}
	buffer_append_char(writer->out, '}');
}

/* Write the array at @items, the schemas of the first elements, and the schema of all further
 * elements. */
static void write_prefix(struct writer *writer, const struct place *schema, uint32_t items)
{
	uint32_t others = json_find(writer->tape, schema->token, "additionalItems");

	if (json_count(writer->tape, items) > 0) {
		json_write_member(writer->out, "prefixItems");
		write_list(writer, schema, items);
	}
	json_write_member(writer->out, "items");
	if (others != JSON_NONE)
		write_schema(writer, child_of(writer, schema, others));
	else
		buffer_append_string(writer->out, "{}");
}

/* Write the dependencies at @object with arrays, or with schemas, as the member @name, unless the
 * schema has such a member. */
static void write_dependencies_of(
	struct writer *writer, const struct place *schema, uint32_t object, bool are_arrays)
{
	const struct json_tape *tape = writer->tape;
	const char *name = are_arrays ? "dependentRequired" : "dependentSchemas";
	bool is_begun = false;

	if (dialect_of(writer, schema)->draft != DRAFT_07 &&
		json_find(tape, schema->token, name) != JSON_NONE)
		return;
	json_each_key(key, tape, object) {
		if ((json_type_at(tape, key + 1) == JSON_ARRAY) != are_arrays)
			continue;
		if (!is_begun) {
			json_write_member(writer->out, name);
			buffer_append_char(writer->out, '{');
		}
		is_begun = true;
		begin_copied_member(writer, key);
		if (are_arrays)
			json_write_compact(writer->out, tape, key + 1);
		else
			write_schema(writer, child_of(writer, schema, key + 1));
	}
	buffer_append_string(writer->out, is_begun ? "}" : "");
}

/* Write the member of @keyword, whose value is or has schemas. */
static void write_keyword(
	struct writer *writer, const struct place *schema, enum keyword keyword, uint32_t key)
{
	enum json_type type = json_type_at(writer->tape, key + 1);
	enum keyword_shape shape = (enum keyword_shape)keyword_info(keyword)->shape;

	if (keyword == KEYWORD_ITEMS && type == JSON_ARRAY) {
		write_prefix(writer, schema, key + 1);
		return;
	}
	if (keyword == KEYWORD_DEPENDENCIES) {
		write_dependencies_of(writer, schema, key + 1, true);
		write_dependencies_of(writer, schema, key + 1, false);
		return;
	}
	begin_copied_member(writer, key);
	if (shape == SHAPE_MAP && type == JSON_OBJECT)
		write_map(writer, schema, key + 1);
	else if (shape == SHAPE_LIST && type == JSON_ARRAY)
		write_list(writer, schema, key + 1);
	else if (shape != SHAPE_NONE && !(may_be_boolean(keyword) && type < JSON_ARRAY))
		write_schema(writer, child_of(writer, schema, key + 1));
	else
		json_write_compact(writer->out, writer->tape, key + 1);
}

/* Write the member at @key of the object at @schema, unless the portable form leaves it out. */
static void write_portable_member(struct writer *writer, const struct place *schema, uint32_t key)
{
	const struct dialect *dialect = dialect_of(writer, schema);
	enum keyword keyword = keyword_find(writer->tape, key, dialect);

	if (keyword == KEYWORD_NONE) {
		if (is_unknown_left_out(writer, key, dialect))
			return;
		json_write_member_copy(writer->out, writer->tape, key);
		return;
	}
	if (is_for_references(keyword) || keyword == KEYWORD_ADDITIONAL_ITEMS ||
		(keyword == KEYWORD_NOT && has_empty_enum(writer, schema->token)))
		return;
	if (keyword == KEYWORD_ENUM && has_empty_enum(writer, schema->token)) {
		json_write_member(writer->out, "not");
		buffer_append_string(writer->out, "{}");
		return;
	}
	write_keyword(writer, schema, keyword, key);
}

/* Write the members of the object at @schema, but `allOf` if @has_all, and no member with a key of
 * the object at @others (or JSON_NONE). */
static void write_members(
	struct writer *writer, const struct place *schema, uint32_t others, bool has_all)
{
	const struct json_tape *tape = writer->tape;
	bool has_items = json_find(tape, schema->token, "items") != JSON_NONE;

	json_each_key(key, tape, schema->token) {
		cleanup(buffer_deinit) struct buffer name = {0};

		if (has_all && json_is_text(writer->tape, key, "allOf"))
			continue;
		if (others != JSON_NONE) {
			json_string_decode(tape, key, &name);
			if (json_find_sized(tape, others, buffer_text(&name), name.size) !=
				JSON_NONE)
				continue;
		}
		write_portable_member(writer, schema, key);
	}
	if (!has_items && names_array(tape, schema->token)) {
		json_write_member(writer->out, "items");
		buffer_append_string(writer->out, "{}");
	}
}

/* ── schemas ─────────────────────────────────────────────────────────────────────────────────── */

/* The members beside a reference. */
enum siblings {
	SIBLINGS_NONE,        /* or they do not count, as in draft-07 */
	SIBLINGS_ANNOTATIONS, /* they may replace annotations of the target */
	SIBLINGS_ANY,
};

static enum siblings find_siblings(const struct writer *writer, const struct place *schema)
{
	static const char *const names[] = {"title", "description", "default", "examples",
		"deprecated", "readOnly", "writeOnly", "$comment", NULL};
	const struct json_tape *tape = writer->tape;
	const struct dialect *dialect = dialect_of(writer, schema);
	enum siblings found = SIBLINGS_NONE;

	if (dialect->draft == DRAFT_07)
		return SIBLINGS_NONE;
	json_each_key(key, tape, schema->token) {
		enum keyword keyword = keyword_find(tape, key, dialect);

		if (json_word_at(writer->tape, key, names) >= 0)
			found = found == SIBLINGS_ANY ? SIBLINGS_ANY : SIBLINGS_ANNOTATIONS;
		else if (keyword == KEYWORD_NONE ? !is_unknown_left_out(writer, key, dialect)
						 : !is_for_references(keyword))
			found = SIBLINGS_ANY;
	}
	return found;
}

/* Write the members of @schema with its target @target as an additional schema of `allOf`. */
static void write_with_all(
	struct writer *writer, const struct place *schema, const struct place *target)
{
	const struct json_tape *tape = writer->tape;
	uint32_t all = json_find_typed_at(tape, schema->token, "allOf", JSON_ARRAY);

	buffer_append_char(writer->out, '{');
	write_members(writer, schema, JSON_NONE, true);
	json_write_member(writer->out, "allOf");
	buffer_append_char(writer->out, '[');
	json_each_found(i, tape, all) {
		write_schema(writer, child_of(writer, schema, i));
		buffer_append_char(writer->out, ',');
	}
	write_target(writer, target);
	buffer_append_string(writer->out, "]}");
}

/* Write the members of @schema, annotations, and the members of @target not replaced by them. */
static void write_merged(
	struct writer *writer, const struct place *schema, const struct place *target)
{
	if (writer->n_under_way == DEPTH_MAX) {
		writer->fails = true;
		return;
	}
	buffer_append_char(writer->out, '{');
	write_members(writer, schema, JSON_NONE, false);
	writer->under_way[writer->n_under_way++] = *target;
	write_members(writer, target, schema->token, false);
	writer->n_under_way--;
	buffer_append_char(writer->out, '}');
}

/* Write the object at @schema without its reference; with a reference to the definition @number,
 * unless @number is 0. */
static void write_portable_object(
	struct writer *writer, const struct place *schema, uint32_t number)
{
	buffer_append_char(writer->out, '{');
	if (number != 0) {
		json_write_member(writer->out, "$ref");
		buffer_printf(writer->out, "\"%s%s%u\"", writer->names->base, writer->names->name,
			number);
	}
	if (number == 0 || find_siblings(writer, schema) != SIBLINGS_NONE)
		write_members(writer, schema, JSON_NONE, false);
	buffer_append_char(writer->out, '}');
}

/* Write the schema at @schema, which refers to another one by the text at @reference. */
static void write_reference(struct writer *writer, const struct place *schema, uint32_t reference)
{
	enum siblings siblings = find_siblings(writer, schema);
	struct place target;

	if (!find_target(writer, schema, reference, &target)) {
		if (siblings == SIBLINGS_NONE)
			buffer_append_string(writer->out, "{}");
		else
			write_portable_object(writer, schema, 0);
		return;
	}
	if (writer->shares || is_under_way(writer, target.token))
		define(writer, &target);
	if (writer->numbers[target.token] != 0)
		write_portable_object(writer, schema, writer->numbers[target.token]);
	else if (siblings == SIBLINGS_NONE)
		write_target(writer, &target);
	else if (siblings == SIBLINGS_ANNOTATIONS &&
		 json_type_at(writer->tape, target.token) == JSON_OBJECT &&
		 find_reference(writer, &target) == JSON_NONE)
		write_merged(writer, schema, &target);
	else
		write_with_all(writer, schema, &target);
}

static void write_schema(struct writer *writer, struct place place)
{
	enum json_type type = json_type_at(writer->tape, place.token);
	uint32_t reference;

	if (type != JSON_OBJECT || dialect_of(writer, &place)->draft == DRAFT_07)
		writer->is_other = true;
	if (type != JSON_OBJECT) {
		buffer_append_string(writer->out, type == JSON_FALSE ? "{\"not\":{}}" : "{}");
		return;
	}
	if (writer->depth == (writer->shares ? LEVELS_MAX : DEPTH_MAX))
		writer->fails = true;
	if (writer->fails || buffer_status(writer->out) < 0) {
		buffer_append_string(writer->out, "{}");
		return;
	}
	writer->depth++;
	reference = find_reference(writer, &place);
	if (reference != JSON_NONE)
		write_reference(writer, &place, reference);
	else
		write_portable_object(writer, &place, 0);
	writer->depth--;
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Write the definitions; they may add to their number. */
static void write_definitions(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->n_defined && !writer->fails; i++) {
		buffer_printf(
			writer->out, "%s\"%s%u\":", i > 0 ? "," : "", writer->names->name, i + 1);
		write_target(writer, &writer->defined[i]);
	}
}

/* Write everything once. Return whether the text can be used. */
static bool write_once(struct writer *writer, const struct place *root, struct buffer *out,
	struct buffer *definitions)
{
	buffer_reset(out);
	buffer_reset(definitions);
	writer->is_incomplete = false;
	writer->n_references = 0;
	writer->out = out;
	write_target(writer, root);
	writer->out = definitions;
	write_definitions(writer);
	return !writer->fails && buffer_status(out) == 0 && buffer_status(definitions) == 0;
}

/* Write the schema with its references replaced. Return whether it can be used. */
static bool write_inlined(struct writer *writer, const struct place *root, struct buffer *out,
	struct buffer *definitions)
{
	size_t size = writer->tape->size;

	if (size > PORTABLE_BYTES_MAX)
		return false;
	out->limit = definitions->limit = 3 * size + PORTABLE_BYTES_ADDED;
	for (unsigned int pass = 0; pass < PASSES_MAX; pass++) {
		if (!write_once(writer, root, out, definitions))
			return false;
		if (!writer->is_incomplete)
			return true;
	}
	return false;
}

/* Write the schema with every target of a reference as a definition. */
static void write_shared(struct writer *writer, const struct place *root, struct buffer *out,
	struct buffer *definitions)
{
	memset(writer->numbers, 0, writer->tape->count * sizeof(*writer->numbers));
	writer->n_defined = writer->depth = writer->n_under_way = 0;
	writer->fails = false;
	writer->shares = true;
	out->limit = definitions->limit = 0;
	write_once(writer, root, out, definitions);
}

/* Write the schema at @root. Return as portable_write(). */
static bool write_whole_schema(struct library *library, const struct place *root,
	const struct portable_names *names, struct buffer *out, struct buffer *definitions)
{
	const struct json_tape *tape = &root->source->tape;
	cleanup_free uint32_t *numbers = calloc(tape->count, sizeof(*numbers));
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer defined = {0};
	struct writer writer = {.library = library,
		.source = root->source,
		.tape = tape,
		.names = names,
		.numbers = numbers};

	if (!numbers) {
		out->error = -ENOMEM;
		return false;
	}
	if (!write_inlined(&writer, root, &text, &defined) && text.error != -ENOMEM &&
		defined.error != -ENOMEM)
		write_shared(&writer, root, &text, &defined);
	free(writer.defined);
	buffer_append_buffer(out, &text);
	buffer_append_buffer(definitions, &defined);
	return !writer.is_other;
}

bool portable_write(const char *text, const struct portable_names *names, struct buffer *out,
	struct buffer *definitions)
{
	static const struct schema_options options;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct arena arena = {0};
	struct library library = {.arena = &arena,
		.options = &options,
		.error = &error,
		.dialect = {DRAFT_2020_12, VOCABULARY_ALL}};
	struct place root;
	bool is_plain = false;
	int r = json_tape_read(&tape, text, strlen(text), 2 * JSON_DEPTH_DEFAULT, NULL);

	r = r ? r : library_add(&library, "", &tape, 0, &root);
	if (r == 0)
		is_plain = write_whole_schema(&library, &root, names, out, definitions);
	else if (r == -ENOMEM)
		out->error = -ENOMEM;
	else
		buffer_append_string(out, "{}");
	library_deinit(&library);
	arena_deinit(&arena);
	return is_plain;
}

void portable_add_definitions(struct buffer *out, const struct buffer *definitions)
{
	buffer_fail_with(out, definitions);
	if (definitions->size == 0 || buffer_status(out) < 0)
		return;
	out->size--; /* the brace of the object */
	if (out->data[out->size - 1] != '{')
		buffer_append_char(out, ',');
	buffer_append_string(out, "\"$defs\":{");
	buffer_append_buffer(out, definitions);
	buffer_append_string(out, "}}");
}
