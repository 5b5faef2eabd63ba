/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "call/native/reading.h"
#include "util/array.h"

/* Reading the type of a value, wherever it is described: of a parameter, a return value, or a field
 * of a struct. */

#define INTEGER_WORDS "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize"
#define NUMBER_WORDS  INTEGER_WORDS ", f32, f64"
#define ITEM_WORDS    "must be one of " NUMBER_WORDS

/* The type named by the string at @token; -1: none. */
static int find_type(const struct reading *reading, uint32_t token)
{
	const char *words[NATIVE_N_TYPES + 1] = {NULL};

	for (int type = 0; type < NATIVE_N_TYPES; type++)
		words[type] = native_type_name((enum native_type)type);
	return reading_word(reading, token, words);
}

/* Find the table named by the member `enum` of the object at @object. */
static int find_enum(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	const struct native_types *types = reading->types;
	uint32_t token = json_find(reading->tape, object, "enum");

	if (token == JSON_NONE)
		return reading_refuse(reading, object,
			"'enum' is missing: the name of the table in 'enums' that names the "
			"numbers");
	for (size_t i = 0; types && i < types->n_enums; i++)
		if (json_type_at(reading->tape, token) == JSON_STRING &&
			json_string_equals(reading->tape, token, types->enums[i].name,
				strlen(types->enums[i].name))) {
			parameter->enumeration = &types->enums[i];
			return 0;
		}
	return reading_refuse_value(reading, token, "must be the name of a table in 'enums'");
}

/* Find the layout named by the member `struct` of the object at @object. A struct in another one is
 * listed before it. */
static int find_struct(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	const struct native_types *types = reading->types;
	uint32_t token = json_find(reading->tape, object, "struct");

	if (token == JSON_NONE)
		return reading_refuse(reading, object,
			"'struct' is missing: the name of its fields in 'structs'");
	for (size_t i = 0; types && i < types->n_structs; i++)
		if (json_type_at(reading->tape, token) == JSON_STRING &&
			json_string_equals(reading->tape, token, types->structs[i].name,
				strlen(types->structs[i].name))) {
			parameter->structure = &types->structs[i];
			return 0;
		}
	return reading_refuse_value(reading, token,
		"must be the name of a struct in 'structs', listed before it is used there");
}

/* Return whether the number fits the base of @parameter. Flags are bits, so without a sign. */
static bool fits_base(const struct native_parameter *parameter, const struct native_named *named)
{
	uint64_t most = native_integer_most(parameter->type);

	if (parameter->is_flags)
		return !named->is_negative && named->bits <= native_integer_mask(parameter->type);
	if (named->is_negative)
		return native_is_signed(parameter->type) && ~named->bits <= most;
	return named->bits <= most;
}

/* Read `enum` and `base` of an enum or flags. */
static int read_enumeration(
	struct reading *reading, uint32_t object, bool is_flags, struct native_parameter *parameter)
{
	uint32_t token = json_find(reading->tape, object, "base");
	int base = token == JSON_NONE ? (is_flags ? NATIVE_U32 : NATIVE_I32)
				      : find_type(reading, token);
	int r = find_enum(reading, object, parameter);

	if (r)
		return r;
	if (base < 0 || !native_is_integer((enum native_type)base))
		return reading_refuse_value(reading, token, "must be one of " INTEGER_WORDS);
	parameter->type = (enum native_type)base;
	parameter->is_flags = is_flags;
	for (size_t i = 0; i < parameter->enumeration->n_values; i++) {
		const struct native_named *named = &parameter->enumeration->values[i];

		if (!fits_base(parameter, named))
			return reading_refuse(reading, token != JSON_NONE ? token : object,
				"'%s' of the enum '%s' does not fit %s: give another 'base'",
				named->name, parameter->enumeration->name,
				native_type_name(parameter->type));
	}
	return 0;
}

int reading_type(struct reading *reading, uint32_t object, const char *expected,
	struct native_parameter *parameter)
{
	static const char *const named[] = {"enum", "flags", NULL};
	static const struct {
		const char *key;
		const char *owner;
	} keys[] = {{"enum", "an enum and flags have"}, {"base", "an enum and flags have"},
		{"struct", "a struct has"}, {"by", "a struct has"}};
	uint32_t token = json_find(reading->tape, object, "type");
	int word, type;

	if (token == JSON_NONE)
		return reading_refuse(reading, object, "'type' is missing: it %s", expected);
	word = reading_word(reading, token, named);
	if (word >= 0)
		return read_enumeration(reading, object, word == 1, parameter);
	type = find_type(reading, token);
	if (type < 0)
		return reading_refuse_value(reading, token, expected);
	parameter->type = (enum native_type)type;
	for (size_t i = parameter->type == NATIVE_STRUCT ? 4 : 0; i < ARRAY_SIZE(keys); i++)
		if (json_find(reading->tape, object, keys[i].key) != JSON_NONE)
			return reading_refuse(reading,
				json_find(reading->tape, object, keys[i].key),
				"only %s '%s', not %s", keys[i].owner, keys[i].key,
				native_type_name(parameter->type));
	return parameter->type == NATIVE_STRUCT ? find_struct(reading, object, parameter) : 0;
}

int reading_items(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	uint32_t token = json_find(reading->tape, object, "items");
	int type;

	if (parameter->type != NATIVE_ARRAY)
		return token == JSON_NONE
			       ? 0
			       : reading_refuse(reading, token, "only an array has 'items', not %s",
					 native_parameter_word(parameter));
	if (token == JSON_NONE)
		return reading_refuse(reading, object,
			"'items' is missing: the type of an array's elements %s", ITEM_WORDS);
	type = find_type(reading, token);
	if (type < NATIVE_I8 || type > NATIVE_F64)
		return reading_refuse_value(reading, token, ITEM_WORDS);
	parameter->items = (enum native_type)type;
	return 0;
}

/* The schema of a json's value. */
static int read_schema(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	uint32_t token = json_find(reading->tape, object, "schema");

	if (token == JSON_NONE)
		return 0;
	if (parameter->type != NATIVE_JSON)
		return reading_refuse(reading, token, "only a json has a 'schema', not %s",
			native_parameter_word(parameter));
	if (json_type_at(reading->tape, token) != JSON_OBJECT)
		return reading_refuse_value(reading, token, "must be an object, a JSON Schema");
	return reading_json(reading, token, &parameter->schema_json);
}

int reading_common(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	int r = reading_member_text(
		reading, object, "description", "must be a text", &parameter->description);

	if (r == 0)
		r = reading_bool(reading, object, "nullable", &parameter->is_nullable);
	return r == 0 ? read_schema(reading, object, parameter) : r;
}

void reading_init(struct native_parameter *parameter)
{
	*parameter = (struct native_parameter){.length_of = NATIVE_NONE,
		.used_from = NATIVE_NONE,
		.capacity_from = NATIVE_NONE,
		.most = NATIVE_UNBOUNDED,
		.most_asked = NATIVE_UNBOUNDED};
}
