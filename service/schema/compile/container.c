/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "schema/compile/sections.h"
#include "schema/compile/map.h"
#include "util/array.h"

/*
 * The sections of arrays and objects. `properties` and `required` become one table of names.
 */

static bool has_any(const struct subschema *subschema, const enum keyword *keywords, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (subschema->at[keywords[i]] != 0)
			return true;
	}
	return false;
}

/* subschema_size for an optional keyword. */
static int add_size(const struct subschema *subschema, enum keyword keyword, uint32_t *ret)
{
	return subschema->at[keyword] != 0 ? subschema_size(subschema, keyword, ret) : 0;
}

/* subschema_child for an optional keyword. */
static int add_child(const struct subschema *subschema, enum keyword keyword, struct node **where)
{
	uint32_t token = subschema->at[keyword];

	return token != 0 ? subschema_child(subschema, token, where) : 0;
}

/* The prefix of an array and the elements after it: `prefixItems` and `items`, or in draft-07 a
 * list `items` and `additionalItems`, which is ignored without one. */
static int add_items(const struct subschema *subschema, struct node_array *array)
{
	enum keyword prefix = KEYWORD_PREFIX_ITEMS;
	enum keyword rest = KEYWORD_ITEMS;
	int r;

	if (subschema->dialect.draft == DRAFT_07 && subschema->at[KEYWORD_ITEMS] != 0 &&
		json_type_at(subschema->tape, subschema->at[KEYWORD_ITEMS]) == JSON_ARRAY) {
		prefix = KEYWORD_ITEMS;
		rest = KEYWORD_ADDITIONAL_ITEMS;
	}
	if (subschema->at[prefix] != 0) {
		r = subschema_expect(subschema, prefix, JSON_ARRAY);
		if (r == 0)
			r = subschema_list(
				subschema, subschema->at[prefix], &array->prefix, &array->n_prefix);
		if (r != 0)
			return r;
	}
	return add_child(subschema, rest, &array->items);
}

static int add_unique(const struct subschema *subschema, struct node_array *array)
{
	uint32_t token = subschema->at[KEYWORD_UNIQUE_ITEMS];
	enum json_type type = json_type_at(subschema->tape, token);

	if (token == 0)
		return 0;
	if (type != JSON_TRUE && type != JSON_FALSE)
		return subschema_refuse(subschema, token, "'uniqueItems' must be a boolean, not %s",
			json_type_name(type));
	array->is_unique = type == JSON_TRUE;
	return 0;
}

int compile_array(const struct subschema *subschema)
{
	static const enum keyword keywords[] = {KEYWORD_ITEMS, KEYWORD_PREFIX_ITEMS,
		KEYWORD_CONTAINS, KEYWORD_MIN_ITEMS, KEYWORD_MAX_ITEMS, KEYWORD_UNIQUE_ITEMS};
	struct node *node = subschema->node;
	struct node_array *array;
	int r = add_child(subschema, KEYWORD_UNEVALUATED_ITEMS, &node->unevaluated_items);

	if (r != 0 || !has_any(subschema, keywords, ARRAY_SIZE(keywords)))
		return r;
	array = subschema_alloc(subschema, sizeof(*array));
	if (!array)
		return -ENOMEM;
	*array = (struct node_array){.items_max = NODE_UNBOUNDED,
		.contains_min = 1,
		.contains_max = NODE_UNBOUNDED,
		.contains_marks = subschema->dialect.draft == DRAFT_2020_12};
	node->array = array;
	r = add_items(subschema, array);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MIN_ITEMS, &array->items_min);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MAX_ITEMS, &array->items_max);
	if (r == 0)
		r = add_unique(subschema, array);
	if (r == 0)
		r = add_child(subschema, KEYWORD_CONTAINS, &array->contains);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MIN_CONTAINS, &array->contains_min);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MAX_CONTAINS, &array->contains_max);
	return r;
}

/* Names are compared eight bytes at a time, and short ones cost nothing beside the rest. */
#define KEY_BYTES_PER_STEP 64

/* The property table while it is filled. */
struct table {
	struct key *keys;
	struct node_property *properties;
	uint32_t count;
	struct map names; /* to places in the lists */
};

