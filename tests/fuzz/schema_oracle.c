/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_oracle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

#define STEPS_MAX    200000
#define DEPTH_MAX    300
#define CHILDREN_MAX 64
#define SCOPES_MAX   (DEPTH_MAX + 1)
#define PLACES       60 /* decimal places on each side of the point */
#define DIGITS       (2 * PLACES)

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

/* ---- numbers: written out digit by digit */

struct fixed {
	bool is_negative;
	unsigned char digits[DIGITS]; /* the point stands behind the first PLACES */
};

static bool fixed_is_zero(const struct fixed *a)
{
	for (int i = 0; i < DIGITS; i++) {
		if (a->digits[i] != 0)
			return false;
	}
	return true;
}

static bool fixed_read(
	struct oracle *o, const struct json_tape *tape, uint32_t index, struct fixed *ret)
{
	const char *text = json_bytes(tape, index);
	const char *end = text + json_at(tape, index)->length;
	char digits[DIGITS * 2];
	int count = 0;
	int point = -1;
	int exponent = 0;

	*ret = (struct fixed){.is_negative = *text == '-'};
	text += *text == '-';
	for (; text < end && *text != 'e' && *text != 'E'; text++) {
		if (*text == '.')
			point = count;
		else if (count < DIGITS * 2)
			digits[count++] = *text;
	}
	if (text < end) {
		bool is_negative = text[1] == '-';

		for (text += text[1] == '-' || text[1] == '+' ? 2 : 1; text < end; text++)
			exponent = exponent > 1000 ? exponent : exponent * 10 + (*text - '0');
		exponent = is_negative ? -exponent : exponent;
	}
	point = (point < 0 ? count : point) + exponent;
	for (int i = 0; i < count; i++) {
		int place = PLACES - point + i;

		if (digits[i] == '0')
			continue;
		if (place < 0 || place >= DIGITS)
			return unknown(o);
		ret->digits[place] = (unsigned char)(digits[i] - '0');
	}
	if (fixed_is_zero(ret))
		ret->is_negative = false;
	return true;
}

static int fixed_compare(const struct fixed *a, const struct fixed *b)
{
	int order = memcmp(a->digits, b->digits, DIGITS);

	if (a->is_negative != b->is_negative)
		return a->is_negative ? -1 : 1;
	return a->is_negative ? -order : order;
}

static bool fixed_is_whole(const struct fixed *a)
{
	for (int i = PLACES; i < DIGITS; i++) {
		if (a->digits[i] != 0)
			return false;
	}
	return true;
}

/* Schoolbook division; only the remainder is kept. */
static bool fixed_is_multiple(const struct fixed *a, const struct fixed *b)
{
	unsigned char rest[DIGITS + 1] = {0};

	for (int i = 0; i < DIGITS; i++) {
		memmove(rest, rest + 1, DIGITS);
		rest[DIGITS] = a->digits[i];
		while (rest[0] != 0 || memcmp(rest + 1, b->digits, DIGITS) >= 0) {
			int borrow = 0;

			for (int k = DIGITS - 1; k >= 0; k--) {
				int digit = rest[k + 1] - b->digits[k] - borrow;

				borrow = digit < 0;
				rest[k + 1] = (unsigned char)(digit + 10 * borrow);
			}
			rest[0] = (unsigned char)(rest[0] - borrow);
		}
	}
	for (int i = 0; i <= DIGITS; i++) {
		if (rest[i] != 0)
			return false;
	}
	return true;
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
		if (!fixed_read(o, o->tape, value, &a) || !fixed_read(o, o->schema, token, &b))
			return false;
		order = fixed_compare(&a, &b);
		if (order < 0 ? !bounds[i].below : order > 0 ? !bounds[i].above : !bounds[i].equal)
			return false;
	}
	token = keyword(o, schema, "multipleOf");
	if (token == JSON_NONE)
		return true;
	return fixed_read(o, o->tape, value, &a) && fixed_read(o, o->schema, token, &b) &&
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
		return fixed_read(o, a_tape, a, &x) && fixed_read(o, b_tape, b, &y) &&
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
		return type == JSON_NUMBER && fixed_read(o, o->tape, value, &number) &&
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

const char *const oracle_patterns[] = {"^a", "b$", "^[ab]*$", "a|c", "^.{2,3}$", NULL};

