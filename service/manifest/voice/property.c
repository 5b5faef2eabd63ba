/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/voice/property.h"

#include "json/member.h"
#include "json/pointer.h"
#include "util/array.h"
#include "util/text/text_view.h"

/* References and alternatives are followed so deep. */
#define FOLLOWED_MAX 8

static bool has_property(
	const struct json_tape *tape, uint32_t schema, struct text_view name, int depth);

/* Return whether one of the schemas in the array at the member @key has the property @name. */
static bool is_in_any(const struct json_tape *tape, uint32_t schema, const char *key,
	struct text_view name, int depth)
{
	uint32_t list = json_find_typed_at(tape, schema, key, JSON_ARRAY);

	json_each_found(i, tape, list) {
		if (has_property(tape, i, name, depth))
			return true;
	}
	return false;
}

/* Return whether the target of `$ref`, if that stays in the document, has the property @name. */
static bool is_in_target(
	const struct json_tape *tape, uint32_t schema, struct text_view name, int depth)
{
	cleanup(buffer_deinit) struct buffer reference = {0};
	uint32_t target;

	return json_read_text(tape, json_find(tape, schema, "$ref"), &reference) &&
	       buffer_terminate(&reference) && reference.data[0] == '#' &&
	       json_pointer_find(tape, reference.data + 1, NULL, &target) &&
	       has_property(tape, target, name, depth);
}

/* Return whether an object of the schema at @schema may have the property @name by its own words:
 * `properties` there, in its alternatives or where its reference leads. */
static bool has_property(
	const struct json_tape *tape, uint32_t schema, struct text_view name, int depth)
{
	static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
	static const char *const schemas[] = {"then", "else"};
	uint32_t properties;

	if (depth > FOLLOWED_MAX || json_type_at(tape, schema) != JSON_OBJECT)
		return false;
	properties = json_find_typed_at(tape, schema, "properties", JSON_OBJECT);
	if (properties != JSON_NONE &&
		json_find_sized(tape, properties, name.text, name.size) != JSON_NONE)
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

bool property_is_declared(const struct json_tape *schema, const char *name, size_t size)
{
	return has_property(schema, 0, (struct text_view){name, size}, 0);
}

void property_write_names(const struct json_tape *schema, struct buffer *out)
{
	uint32_t properties = json_find_typed_at(schema, 0, "properties", JSON_OBJECT);
	const char *separator = "";

	json_each_key_found(key, schema, properties) {
		buffer_append_string(out, separator);
		json_string_decode(schema, key, out);
		separator = ", ";
	}
}