/* The place of the name at @token in the table, where it is put if it is not there yet. */
static int add_name(
	const struct subschema *subschema, uint32_t token, struct table *table, uint32_t *ret_at)
{
	struct key *key = &table->keys[table->count];
	int r = subschema_key(subschema, token, key);

	if (r != 0)
		return r;
	r = map_add(&table->names, key->bytes, key->length, table->count);
	if (r == -ENOMEM)
		return r;
	if (r == 0)
		table->properties[table->count].key = *key;
	*ret_at = r == 0 ? table->count++ : map_find(&table->names, key->bytes, key->length);
	return 0;
}

static int add_properties(const struct subschema *subschema, struct table *table)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t map = subschema->at[KEYWORD_PROPERTIES];

	json_each_key(key, tape, map) {
		struct node_property *property;
		uint32_t at;
		int r = add_name(subschema, key, table, &at);

		if (r != 0)
			return r;
		property = &table->properties[at];
		r = subschema_child(subschema, key + 1, &property->node);
		if (r != 0)
			return r;
		if (json_type_at(tape, key + 1) == JSON_OBJECT)
			property->default_token = json_find(tape, key + 1, "default");
		if (property->default_token != 0)
			subschema->compiler->schema->has_defaults = true;
	}
	return 0;
}

static int add_required(const struct subschema *subschema, struct table *table)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t list = subschema->at[KEYWORD_REQUIRED];

	json_each(i, tape, list) {
		uint32_t at;
		int r;

		if (json_type_at(tape, i) != JSON_STRING)
			return subschema_refuse(subschema, i,
				"'required' must list strings, not %s",
				json_type_name(json_type_at(tape, i)));
		r = add_name(subschema, i, table, &at);
		if (r != 0)
			return r;
		table->properties[at].is_required = true;
	}
	return 0;
}

static int add_table(const struct subschema *subschema, struct node_object *object)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t map = subschema->at[KEYWORD_PROPERTIES];
	uint32_t list = subschema->at[KEYWORD_REQUIRED];
	size_t size = (map ? json_count(tape, map) : 0) + (list ? json_count(tape, list) : 0) + 1;
	struct table table = {.keys = subschema_alloc(subschema, size * sizeof(*table.keys)),
		.properties = subschema_alloc(subschema, size * sizeof(*table.properties))};
	int r = 0;

	if (!table.keys || !table.properties)
		return -ENOMEM;
	if (map != 0)
		r = add_properties(subschema, &table);
	if (r == 0 && list != 0)
		r = add_required(subschema, &table);
	map_deinit(&table.names);
	if (r != 0)
		return r;
	table.properties[table.count].key.length = KEY_NEVER;
	object->properties = table.properties;
	object->names = (struct key_set){.keys = table.keys, .count = table.count};
	for (uint32_t i = 0; i < table.count; i++) {
		object->n_required += table.properties[i].is_required;
		object->names_steps += table.keys[i].length / KEY_BYTES_PER_STEP;
	}
	return key_set_index(&object->names, &subschema->compiler->schema->arena);
}

static int add_patterns(const struct subschema *subschema, struct node_object *object)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t map = subschema->at[KEYWORD_PATTERN_PROPERTIES];

	object->patterns =
		subschema_alloc(subschema, json_count(tape, map) * sizeof(*object->patterns));
	if (!object->patterns)
		return -ENOMEM;
	json_each_key(key, tape, map) {
		struct node_pattern_property *property = &object->patterns[object->n_patterns++];
		int r = subschema_pattern(subschema, key, false, &property->pattern);

		if (r == 0)
			r = subschema_child(subschema, key + 1, &property->node);
		if (r != 0)
			return r;
	}
	return 0;
}

