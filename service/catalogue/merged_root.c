/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/merged_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"

/*
 *   root ─┬─ $ref, allOf ───────────▶ the same struct merged: properties, required, other members
 *         └─ oneOf, anyOf,  ─▶ a struct merged for each alternative ─▶ united, and joined to the
 *            then and else                                             root's struct
 */

#define DEPTH_MAX 16 /* alternatives in one another */
#define NAMES_MAX                                                                                  \
	1024 /* properties of a root with alternatives; a longer one keeps its own alone */
#define VALUES_MAX 256  /* schemas of one property; the property of more takes any value */
#define PARTS_MAX  1024 /* schemas to collect; a root with more keeps its own properties alone */

/* Members of a root that the merged properties replace, or no interface takes there. */
static const char *const left_out[] = {"type", "oneOf", "anyOf", "allOf", "enum", "const", "not",
	"$ref", "if", "then", "else", "$comment", NULL};

/* A property: a schema from each part with this property. */
struct property {
	uint32_t key;
	uint32_t *all; /* schemas that all apply */
	uint32_t n_all;
	uint32_t *any; /* schemas of alternatives */
	uint32_t n_any;
};

struct merged {
	const struct json_tape *tape;
	const char *base;
	struct property *properties;
	uint32_t n_properties;
	uint32_t *required; /* tokens of strings */
	uint32_t n_required;
	uint32_t *others; /* keys of other members */
	uint32_t n_others;
	bool is_closed;        /* no other property is allowed */
	unsigned int *n_parts; /* collected so far, by all of one root */
	int error;             /* 0, -ENOMEM, or -EMSGSIZE: there are too many */
};

static void merged_deinit(struct merged *merged)
{
	for (uint32_t i = 0; i < merged->n_properties; i++) {
		free(merged->properties[i].all);
		free(merged->properties[i].any);
	}
	free(merged->properties);
	free(merged->required);
	free(merged->others);
}

static void collect(struct merged *merged, uint32_t schema, unsigned int depth);

static bool is_left_out(const struct json_tape *tape, uint32_t key)
{
	return json_word_at(tape, key, left_out) >= 0;
}

/* ── lists ───────────────────────────────────────────────────────────────────────────────────── */

/* Append @token to the @count tokens of @list. */
static void append_token(struct merged *merged, uint32_t **list, uint32_t *count, uint32_t token)
{
	if (array_grow(*list, *count) < 0)
		merged->error = -ENOMEM;
	else
		(*list)[(*count)++] = token;
}

static bool has_string(
	const struct json_tape *tape, const uint32_t *list, uint32_t count, uint32_t string)
{
	for (uint32_t i = 0; i < count; i++)
		if (json_strings_equal(tape, list[i], tape, string))
			return true;
	return false;
}

/* Append the string @token to the @count strings of @list, unless it is there. */
static void add_string(struct merged *merged, uint32_t **list, uint32_t *count, uint32_t token)
{
	if (has_string(merged->tape, *list, *count, token))
		return;
	if (*count == NAMES_MAX)
		merged->error = merged->error ? merged->error : -EMSGSIZE;
	else
		append_token(merged, list, count, token);
}

/* Return the property with the name at @key, NULL: there is none. */
static struct property *find_merged_property(const struct merged *merged, uint32_t key)
{
	for (uint32_t i = 0; i < merged->n_properties; i++)
		if (json_strings_equal(merged->tape, merged->properties[i].key, merged->tape, key))
			return &merged->properties[i];
	return NULL;
}

/* Return the property with the name at @key; add a new one. */
static struct property *get_property(struct merged *merged, uint32_t key)
{
	struct property *property = find_merged_property(merged, key);

	if (property)
		return property;
	if (merged->n_properties == NAMES_MAX) {
		merged->error = merged->error ? merged->error : -EMSGSIZE;
		return NULL;
	}
	if (array_grow(merged->properties, merged->n_properties) < 0) {
		merged->error = -ENOMEM;
		return NULL;
	}
	merged->properties[merged->n_properties] = (struct property){.key = key};
	return &merged->properties[merged->n_properties++];
}