static bool only_ab(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != 'a' && text[i] != 'b')
			return false;
	}
	return true;
}

/* Whether the string matches the @which'th of oracle_patterns. */
static bool matches_known(int which, const char *text, size_t size)
{
	size_t points = utf8_count(text, size);

	switch (which) {
	case 0:
		return size > 0 && text[0] == 'a';
	case 1:
		return size > 0 && text[size - 1] == 'b';
	case 2:
		return only_ab(text, size);
	case 3:
		return size > 0 && (memchr(text, 'a', size) || memchr(text, 'c', size));
	default:
		return points >= 2 && points <= 3 && !memchr(text, '\n', size) &&
		       !memchr(text, '\r', size) && !memmem(text, size, "\xe2\x80\xa8", 3) &&
		       !memmem(text, size, "\xe2\x80\xa9", 3);
	}
}

static bool matches(struct oracle *o, uint32_t pattern, uint32_t string)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_string_decode(o->tape, string, &text);
	for (int i = 0; oracle_patterns[i]; i++) {
		if (is_string(o->schema, pattern, oracle_patterns[i]))
			return matches_known(i, text.data ? text.data : "", text.size);
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
	uint32_t patterns = keyword(o, schema, "patternProperties");
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
	for (uint32_t i = patterns ? json_first(o->schema, patterns) : 0;
		patterns && i < json_end(o->schema, patterns); i = json_next_key(o->schema, i)) {
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

/* The resource root that @schema stands in: the innermost object around it with an `$id`. */
static uint32_t resource_of(const struct oracle *o, uint32_t schema)
{
	uint32_t root = 0;

	for (uint32_t i = 0; i <= schema; i++) {
		if (json_type_at(o->schema, i) == JSON_OBJECT && schema < json_end(o->schema, i) &&
			json_find(o->schema, i, "$id") != JSON_NONE &&
			!(o->is_old && json_find(o->schema, i, "$ref") != JSON_NONE))
			root = i;
	}
	return root;
}

/* The object in the resource @root whose @key is the text @name, or JSON_NONE + found false. */
static bool find_anchor(
	const struct oracle *o, uint32_t root, const char *key, const char *name, uint32_t *ret)
{
	for (uint32_t i = root; i < json_end(o->schema, root); i++) {
		uint32_t anchor = json_type_at(o->schema, i) == JSON_OBJECT
					  ? json_find(o->schema, i, key)
					  : JSON_NONE;

		if (anchor != JSON_NONE && is_string(o->schema, anchor, name) &&
			resource_of(o, i) == root) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* The place that the text of a reference means: "#", "#/KEY/NAME", "#ANCHOR", "ID" and "ID#…". */
static bool resolve(struct oracle *o, uint32_t from, const char *text, uint32_t *ret)
{
	const char *hash = strchr(text, '#');
	size_t id_size = hash ? (size_t)(hash - text) : strlen(text);
	uint32_t root = resource_of(o, from);
	char key[16];
	char name[16];

	if (id_size > 0) {
		bool is_found = false;

		for (uint32_t i = 0; i < o->schema->count && !is_found; i++) {
			uint32_t id = json_type_at(o->schema, i) == JSON_OBJECT
					      ? json_find(o->schema, i, "$id")
					      : JSON_NONE;

			is_found = id != JSON_NONE && json_type_at(o->schema, id) == JSON_STRING &&
				   json_string_equals(o->schema, id, text, id_size);
			if (is_found)
				root = i;
		}
		if (!is_found)
			return unknown(o);
	}
	*ret = root;
	if (!hash || hash[1] == '\0')
		return true;
	if (sscanf(hash, "#/%15[^/]/%15[^/]", key, name) == 2) {
		uint32_t map = json_find(o->schema, root, key);

		*ret = map != JSON_NONE && json_type_at(o->schema, map) == JSON_OBJECT
			       ? json_find(o->schema, map, name)
			       : JSON_NONE;
		return *ret != JSON_NONE || unknown(o);
	}
	return find_anchor(o, root, "$anchor", hash + 1, ret) ||
	       find_anchor(o, root, "$dynamicAnchor", hash + 1, ret) || unknown(o);
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
			if (find_anchor(o, o->scopes[i], "$dynamicAnchor", hash + 1, &target))
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
	o->scopes[o->n_scopes++] = resource_of(o, schema);
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
