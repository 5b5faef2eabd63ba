/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_oracle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema_fixed.h"
#include "schema_patterns.h"
#include "schema_place.h"
#include "json/number.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

#define STEPS_MAX    200000
#define DEPTH_MAX    300
#define CHILDREN_MAX 64
#define SCOPES_MAX   (DEPTH_MAX + 1)

struct oracle {
	const struct json_tape *schema;
	const struct json_tape *tape;
	bool is_old; /* draft-07 */
	bool is_unknown;
	unsigned int steps;
	unsigned int depth;
	uint32_t scopes[SCOPES_MAX]; /* roots of the resources entered, outermost first */
	unsigned int n_scopes;
};

static bool holds(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated);

static bool unknown(struct oracle *o)
{
	o->is_unknown = true;
	return false;
}

static uint32_t keyword(const struct oracle *o, uint32_t schema, const char *name)
{
	return json_find(o->schema, schema, name);
}

static bool is_string(const struct json_tape *tape, uint32_t index, const char *text)
{
	return json_type_at(tape, index) == JSON_STRING &&
	       json_string_equals(tape, index, text, strlen(text));
}

/* ---- numbers */

static bool read_fixed(
	struct oracle *o, const struct json_tape *tape, uint32_t index, struct fixed *ret)
{
	return fixed_read(tape, index, ret) || unknown(o);
}

static bool check_numbers(struct oracle *o, uint32_t schema, uint32_t value)
{
	static const struct {
		const char *name;
		int below, equal, above; /* whether the value may be so beside the bound */
	} bounds[] = {{"minimum", 0, 1, 1}, {"exclusiveMinimum", 0, 0, 1}, {"maximum", 1, 1, 0},
		{"exclusiveMaximum", 1, 0, 0}};
	struct fixed a;
	struct fixed b;
	uint32_t token;

	if (json_type_at(o->tape, value) != JSON_NUMBER)
		return true;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		int order;

		token = keyword(o, schema, bounds[i].name);
		if (token == JSON_NONE)
			continue;
		if (!read_fixed(o, o->tape, value, &a) || !read_fixed(o, o->schema, token, &b))
			return false;
		order = fixed_compare(&a, &b);
		if (order < 0 ? !bounds[i].below : order > 0 ? !bounds[i].above : !bounds[i].equal)
			return false;
	}
	token = keyword(o, schema, "multipleOf");
	if (token == JSON_NONE)
		return true;
	return read_fixed(o, o->tape, value, &a) && read_fixed(o, o->schema, token, &b) &&
	       fixed_is_multiple(&a, &b);
}

/* ---- equality */

static bool equal(struct oracle *o, const struct json_tape *a_tape, uint32_t a,
	const struct json_tape *b_tape, uint32_t b)
{
	enum json_type type = json_type_at(a_tape, a);
	struct fixed x;
	struct fixed y;

	if (++o->steps > STEPS_MAX)
		return unknown(o);
	if (type != json_type_at(b_tape, b))
		return false;
	if (type == JSON_STRING)
		return json_strings_equal(a_tape, a, b_tape, b);
	if (type == JSON_NUMBER)
		return read_fixed(o, a_tape, a, &x) && read_fixed(o, b_tape, b, &y) &&
		       fixed_compare(&x, &y) == 0;
	if (type < JSON_NUMBER)
		return true;
	if (json_count(a_tape, a) != json_count(b_tape, b))
		return false;
	if (type == JSON_ARRAY) {
		uint32_t k = json_first(b_tape, b);

		for (uint32_t i = json_first(a_tape, a); i < json_end(a_tape, a);
			i = json_next(a_tape, i), k = json_next(b_tape, k)) {
			if (!equal(o, a_tape, i, b_tape, k))
				return false;
		}
		return true;
	}
	for (uint32_t i = json_first(a_tape, a); i < json_end(a_tape, a);
		i = json_next_key(a_tape, i)) {
		bool is_found = false;

		for (uint32_t k = json_first(b_tape, b); k < json_end(b_tape, b);
			k = json_next_key(b_tape, k)) {
			if (json_strings_equal(a_tape, i, b_tape, k))
				is_found = equal(o, a_tape, i + 1, b_tape, k + 1);
		}
		if (!is_found)
			return false;
	}
	return true;
}