/* ── parts ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the definition named by the text at @reference, or JSON_NONE. */
static uint32_t find_definition(const struct merged *merged, uint32_t reference)
{
	const struct json_tape *tape = merged->tape;
	uint32_t definitions = json_next(tape, 1);
	size_t size = strlen(merged->base);
	const char *text = json_bytes(tape, reference);

	if (json_at(tape, reference)->length < size || memcmp(text, merged->base, size) != 0)
		return JSON_NONE;
	return json_find_sized(
		tape, definitions, text + size, json_at(tape, reference)->length - size);
}

static void collect_properties(struct merged *merged, uint32_t properties)
{
	const struct json_tape *tape = merged->tape;

	json_each_key_while(!merged->error, key, tape, properties) {
		struct property *property = get_property(merged, key);

		if (property && property->n_all < VALUES_MAX)
			append_token(merged, &property->all, &property->n_all, key + 1);
	}
}

/* Collect the other members of the object at @schema. */
static void collect_others(struct merged *merged, uint32_t schema)
{
	const struct json_tape *tape = merged->tape;

	json_each_key(key, tape, schema)
		if (!is_left_out(tape, key) && !json_is_text(tape, key, "properties") &&
			!json_is_text(tape, key, "required"))
			add_string(merged, &merged->others, &merged->n_others, key);
}

/* Return whether the schema at @schema may take an object, by its type. */
static bool takes_object(const struct json_tape *tape, uint32_t schema)
{
	uint32_t type = json_find(tape, schema, "type");

	if (type == JSON_NONE)
		return json_find(tape, schema, "not") == JSON_NONE || json_count(tape, schema) > 1;
	return json_has_text(tape, type, "object");
}

/* ── alternatives ────────────────────────────────────────────────────────────────────────────── */

/* The alternatives so far. */
struct alternatives {
	struct merged merged; /* properties, and what each of them requires */
	bool is_begun;
};

static struct alternatives begin_alternatives(const struct merged *merged)
{
	return (struct alternatives){
		.merged = {.tape = merged->tape, .base = merged->base, .n_parts = merged->n_parts}};
}

/* Keep what @more requires, too. */
static void intersect_required(struct merged *merged, const struct merged *more)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < merged->n_required; i++)
		if (has_string(merged->tape, more->required, more->n_required, merged->required[i]))
			merged->required[n++] = merged->required[i];
	merged->n_required = n;
}

/* Add the schemas of @from, a property of an alternative, to the alternatives of @merged. */
static void unite_property(struct merged *merged, const struct property *from)
{
	struct property *to = get_property(merged, from->key);
	const uint32_t *schemas = from->n_all > 0 ? from->all : from->any;
	uint32_t n = from->n_all > 0 ? 1 : from->n_any;

	for (uint32_t i = 0; to && i < n && to->n_any < VALUES_MAX; i++)
		append_token(merged, &to->any, &to->n_any, schemas[i]);
}

/* Add the alternative at @schema; JSON_NONE: one without keywords. */
static void add_alternative(struct alternatives *alternatives, uint32_t schema, unsigned int depth)
{
	struct merged *merged = &alternatives->merged;
	struct merged one = {
		.tape = merged->tape, .base = merged->base, .n_parts = merged->n_parts};

	if (schema != JSON_NONE)
		collect(&one, schema, depth + 1);
	for (uint32_t i = 0; i < one.n_properties && !merged->error; i++)
		unite_property(merged, &one.properties[i]);
	for (uint32_t i = 0; i < one.n_required && !alternatives->is_begun; i++)
		append_token(merged, &merged->required, &merged->n_required, one.required[i]);
	if (alternatives->is_begun)
		intersect_required(merged, &one);
	merged->is_closed = one.is_closed && (merged->is_closed || !alternatives->is_begun);
	merged->error = merged->error ? merged->error : one.error;
	alternatives->is_begun = true;
	merged_deinit(&one);
}

