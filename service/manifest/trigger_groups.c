/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/trigger_groups.h"

#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "json/pointer.h"
#include "manifest/diagnose.h"
#include "util/array.h"
#include "util/cleanup.h"

/* References and alternatives are followed so deep. */
#define FOLLOWED_MAX 8

static bool has_property(
	const struct json_tape *tape, uint32_t schema, const char *name, int depth);

/* Return whether one of the schemas in the array at the member @key has the property @name. */
static bool is_in_any(
	const struct json_tape *tape, uint32_t schema, const char *key, const char *name, int depth)
{
	uint32_t list = json_find_typed_at(tape, schema, key, JSON_ARRAY);

	if (list == JSON_NONE)
		return false;
	json_each(i, tape, list) {
		if (has_property(tape, i, name, depth))
			return true;
	}
	return false;
}

/* Return whether the target of `$ref`, if that stays in the document, has the property @name. */
static bool is_in_target(const struct json_tape *tape, uint32_t schema, const char *name, int depth)
{
	cleanup(buffer_deinit) struct buffer reference = {0};
	uint32_t ref = json_find_typed_at(tape, schema, "$ref", JSON_STRING);
	uint32_t target;

	if (ref == JSON_NONE)
		return false;
	json_string_decode(tape, ref, &reference);
	return buffer_terminate(&reference) && reference.data[0] == '#' &&
	       json_pointer_find(tape, reference.data + 1, NULL, &target) &&
	       has_property(tape, target, name, depth);
}

/* Return whether an object of the schema at @schema may have the property @name by its own words:
 * `properties` there, in its alternatives or where its reference leads. */
static bool has_property(const struct json_tape *tape, uint32_t schema, const char *name, int depth)
{
	static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
	static const char *const schemas[] = {"then", "else"};
	uint32_t properties;

	if (depth > FOLLOWED_MAX || json_type_at(tape, schema) != JSON_OBJECT)
		return false;
	properties = json_find_typed_at(tape, schema, "properties", JSON_OBJECT);
	if (properties != JSON_NONE && json_find(tape, properties, name) != JSON_NONE)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (is_in_any(tape, schema, lists[i], name, depth + 1))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
		uint32_t inner = json_find(tape, schema, schemas[i]);

		if (inner != JSON_NONE && has_property(tape, inner, name, depth + 1))
			return true;
	}
	return is_in_target(tape, schema, name, depth + 1);
}

/* Append the names of the properties at the root of @schema, for a person: `a, b`. */
static void write_property_names(const struct json_tape *schema, struct buffer *out)
{
	uint32_t properties = json_find_typed_at(schema, 0, "properties", JSON_OBJECT);
	const char *separator = "";

	if (properties == JSON_NONE)
		return;
	json_each_key(key, schema, properties) {
		buffer_append_string(out, separator);
		json_string_decode(schema, key, out);
		separator = ", ";
	}
}

static void check_trigger(const struct manifest_scope *scope, uint32_t token,
	const struct regex *trigger, const struct json_tape *schema)
{
	for (uint32_t i = 0; i < regex_n_groups(trigger); i++) {
		cleanup(buffer_deinit) struct buffer names = {0};
		const char *group = regex_group_name(trigger, i);

		if (has_property(schema, 0, group, 0))
			continue;
		write_property_names(schema, &names);
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token,
			"the group '%s' is no property of the argument schema, which has %s; "
			"give the group such a name, or none: (?:…)",
			group, buffer_terminate(&names) && names.size > 0 ? names.data : "none");
		return;
	}
}

int manifest_trigger_groups_check(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	uint32_t list = json_find(scope->tape, object, "triggers");
	size_t n = 0;

	if (list == JSON_NONE || tool->triggers.n_items == 0)
		return 0;
	if (json_tape_read(&schema, tool->argument_schema, strlen(tool->argument_schema),
		    2 * JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	json_each(at, scope->tape, list) {
		check_trigger(scope, at, &tool->triggers.items[n++], &schema);
	}
	return 0;
}