static bool check_values(struct oracle *o, uint32_t schema, uint32_t value)
{
	uint32_t constant = keyword(o, schema, "const");
	uint32_t list = keyword(o, schema, "enum");

	if (constant != JSON_NONE && !equal(o, o->schema, constant, o->tape, value))
		return false;
	if (list == JSON_NONE)
		return true;
	for (uint32_t i = json_first(o->schema, list); i < json_end(o->schema, list);
		i = json_next(o->schema, i)) {
		if (equal(o, o->schema, i, o->tape, value))
			return true;
	}
	return false;
}

/* ---- types */

static bool has_type(struct oracle *o, uint32_t name, uint32_t value)
{
	enum json_type type = json_type_at(o->tape, value);
	struct fixed number;

	if (is_string(o->schema, name, "integer"))
		return type == JSON_NUMBER && read_fixed(o, o->tape, value, &number) &&
		       fixed_is_whole(&number);
	return is_string(o->schema, name, json_type_name(type));
}

static bool check_type(struct oracle *o, uint32_t schema, uint32_t value)
{
	uint32_t type = keyword(o, schema, "type");

	if (type == JSON_NONE)
		return true;
	if (json_type_at(o->schema, type) == JSON_STRING)
		return has_type(o, type, value);
	for (uint32_t i = json_first(o->schema, type); i < json_end(o->schema, type);
		i = json_next(o->schema, i)) {
		if (has_type(o, i, value))
			return true;
	}
	return false;
}

/* ---- strings */

static bool matches(struct oracle *o, uint32_t pattern, uint32_t string)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_string_decode(o->tape, string, &text);
	for (int i = 0; patterns[i]; i++) {
		if (is_string(o->schema, pattern, patterns[i]))
			return patterns_match(i, text.data ? text.data : "", text.size);
	}
	return unknown(o);
}

/* The value of a keyword that is a size, or @fallback. */
static uint64_t size_of(
	const struct oracle *o, uint32_t schema, const char *name, uint64_t fallback)
{
	uint32_t token = keyword(o, schema, name);
	uint64_t size;

	if (token == JSON_NONE || json_number_u64(o->schema, token, &size) != 0)
		return fallback;
	return size;
}

static bool check_strings(struct oracle *o, uint32_t schema, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t pattern = keyword(o, schema, "pattern");
	size_t points;

	if (json_type_at(o->tape, value) != JSON_STRING)
		return true;
	json_string_decode(o->tape, value, &text);
	points = text.size ? utf8_count(text.data, text.size) : 0;
	if (points < size_of(o, schema, "minLength", 0) ||
		points > size_of(o, schema, "maxLength", UINT64_MAX))
		return false;
	return pattern == JSON_NONE || matches(o, pattern, value);
}

/* ---- arrays */

static bool check_unique(struct oracle *o, uint32_t schema, uint32_t value)
{
	uint32_t unique = keyword(o, schema, "uniqueItems");

	if (unique == JSON_NONE || !json_is_true(o->schema, unique))
		return true;
	for (uint32_t i = json_first(o->tape, value); i < json_end(o->tape, value);
		i = json_next(o->tape, i)) {
		for (uint32_t k = json_next(o->tape, i); k < json_end(o->tape, value);
			k = json_next(o->tape, k)) {
			if (equal(o, o->tape, i, o->tape, k))
				return false;
		}
	}
	return true;
}