/* Join what the alternatives have to @merged. */
static void join_roots(struct merged *merged, const struct alternatives *alternatives)
{
	const struct merged *from = &alternatives->merged;

	for (uint32_t i = 0; i < from->n_properties && !merged->error; i++)
		unite_property(merged, &from->properties[i]);
	for (uint32_t i = 0; i < from->n_required && !merged->error; i++)
		add_string(merged, &merged->required, &merged->n_required, from->required[i]);
	merged->is_closed |= from->is_closed;
	merged->error = merged->error ? merged->error : from->error;
}

static void collect_alternatives(
	struct merged *merged, uint32_t schema, const char *key, unsigned int depth)
{
	const struct json_tape *tape = merged->tape;
	uint32_t list = json_find_typed_at(tape, schema, key, JSON_ARRAY);
	struct alternatives alternatives = begin_alternatives(merged);

	if (list == JSON_NONE)
		return;
	json_each(i, tape, list)
		if (takes_object(tape, i))
			add_alternative(&alternatives, i, depth);
	join_roots(merged, &alternatives);
	merged_deinit(&alternatives.merged);
}

static void collect_conditional(struct merged *merged, uint32_t schema, unsigned int depth)
{
	const struct json_tape *tape = merged->tape;
	struct alternatives alternatives = begin_alternatives(merged);

	if (json_find(tape, schema, "if") == JSON_NONE)
		return;
	add_alternative(&alternatives, json_find(tape, schema, "then"), depth);
	add_alternative(&alternatives, json_find(tape, schema, "else"), depth);
	join_roots(merged, &alternatives);
	merged_deinit(&alternatives.merged);
}

/* Collect what the schema at @schema has, and its parts have. */
static void collect(struct merged *merged, uint32_t schema, unsigned int depth)
{
	const struct json_tape *tape = merged->tape;
	uint32_t reference = json_find_typed_at(tape, schema, "$ref", JSON_STRING);
	uint32_t properties = json_find_typed_at(tape, schema, "properties", JSON_OBJECT);
	uint32_t required = json_find_typed_at(tape, schema, "required", JSON_ARRAY);
	uint32_t all = json_find_typed_at(tape, schema, "allOf", JSON_ARRAY);
	uint32_t target = reference == JSON_NONE ? JSON_NONE : find_definition(merged, reference);

	if (++*merged->n_parts > PARTS_MAX)
		merged->error = merged->error ? merged->error : -EMSGSIZE;
	if (depth == DEPTH_MAX || merged->error)
		return;
	if (properties != JSON_NONE)
		collect_properties(merged, properties);
	json_each_found(i, tape, required)
		add_string(merged, &merged->required, &merged->n_required, i);
	merged->is_closed |=
		json_find_typed_at(tape, schema, "additionalProperties", JSON_FALSE) != JSON_NONE ||
		json_find_typed_at(tape, schema, "unevaluatedProperties", JSON_FALSE) != JSON_NONE;
	collect_others(merged, schema);
	if (target != JSON_NONE)
		collect(merged, target, depth + 1);
	json_each_found(i, tape, all)
		collect(merged, i, depth + 1);
	collect_alternatives(merged, schema, "oneOf", depth);
	collect_alternatives(merged, schema, "anyOf", depth);
	collect_conditional(merged, schema, depth);
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether two values have the same text. */
static bool equals(const struct json_tape *tape, uint32_t a, uint32_t b)
{
	size_t a_size;
	size_t b_size;
	const char *a_text = json_value_text(tape, a, &a_size);
	const char *b_text = json_value_text(tape, b, &b_size);

	return a_size == b_size && memcmp(a_text, b_text, a_size) == 0;
}

/* Drop repeated values of @list. Return the number left. */
static uint32_t drop_equal(const struct json_tape *tape, uint32_t *list, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool is_known = false;

		for (uint32_t k = 0; k < n && !is_known; k++)
			is_known = equals(tape, list[k], list[i]);
		if (!is_known)
			list[n++] = list[i];
	}
	return n;
}