/* The names at @list, required by @dependency. */
static int add_dependent_names(
	const struct subschema *subschema, uint32_t list, struct node_dependency *dependency)
{
	const struct json_tape *tape = subschema->tape;
	struct key *keys = subschema_alloc(subschema, json_count(tape, list) * sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	dependency->required = keys;
	json_each(i, tape, list) {
		int r;

		if (json_type_at(tape, i) != JSON_STRING)
			return subschema_refuse(subschema, i,
				"must be the name of a property, not %s",
				json_type_name(json_type_at(tape, i)));
		r = subschema_key(subschema, i, &keys[dependency->n_required++]);
		if (r != 0)
			return r;
	}
	return 0;
}

static int add_dependency(
	const struct subschema *subschema, uint32_t key, struct node_dependency *dependency)
{
	int r = subschema_key(subschema, key, &dependency->trigger);

	if (r != 0)
		return r;
	if (json_type_at(subschema->tape, key + 1) == JSON_ARRAY)
		return add_dependent_names(subschema, key + 1, dependency);
	return subschema_child(subschema, key + 1, &dependency->node);
}

static const enum keyword dependency_keywords[] = {
	KEYWORD_DEPENDENT_REQUIRED, KEYWORD_DEPENDENT_SCHEMAS, KEYWORD_DEPENDENCIES};
#define N_DEPENDENCY_KEYWORDS ARRAY_SIZE(dependency_keywords)

static int add_dependencies(const struct subschema *subschema, struct node_object *object)
{
	const struct json_tape *tape = subschema->tape;
	size_t count = 0;

	for (size_t i = 0; i < N_DEPENDENCY_KEYWORDS; i++) {
		uint32_t map = subschema->at[dependency_keywords[i]];
		int r = map != 0 ? subschema_expect(subschema, dependency_keywords[i], JSON_OBJECT)
				 : 0;

		if (r != 0)
			return r;
		count += map != 0 ? json_count(tape, map) : 0;
	}
	object->dependencies = subschema_alloc(subschema, count * sizeof(*object->dependencies));
	if (!object->dependencies)
		return -ENOMEM;
	for (size_t i = 0; i < N_DEPENDENCY_KEYWORDS; i++) {
		uint32_t map = subschema->at[dependency_keywords[i]];

		for (uint32_t key = map + 1; map != 0 && key < json_end(tape, map);
			key = json_next_key(tape, key)) {
			int r = add_dependency(
				subschema, key, &object->dependencies[object->n_dependencies++]);

			if (r != 0)
				return r;
		}
	}
	return 0;
}

/* The parts made of maps and lists, each with its required JSON type. */
static int add_parts(const struct subschema *subschema, struct node_object *object)
{
	const uint32_t *at = subschema->at;
	int r = 0;

	if (at[KEYWORD_PROPERTIES] != 0)
		r = subschema_expect(subschema, KEYWORD_PROPERTIES, JSON_OBJECT);
	if (r == 0 && at[KEYWORD_REQUIRED] != 0)
		r = subschema_expect(subschema, KEYWORD_REQUIRED, JSON_ARRAY);
	if (r == 0)
		r = add_table(subschema, object);
	if (r == 0 && at[KEYWORD_PATTERN_PROPERTIES] != 0) {
		r = subschema_expect(subschema, KEYWORD_PATTERN_PROPERTIES, JSON_OBJECT);
		if (r == 0)
			r = add_patterns(subschema, object);
	}
	return r == 0 ? add_dependencies(subschema, object) : r;
}

int compile_object(const struct subschema *subschema)
{
	static const enum keyword keywords[] = {KEYWORD_PROPERTIES, KEYWORD_REQUIRED,
		KEYWORD_ADDITIONAL_PROPERTIES, KEYWORD_PATTERN_PROPERTIES, KEYWORD_PROPERTY_NAMES,
		KEYWORD_MIN_PROPERTIES, KEYWORD_MAX_PROPERTIES, KEYWORD_DEPENDENT_REQUIRED,
		KEYWORD_DEPENDENT_SCHEMAS, KEYWORD_DEPENDENCIES};
	struct node *node = subschema->node;
	struct node_object *object;
	int r = add_child(subschema, KEYWORD_UNEVALUATED_PROPERTIES, &node->unevaluated_properties);

	if (r != 0 || !has_any(subschema, keywords, ARRAY_SIZE(keywords)))
		return r;
	object = subschema_alloc(subschema, sizeof(*object));
	if (!object)
		return -ENOMEM;
	object->members_max = NODE_UNBOUNDED;
	node->object = object;
	r = add_parts(subschema, object);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MIN_PROPERTIES, &object->members_min);
	if (r == 0)
		r = add_size(subschema, KEYWORD_MAX_PROPERTIES, &object->members_max);
	if (r == 0)
		r = add_child(subschema, KEYWORD_ADDITIONAL_PROPERTIES, &object->additional);
	if (r == 0)
		r = add_child(subschema, KEYWORD_PROPERTY_NAMES, &object->names_node);
	return r;
}
