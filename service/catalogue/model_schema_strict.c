/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_schema.h"

#include "json/member.h"
#include "json/reader.h"

/* The rules of OpenAI's strict mode (Structured Outputs, Supported schemas). A schema against a
 * rule has the whole request refused, so a schema with anything outside of the mode's lists does
 * not count as strict. */

#define PROPERTIES_MAX  5000
#define LEVELS_MAX      10
#define ENUM_MAX        1000
#define NAMES_BYTES_MAX 120000 /* bytes of all names and values of enums */
#define LARGE_ENUM      250    /* values; all of a larger enum have ENUM_BYTES_MAX */
#define ENUM_BYTES_MAX  15000
#define MEMBERS_MAX     1000 /* in one object, as each is looked for in "required" */

struct strict {
	const struct json_tape *tape;
	size_t n_properties;
	size_t n_values;
	size_t names_bytes;
};

static bool is_allowed_key(const struct json_tape *tape, uint32_t key)
{
	static const char *const names[] = {"type", "properties", "required",
		"additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "title",
		"description", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minItems", "maxItems", NULL};

	return json_word_at(tape, key, names) >= 0;
}

static bool is_allowed_format(const struct json_tape *tape, uint32_t format)
{
	static const char *const names[] = {"date-time", "time", "date", "duration", "email",
		"hostname", "ipv4", "ipv6", "uuid", NULL};

	return format == JSON_NONE || json_word_at(tape, format, names) >= 0;
}

static bool is_strict(struct strict *strict, uint32_t schema, unsigned int level);

/* Whether the array @required has the name at @key. */
static bool is_required_key(const struct json_tape *tape, uint32_t required, uint32_t key)
{
	cleanup(buffer_deinit) struct buffer name = {0};

	json_string_decode(tape, key, &name);
	json_each(i, tape, required)
		if (json_string_equals(tape, i, buffer_text(&name), name.size))
			return true;
	return false;
}

/* Whether the object described by the schema has only its properties, all of them required. */
static bool is_strict_object(struct strict *strict, uint32_t schema, unsigned int level)
{
	const struct json_tape *tape = strict->tape;
	uint32_t properties = json_find(tape, schema, "properties");
	uint32_t required = json_find(tape, schema, "required");
	uint32_t additional = json_find(tape, schema, "additionalProperties");
	uint32_t n_properties;

	if (properties == JSON_NONE || additional == JSON_NONE ||
		json_type_at(tape, additional) != JSON_FALSE || level > LEVELS_MAX)
		return false;
	n_properties = json_count(tape, properties);
	strict->n_properties += n_properties;
	if (strict->n_properties > PROPERTIES_MAX || n_properties > MEMBERS_MAX)
		return false;
	if (required == JSON_NONE ? n_properties > 0 : json_count(tape, required) != n_properties)
		return false;
	json_each_key(key, tape, properties) {
		strict->names_bytes += json_at(tape, key)->length;
		if (!is_required_key(tape, required, key) || !is_strict(strict, key + 1, level + 1))
			return false;
	}
	return true;
}

/* Count the values of an enum. */
static bool is_small_enum(struct strict *strict, uint32_t values)
{
	const struct json_tape *tape = strict->tape;
	size_t bytes = 0;

	if (json_type_at(tape, values) != JSON_ARRAY)
		return false;
	json_each(i, tape, values)
		bytes += json_at(tape, i)->length;
	strict->n_values += json_count(tape, values);
	strict->names_bytes += bytes;
	return json_count(tape, values) <= LARGE_ENUM || bytes <= ENUM_BYTES_MAX;
}

static bool are_strict(struct strict *strict, uint32_t list, unsigned int level)
{
	const struct json_tape *tape = strict->tape;
	bool is_object = json_type_at(tape, list) == JSON_OBJECT;

	if (!is_object && json_type_at(tape, list) != JSON_ARRAY)
		return false;
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list);
		i = is_object ? json_next_key(tape, i) : json_next(tape, i))
		if (!is_strict(strict, is_object ? i + 1 : i, level))
			return false;
	return true;
}

/* Whether the schema at @schema, an object, gives the kind of its value: by a whole type, or by
 * other schemas. */
static bool has_kind(struct strict *strict, uint32_t schema, unsigned int level)
{
	const struct json_tape *tape = strict->tape;
	uint32_t type = json_find(tape, schema, "type");
	uint32_t items = json_find(tape, schema, "items");

	if (type == JSON_NONE)
		return json_find(tape, schema, "anyOf") != JSON_NONE ||
		       json_find(tape, schema, "$ref") != JSON_NONE;
	if (json_has_text(tape, type, "object"))
		return is_strict_object(strict, schema, level);
	if (json_find(tape, schema, "properties") != JSON_NONE)
		return false;
	if (json_is_text(tape, type, "array") || items != JSON_NONE)
		return items != JSON_NONE && is_strict(strict, items, level + 1);
	return true;
}

static bool is_strict(struct strict *strict, uint32_t schema, unsigned int level)
{
	const struct json_tape *tape = strict->tape;
	uint32_t values;
	uint32_t any;
	uint32_t definitions;

	if (json_type_at(tape, schema) != JSON_OBJECT || level > 2 * LEVELS_MAX)
		return false;
	json_each_key(key, tape, schema)
		if (!is_allowed_key(tape, key))
			return false;
	values = json_find(tape, schema, "enum");
	any = json_find(tape, schema, "anyOf");
	definitions = json_find(tape, schema, "$defs");
	return has_kind(strict, schema, level) &&
	       (values == JSON_NONE || is_small_enum(strict, values)) &&
	       (any == JSON_NONE || are_strict(strict, any, level)) &&
	       (definitions == JSON_NONE || are_strict(strict, definitions, level)) &&
	       is_allowed_format(tape, json_find(tape, schema, "format")) &&
	       strict->n_values <= ENUM_MAX && strict->names_bytes <= NAMES_BYTES_MAX;
}

bool model_schema_is_strict(const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct strict strict = {.tape = &tape};

	return json_tape_read(&tape, text, size, 2 * JSON_DEPTH_DEFAULT, NULL) == 0 &&
	       is_strict(&strict, 0, 1);
}