/* Return whether the schema at @schema allows some values only, by its const or enum. */
static bool is_constant(const struct json_tape *tape, uint32_t schema)
{
	return json_find(tape, schema, "const") != JSON_NONE ||
	       json_find_typed_at(tape, schema, "enum", JSON_ARRAY) != JSON_NONE;
}

static bool are_constants(const struct json_tape *tape, const uint32_t *schemas, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!is_constant(tape, schemas[i]))
			return false;
	return count > 0;
}

/* Append `"enum":[…]` of the values of the @count constants @schemas. */
static void write_enum(
	struct merged *merged, const uint32_t *schemas, uint32_t count, struct buffer *out)
{
	const struct json_tape *tape = merged->tape;
	cleanup_free uint32_t *values = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t constant = json_find(tape, schemas[i], "const");
		uint32_t list = json_find(tape, schemas[i], "enum");

		if (constant != JSON_NONE) {
			append_token(merged, &values, &n, constant);
			continue;
		}
		json_each(k, tape, list)
			append_token(merged, &values, &n, k);
	}
	if (n > 0 && n <= NAMES_MAX)
		n = drop_equal(tape, values, n);
	buffer_append_string(out, "\"enum\":[");
	for (uint32_t i = 0; i < n; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_compact(out, tape, values[i]);
	}
	buffer_append_char(out, ']');
}

/* Append `"type":…,` if all of the @count @schemas have the same. */
static void write_common_type(
	const struct json_tape *tape, const uint32_t *schemas, uint32_t count, struct buffer *out)
{
	uint32_t type = json_find(tape, schemas[0], "type");

	for (uint32_t i = 1; i < count && type != JSON_NONE; i++) {
		uint32_t other = json_find(tape, schemas[i], "type");

		if (other == JSON_NONE || !equals(tape, type, other))
			return;
	}
	if (type == JSON_NONE)
		return;
	buffer_append_string(out, "\"type\":");
	json_write_compact(out, tape, type);
	buffer_append_char(out, ',');
}

static void write_merged_values(struct merged *merged, const char *keyword, const uint32_t *schemas,
	uint32_t count, struct buffer *out)
{
	if (count == 1) {
		json_write_compact(out, merged->tape, schemas[0]);
		return;
	}
	buffer_printf(out, "{\"%s\":[", keyword);
	for (uint32_t i = 0; i < count; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_compact(out, merged->tape, schemas[i]);
	}
	buffer_append_string(out, "]}");
}

/* Append the schema at @schema with the values of the constants of @property, missing there. */
static void write_narrowed(
	struct merged *merged, uint32_t schema, const struct property *property, struct buffer *out)
{
	json_write_compact(out, merged->tape, schema);
	out->size--; /* its brace */
	buffer_append_string(out, json_count(merged->tape, schema) > 0 ? "," : "");
	write_enum(merged, property->any, property->n_any, out);
	buffer_append_char(out, '}');
}

/* An empty schema adds nothing to the schemas of anyOf. */
static bool is_bound_by_all(const struct json_tape *tape, const struct property *property)
{
	if (property->n_all != 1 || property->n_any == 0)
		return property->n_all > 0;
	return json_count(tape, property->all[0]) > 0;
}

static void write_merged_property(
	struct merged *merged, struct property *property, struct buffer *out)
{
	const struct json_tape *tape = merged->tape;
	bool is_constant_in_any;

	property->n_all = drop_equal(tape, property->all, property->n_all);
	property->n_any = drop_equal(tape, property->any, property->n_any);
	is_constant_in_any = are_constants(tape, property->any, property->n_any);
	if (property->n_all == VALUES_MAX || property->n_any == VALUES_MAX)
		buffer_append_string(out, "{}");
	else if (property->n_all == 1 && is_constant_in_any && !is_constant(tape, property->all[0]))
		write_narrowed(merged, property->all[0], property, out);
	else if (is_bound_by_all(tape, property))
		write_merged_values(merged, "allOf", property->all, property->n_all, out);
	else if (property->n_all == 0 && is_constant_in_any && property->n_any > 1) {
		buffer_append_char(out, '{');
		write_common_type(tape, property->any, property->n_any, out);
		write_enum(merged, property->any, property->n_any, out);
		buffer_append_char(out, '}');
	} else {
		write_merged_values(merged, "anyOf", property->any, property->n_any, out);
	}
}