static bool check_items(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t items = keyword(o, schema, "items");
	uint32_t prefix = keyword(o, schema, "prefixItems");
	uint32_t at = 0;
	uint32_t next;

	if (o->is_old) {
		bool is_list = items != JSON_NONE && json_type_at(o->schema, items) == JSON_ARRAY;

		prefix = is_list ? items : JSON_NONE;
		items = is_list ? keyword(o, schema, "additionalItems") : items;
	}
	next = prefix != JSON_NONE ? json_first(o->schema, prefix) : 0;
	for (uint32_t i = json_first(o->tape, value); i < json_end(o->tape, value);
		i = json_next(o->tape, i), at++) {
		uint32_t applied = items;
		uint64_t ignored = 0;

		if (prefix != JSON_NONE && next < json_end(o->schema, prefix)) {
			applied = next;
			next = json_next(o->schema, next);
		}
		if (applied == JSON_NONE)
			continue;
		if (!holds(o, applied, i, &ignored))
			return false;
		*evaluated |= UINT64_C(1) << at;
	}
	return true;
}

static bool check_contains(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t contains = keyword(o, schema, "contains");
	uint64_t min = o->is_old ? 1 : size_of(o, schema, "minContains", 1);
	uint64_t max = o->is_old ? UINT64_MAX : size_of(o, schema, "maxContains", UINT64_MAX);
	uint64_t found = 0;
	uint32_t at = 0;

	if (contains == JSON_NONE)
		return true;
	for (uint32_t i = json_first(o->tape, value); i < json_end(o->tape, value);
		i = json_next(o->tape, i), at++) {
		uint64_t ignored = 0;

		if (!holds(o, contains, i, &ignored))
			continue;
		found++;
		if (!o->is_old)
			*evaluated |= UINT64_C(1) << at;
	}
	return found >= min && found <= max;
}

static bool check_arrays(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t count;

	if (json_type_at(o->tape, value) != JSON_ARRAY)
		return true;
	count = json_count(o->tape, value);
	if (count < size_of(o, schema, "minItems", 0) ||
		count > size_of(o, schema, "maxItems", UINT64_MAX))
		return false;
	return check_unique(o, schema, value) && check_items(o, schema, value, evaluated) &&
	       check_contains(o, schema, value, evaluated);
}

/* ---- objects */

/* The member of the object @value that the key @name of the schema names, or JSON_NONE. */
static uint32_t member(const struct oracle *o, uint32_t value, uint32_t name)
{
	for (uint32_t key = json_first(o->tape, value); key < json_end(o->tape, value);
		key = json_next_key(o->tape, key)) {
		if (json_strings_equal(o->tape, key, o->schema, name))
			return key + 1;
	}
	return JSON_NONE;
}

static bool has_all(struct oracle *o, uint32_t list, uint32_t value)
{
	for (uint32_t i = json_first(o->schema, list); i < json_end(o->schema, list);
		i = json_next(o->schema, i)) {
		if (member(o, value, i) == JSON_NONE)
			return false;
	}
	return true;
}

/* The member at @key by properties, patternProperties and additionalProperties. */
static bool check_member(struct oracle *o, uint32_t schema, uint32_t key, bool *is_evaluated)
{
	uint32_t properties = keyword(o, schema, "properties");
	uint32_t expressions = keyword(o, schema, "patternProperties");
	uint32_t additional = keyword(o, schema, "additionalProperties");
	uint64_t ignored = 0;
	bool is_named = false;

	for (uint32_t i = properties ? json_first(o->schema, properties) : 0;
		properties && i < json_end(o->schema, properties);
		i = json_next_key(o->schema, i)) {
		if (!json_strings_equal(o->schema, i, o->tape, key))
			continue;
		is_named = true;
		if (!holds(o, i + 1, key + 1, &ignored))
			return false;
	}
	for (uint32_t i = expressions ? json_first(o->schema, expressions) : 0;
		expressions && i < json_end(o->schema, expressions);
		i = json_next_key(o->schema, i)) {
		if (!matches(o, i, key))
			continue;
		is_named = true;
		if (!holds(o, i + 1, key + 1, &ignored))
			return false;
	}
	*is_evaluated = is_named || additional != JSON_NONE;
	return is_named || additional == JSON_NONE || holds(o, additional, key + 1, &ignored);
}

