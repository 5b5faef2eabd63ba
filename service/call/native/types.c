/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/reading.h"
#include "json/number.h"

/*
 * The tables of a toolbox:
 *
 *   "enums": {"level": {"low": 0, "medium": 1, "high": {"value": 2, "c": "LEVEL_HIGH"}}},
 *   "structs": {"point": {"fields": [{"name": "x", "type": "i32"}, {"name": "y", "type": "i32"}]}}
 *
 * Parameters and return values refer to them by name: {"type": "enum", "enum": "level"}.
 */

#define NUMBER_WORDS "must be an integer, or an object with its 'value' and its name in 'c'"

static int read_named_number(struct reading *reading, uint32_t token, struct native_named *named)
{
	int64_t number;

	if (json_type_at(reading->tape, token) != JSON_NUMBER)
		return reading_refuse_value(reading, token, NUMBER_WORDS);
	if (json_number_u64(reading->tape, token, &named->bits) == 0)
		return 0;
	if (json_number_i64(reading->tape, token, &number))
		return reading_refuse_value(
			reading, token, "must be an integer of at most 64 bits");
	named->bits = (uint64_t)number;
	named->is_negative = true;
	return 0;
}

/* Read the number at @token: itself, or the object of its value and its name in C. */
static int read_named(struct reading *reading, uint32_t token, struct native_named *named)
{
	static const char *const keys[] = {"value", "c", NULL};
	uint32_t value;
	int r;

	if (json_type_at(reading->tape, token) != JSON_OBJECT)
		return read_named_number(reading, token, named);
	r = reading_check_keys(reading, token, NUMBER_WORDS, keys);
	if (r)
		return r;
	value = json_find(reading->tape, token, "value");
	if (value == JSON_NONE)
		return reading_refuse(reading, token, "'value' is missing: the number");
	r = reading_member_text(reading, token, "c", "must be the number's name in C", &named->c);
	return r ? r : read_named_number(reading, value, named);
}

static int read_enum(struct reading *reading, uint32_t key, struct native_enum *enumeration)
{
	const struct json_tape *tape = reading->tape;
	uint32_t object = key + 1;
	uint32_t count;
	int r = reading_name(reading, key, &enumeration->name);

	if (r)
		return r;
	if (json_type_at(tape, object) != JSON_OBJECT)
		return reading_refuse_value(
			reading, object, "must be an object of names and numbers");
	count = json_count(tape, object);
	if (count == 0 || count > NATIVE_NAMES_MAX)
		return reading_refuse(reading, object, "must have 1 to %d names, not %u",
			NATIVE_NAMES_MAX, count);
	enumeration->values = calloc(count, sizeof(*enumeration->values));
	if (!enumeration->values)
		return -ENOMEM;
	json_each_key(at, tape, object) {
		struct native_named *named = &enumeration->values[enumeration->n_values++];

		r = reading_name(reading, at, &named->name);
		r = r ? r : read_named(reading, at + 1, named);
		if (r)
			return r;
	}
	return 0;
}

static int read_enums(struct reading *reading, uint32_t object, struct native_types *types)
{
	uint32_t enums = json_find(reading->tape, object, "enums");

	if (enums == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, enums) != JSON_OBJECT)
		return reading_refuse_value(
			reading, enums, "must be an object of enums by their names");
	types->enums = calloc(json_count(reading->tape, enums) + 1u, sizeof(*types->enums));
	if (!types->enums)
		return -ENOMEM;
	json_each_key(key, reading->tape, enums) {
		int r = read_enum(reading, key, &types->enums[types->n_enums++]);

		if (r)
			return r;
	}
	return 0;
}

static int read_structs(struct reading *reading, uint32_t object, struct native_types *types)
{
	uint32_t structs = json_find(reading->tape, object, "structs");

	if (structs == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, structs) != JSON_OBJECT)
		return reading_refuse_value(
			reading, structs, "must be an object of structs by their names");
	types->structs = calloc(json_count(reading->tape, structs) + 1u, sizeof(*types->structs));
	if (!types->structs)
		return -ENOMEM;
	json_each_key(key, reading->tape, structs) {
		struct native_struct structure = {0};
		int r = reading_struct(reading, key, &structure);

		/* It is in the table only when it is whole, so no struct is in itself. */
		types->structs[types->n_structs++] = structure;
		if (r)
			return r;
	}
	return 0;
}

int native_types_read(const struct json_tape *tape, uint32_t object,
	struct native_types **ret_types, struct diagnostics *problems)
{
	struct native_types *types = calloc(1, sizeof(*types));
	struct reading reading = {.tape = tape, .problems = problems, .types = types};
	int r = types ? read_enums(&reading, object, types) : -ENOMEM;

	r = r ? r : read_structs(&reading, object, types);
	if (r)
		native_types_free(types);
	else
		*ret_types = types;
	return r;
}