static void write_properties(struct merged *merged, bool has_own_alone, struct buffer *out)
{
	buffer_append_string(out, ",\"properties\":{");
	for (uint32_t i = 0; i < merged->n_properties; i++) {
		struct property *property = &merged->properties[i];

		if (has_own_alone && property->n_all == 0)
			continue;
		json_write_comma(out);
		json_write_compact(out, merged->tape, property->key);
		buffer_append_char(out, ':');
		write_merged_property(merged, property, out);
	}
	buffer_append_char(out, '}');
}

static void write_required(const struct merged *merged, struct buffer *out)
{
	if (merged->n_required == 0)
		return;
	buffer_append_string(out, ",\"required\":[");
	for (uint32_t i = 0; i < merged->n_required; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_compact(out, merged->tape, merged->required[i]);
	}
	buffer_append_char(out, ']');
}

/* Append what was collected. */
static void write_merged(struct merged *merged, struct buffer *out)
{
	const struct json_tape *tape = merged->tape;
	bool has_own_alone =
		json_find_typed_at(tape, 1, "additionalProperties", JSON_FALSE) != JSON_NONE &&
		json_find_typed_at(tape, 1, "properties", JSON_OBJECT) != JSON_NONE;

	buffer_append_string(out, "{\"type\":\"object\"");
	write_properties(merged, has_own_alone, out);
	write_required(merged, out);
	if (merged->is_closed)
		buffer_append_string(out, ",\"additionalProperties\":false");
	for (uint32_t i = 0; i < merged->n_others; i++) {
		uint32_t key = merged->others[i];

		if (merged->is_closed && (json_is_text(tape, key, "additionalProperties") ||
						 json_is_text(tape, key, "unevaluatedProperties")))
			continue;
		json_write_member_copy(out, tape, key);
	}
	buffer_append_char(out, '}');
}

/* Append the root of the schema at @root with its own members alone. */
static void write_own(const struct json_tape *tape, uint32_t root, struct buffer *out)
{
	buffer_append_string(out, "{\"type\":\"object\"");
	json_each_key(key, tape, root)
		if (!is_left_out(tape, key))
			json_write_member_copy(out, tape, key);
	if (json_find(tape, root, "properties") == JSON_NONE)
		buffer_append_string(out, ",\"properties\":{}");
	buffer_append_char(out, '}');
}

/* Return whether the root has parameters in other places than its properties. */
static bool has_parts(const struct json_tape *tape, uint32_t root)
{
	static const char *const names[] = {"$ref", "allOf", "anyOf", "oneOf", "if", NULL};

	for (const char *const *name = names; *name; name++)
		if (json_find(tape, root, *name) != JSON_NONE)
			return true;
	return false;
}

/* Return whether nothing is left out of the root, and nothing added to it. */
static bool is_object_with_properties(const struct json_tape *tape, uint32_t root)
{
	json_each_key(key, tape, root)
		if (is_left_out(tape, key) && !json_is_text(tape, key, "type") &&
			!json_is_text(tape, key, "$comment"))
			return false;
	return json_member_is(tape, root, "type", "object") &&
	       json_find_typed_at(tape, root, "properties", JSON_OBJECT) != JSON_NONE;
}

bool merged_root_write(const struct json_tape *tape, const char *base, struct buffer *out)
{
	unsigned int n_parts = 0;
	struct merged merged = {.tape = tape, .base = base, .n_parts = &n_parts};

	if (!has_parts(tape, 1)) {
		write_own(tape, 1, out);
		return is_object_with_properties(tape, 1);
	}
	collect(&merged, 1, 0);
	if (merged.error == -ENOMEM)
		out->error = -ENOMEM;
	else if (merged.error < 0)
		write_own(tape, 1, out);
	else
		write_merged(&merged, out);
	if (merged.error == -ENOMEM)
		out->error = -ENOMEM;
	merged_deinit(&merged);
	return false;
}