static bool check_members(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t names = keyword(o, schema, "propertyNames");
	uint32_t at = 0;

	for (uint32_t key = json_first(o->tape, value); key < json_end(o->tape, value);
		key = json_next_key(o->tape, key), at++) {
		uint64_t ignored = 0;
		bool is_evaluated = false;

		if (!check_member(o, schema, key, &is_evaluated))
			return false;
		if (is_evaluated)
			*evaluated |= UINT64_C(1) << at;
		if (names != JSON_NONE && !holds(o, names, key, &ignored))
			return false;
	}
	return true;
}

static bool check_dependencies(struct oracle *o, uint32_t map, uint32_t value, uint64_t *evaluated)
{
	for (uint32_t key = map ? json_first(o->schema, map) : 0;
		map && key < json_end(o->schema, map); key = json_next_key(o->schema, key)) {
		if (member(o, value, key) == JSON_NONE)
			continue;
		if (json_type_at(o->schema, key + 1) == JSON_ARRAY) {
			if (!has_all(o, key + 1, value))
				return false;
		} else if (!holds(o, key + 1, value, evaluated)) {
			return false;
		}
	}
	return true;
}

static bool check_objects(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t required = keyword(o, schema, "required");
	uint32_t count;

	if (json_type_at(o->tape, value) != JSON_OBJECT)
		return true;
	count = json_count(o->tape, value);
	if (count < size_of(o, schema, "minProperties", 0) ||
		count > size_of(o, schema, "maxProperties", UINT64_MAX))
		return false;
	if (required != JSON_NONE && !has_all(o, required, value))
		return false;
	if (!check_members(o, schema, value, evaluated) ||
		!check_dependencies(o, keyword(o, schema, "dependencies"), value, evaluated))
		return false;
	return o->is_old ||
	       (check_dependencies(o, keyword(o, schema, "dependentRequired"), value, evaluated) &&
		       check_dependencies(
			       o, keyword(o, schema, "dependentSchemas"), value, evaluated));
}

/* ---- references */

/* The place that a reference means. */
static bool resolve(struct oracle *o, uint32_t from, const char *text, uint32_t *ret)
{
	return place_resolve(o->schema, o->is_old, from, text, ret) || unknown(o);
}

static bool check_reference(
	struct oracle *o, uint32_t schema, const char *name, uint32_t value, uint64_t *evaluated)
{
	uint32_t token = keyword(o, schema, name);
	cleanup_free char *text = NULL;
	const char *hash;
	uint32_t target;
	uint32_t anchor;

	if (token == JSON_NONE)
		return true;
	text = json_string_dup(o->schema, token, NULL);
	if (!text || !resolve(o, schema, text, &target))
		return unknown(o);
	hash = strchr(text, '#');
	anchor = keyword(o, target, "$dynamicAnchor");
	if (strcmp(name, "$dynamicRef") == 0 && hash && anchor != JSON_NONE &&
		is_string(o->schema, anchor, hash + 1)) {
		for (unsigned int i = 0; i < o->n_scopes; i++) {
			if (place_find_anchor(o->schema, o->is_old, o->scopes[i], "$dynamicAnchor",
				    hash + 1, &target))
				break;
		}
	}
	return holds(o, target, value, evaluated);
}

/* ---- combinations */

/* How many of the list's schemas hold; their marks are added to @evaluated. */
static uint32_t count_holding(struct oracle *o, uint32_t list, uint32_t value, uint64_t *evaluated)
{
	uint32_t count = 0;

	for (uint32_t i = json_first(o->schema, list); i < json_end(o->schema, list);
		i = json_next(o->schema, i))
		count += holds(o, i, value, evaluated);
	return count;
}

static bool check_combinations(
	struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t all = keyword(o, schema, "allOf");
	uint32_t any = keyword(o, schema, "anyOf");
	uint32_t one = keyword(o, schema, "oneOf");
	uint32_t not = keyword(o, schema, "not");
	uint64_t ignored = 0;

	if (all && count_holding(o, all, value, evaluated) != json_count(o->schema, all))
		return false;
	if (any && count_holding(o, any, value, evaluated) == 0)
		return false;
	if (one && count_holding(o, one, value, evaluated) != 1)
		return false;
	return !not || !holds(o, not, value, &ignored);
}

static bool check_condition(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint32_t condition = keyword(o, schema, "if");
	uint32_t next;

	if (condition == JSON_NONE)
		return true;
	next = keyword(o, schema, holds(o, condition, value, evaluated) ? "then" : "else");
	return next == JSON_NONE || holds(o, next, value, evaluated);
}

static bool check_unevaluated(
	struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	enum json_type type = json_type_at(o->tape, value);
	uint32_t rest = JSON_NONE;
	uint32_t at = 0;

	if (type == JSON_OBJECT)
		rest = keyword(o, schema, "unevaluatedProperties");
	else if (type == JSON_ARRAY)
		rest = keyword(o, schema, "unevaluatedItems");
	if (rest == JSON_NONE)
		return true;
	for (uint32_t i = json_first(o->tape, value); i < json_end(o->tape, value); at++) {
		uint32_t child = type == JSON_OBJECT ? i + 1 : i;
		uint64_t ignored = 0;

		if (!(*evaluated >> at & 1) && !holds(o, rest, child, &ignored))
			return false;
		*evaluated |= UINT64_C(1) << at;
		i = json_next(o->tape, child);
	}
	return true;
}

static bool check_keywords(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	if (o->is_old && keyword(o, schema, "$ref") != JSON_NONE)
		return check_reference(o, schema, "$ref", value, evaluated);
	return check_type(o, schema, value) && check_values(o, schema, value) &&
	       check_numbers(o, schema, value) && check_strings(o, schema, value) &&
	       check_arrays(o, schema, value, evaluated) &&
	       check_objects(o, schema, value, evaluated) &&
	       check_reference(o, schema, "$ref", value, evaluated) &&
	       (o->is_old || check_reference(o, schema, "$dynamicRef", value, evaluated)) &&
	       check_combinations(o, schema, value, evaluated) &&
	       check_condition(o, schema, value, evaluated) &&
	       (o->is_old || check_unevaluated(o, schema, value, evaluated));
}

/* Whether @value satisfies @schema; if so, what it evaluated is added to @evaluated. */
static bool holds(struct oracle *o, uint32_t schema, uint32_t value, uint64_t *evaluated)
{
	uint64_t own = 0;
	bool is_valid;

	if (json_type_at(o->schema, schema) != JSON_OBJECT)
		return json_is_true(o->schema, schema);
	if (o->is_unknown || ++o->steps > STEPS_MAX || o->depth == DEPTH_MAX ||
		(json_type_at(o->tape, value) >= JSON_ARRAY &&
			json_count(o->tape, value) > CHILDREN_MAX))
		return unknown(o);
	o->depth++;
	o->scopes[o->n_scopes++] = place_resource(o->schema, o->is_old, schema);
	is_valid = check_keywords(o, schema, value, &own);
	o->n_scopes--;
	o->depth--;
	if (is_valid)
		*evaluated |= own;
	return is_valid;
}

enum oracle_verdict oracle_validate(const struct json_tape *schema, const struct json_tape *tape)
{
	struct oracle oracle = {.schema = schema, .tape = tape};
	uint64_t evaluated = 0;
	bool is_valid;

	if (json_type_at(schema, 0) == JSON_OBJECT) {
		uint32_t dialect = json_find(schema, 0, "$schema");

		oracle.is_old =
			dialect != JSON_NONE &&
			is_string(schema, dialect, "http://json-schema.org/draft-07/schema#");
	}
	is_valid = holds(&oracle, 0, 0, &evaluated);
	if (oracle.is_unknown)
		return ORACLE_UNKNOWN;
	return is_valid ? ORACLE_VALID : ORACLE_INVALID;
}
