/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/reading.h"
#include "call/native/rules.h"
#include "util/array.h"

/*
 * Reading the `native` object, key by key. Nothing there is ignored: a key is known and has its
 * shape, or is a mistake reported by name. The rules for several keys together are in
 * native/rules.c.
 */

#define INTEGER_WORDS   "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize"
#define NUMBER_WORDS    INTEGER_WORDS ", f32, f64"
#define BUFFER_WORDS    "str, bytes, json, array, strv"
#define NAMED_WORDS     "enum, flags"
#define VALUE_WORDS     NUMBER_WORDS ", " BUFFER_WORDS ", " NAMED_WORDS
#define RETURN_WORDS    "must be one of void, bool, " VALUE_WORDS
#define ITEM_WORDS      "must be one of " NUMBER_WORDS
#define PARAMETER_WORDS "must be one of bool, " VALUE_WORDS

static const char *const function_keys[] = {"symbol", "parameters", "returns", "enums", NULL};
static const char *const parameter_keys[] = {"name", "type", "description", "default", "dir",
	"nullable", "value", "length_of", "capacity", "items", "schema", "enum", "base", "transfer",
	"free", "size", "question", NULL};
static const char *const return_keys[] = {"type", "name", "description", "nullable", "transfer",
	"free", "errors", "length_of", "schema", "enum", "base", "items", "size", "question", NULL};

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

/* Read the type at @token of the object at @object, a parameter or a return value. @expected lists
 * the possible types. */
static int read_type(struct reading *reading, uint32_t object, const char *expected,
	struct native_parameter *parameter)
{
	static const char *const named[] = {"enum", "flags", NULL};
	static const char *const keys[] = {"enum", "base"};
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
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_find(reading->tape, object, keys[i]) != JSON_NONE)
			return reading_refuse(reading, json_find(reading->tape, object, keys[i]),
				"only an enum and flags have '%s', not %s", keys[i],
				native_type_name(parameter->type));
	return 0;
}

static int read_parameter_type(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	int r = read_type(reading, object, PARAMETER_WORDS, parameter);

	if (r == 0 && parameter->type == NATIVE_VOID)
		return reading_refuse(reading, json_find(reading->tape, object, "type"),
			"'void' is only for a return value");
	return r;
}

/* The type of an array's elements. */
static int read_items(struct reading *reading, uint32_t object, struct native_parameter *parameter)
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

static int read_direction(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	static const char *const directions[] = {"in", "out", "inout", NULL};
	uint32_t token = json_find(reading->tape, object, "dir");
	int direction;

	if (token == JSON_NONE)
		return 0;
	direction = reading_word(reading, token, directions);
	if (direction < 0)
		return reading_refuse_value(reading, token, "must be \"in\", \"out\" or \"inout\"");
	if (parameter->type == NATIVE_STRV && direction == NATIVE_INOUT)
		return reading_refuse(reading, token, "a strv is \"in\" or \"out\"");
	parameter->direction = (enum native_direction)direction;
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

static int read_constant(struct reading *reading, uint32_t object, const char *key, char **ret_json)
{
	uint32_t token = json_find(reading->tape, object, key);

	return token == JSON_NONE ? 0 : reading_json(reading, token, ret_json);
}

/* Read the members common to parameters and return values. */
static int read_common(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	int r = reading_member_text(
		reading, object, "description", "must be a text", &parameter->description);

	if (r == 0)
		r = reading_bool(reading, object, "nullable", &parameter->is_nullable);
	return r == 0 ? read_schema(reading, object, parameter) : r;
}

/* Read the owner of a value of the function: a returned pointer, or a written one. */
static int read_transfer(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	static const char *const transfers[] = {"none", "full", NULL};
	bool is_strv = parameter->type == NATIVE_STRV;
	uint32_t transfer = json_find(reading->tape, object, "transfer");
	uint32_t symbol = json_find(reading->tape, object, "free");
	int word = transfer == JSON_NONE ? 0 : reading_word(reading, transfer, transfers);

	if (word < 0)
		return reading_refuse_value(reading, transfer, "must be \"none\" or \"full\"");
	if (word == 0 && symbol != JSON_NONE)
		return reading_refuse(reading, symbol, "'free' needs \"transfer\": \"full\"");
	if (transfer != JSON_NONE && !is_strv && !native_is_buffer(parameter->type))
		return reading_refuse(reading, transfer,
			"only a str, json, bytes, array or strv can be handed over, not %s",
			native_parameter_word(parameter));
	if (transfer != JSON_NONE && parameter->direction != NATIVE_OUT)
		return reading_refuse(reading, transfer,
			"only a value that comes out can be handed over: '%s' has \"dir\": \"%s\"",
			parameter->name, native_direction_name(parameter->direction));
	parameter->is_handed =
		parameter->direction == NATIVE_OUT && (transfer != JSON_NONE || is_strv);
	if (word == 0)
		return 0;
	if (symbol != JSON_NONE)
		return reading_symbol(reading, symbol, "free", &parameter->free_symbol);
	parameter->free_symbol = strdup(is_strv ? "g_strfreev" : "free");
	return parameter->free_symbol ? 0 : -ENOMEM;
}

static void parameter_init(struct native_parameter *parameter)
{
	*parameter = (struct native_parameter){.length_of = NATIVE_NONE,
		.used_from = NATIVE_NONE,
		.capacity_from = NATIVE_NONE,
		.most = NATIVE_UNBOUNDED,
		.most_asked = NATIVE_UNBOUNDED};
}

static int read_parameter(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	uint32_t name;
	int r = reading_check_keys(
		reading, object, "must be an object that describes a parameter", parameter_keys);

	if (r)
		return r;
	name = json_find(reading->tape, object, "name");
	if (name == JSON_NONE)
		return reading_refuse(reading, object, "'name' is missing: the argument's key");
	if ((r = reading_name(reading, name, &parameter->name)) ||
		(r = read_parameter_type(reading, object, parameter)) ||
		(r = read_items(reading, object, parameter)) ||
		(r = read_direction(reading, object, parameter)) ||
		(r = read_transfer(reading, object, parameter)) ||
		(r = read_common(reading, object, parameter)) ||
		(r = read_constant(reading, object, "default", &parameter->default_json)))
		return r;
	return read_constant(reading, object, "value", &parameter->value_json);
}

static int read_parameters(
	struct reading *reading, uint32_t array, struct native_function *function)
{
	const struct json_tape *tape = reading->tape;
	uint32_t count;

	if (json_type_at(tape, array) != JSON_ARRAY)
		return reading_refuse_value(reading, array, "must be an array of parameters");
	count = json_count(tape, array);
	if (count > NATIVE_PARAMETERS_MAX)
		return reading_refuse(reading, array, "must have at most %d parameters, not %u",
			NATIVE_PARAMETERS_MAX, count);
	if (count == 0)
		return 0;
	function->parameters = calloc(count, sizeof(*function->parameters));
	if (!function->parameters)
		return -ENOMEM;
	json_each(i, tape, array) {
		struct native_parameter *parameter =
			&function->parameters[function->n_parameters++];
		int r;

		parameter_init(parameter);
		r = read_parameter(reading, i, parameter);
		if (r)
			return r;
	}
	return 0;
}

static int read_errors(struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t token = json_find(reading->tape, object, "errors");

	return token == JSON_NONE ? 0
				  : reading_rule(reading, token, function->returns.type,
					    &function->errors, &function->errors_number);
}

static int read_returns(struct reading *reading, uint32_t object, struct native_function *function)
{
	struct native_parameter *returns = &function->returns;
	uint32_t name;
	int r = reading_check_keys(
		reading, object, "must be an object that describes the return value", return_keys);

	if (r || (r = read_type(reading, object, RETURN_WORDS, returns)) ||
		(r = read_items(reading, object, returns)))
		return r;
	name = json_find(reading->tape, object, "name");
	if (name != JSON_NONE && returns->type == NATIVE_VOID)
		return reading_refuse(
			reading, name, "a function that returns void has nothing to name");
	function->drops_returned =
		name != JSON_NONE && json_type_at(reading->tape, name) == JSON_NULL;
	if (name != JSON_NONE && !function->drops_returned &&
		(r = reading_name(reading, name, &returns->name)))
		return r;
	if ((r = read_common(reading, object, returns)) ||
		(r = read_transfer(reading, object, returns)))
		return r;
	return read_errors(reading, object, function);
}

static int read_function(struct reading *reading, uint32_t object, struct native_function *function)
{
	const struct json_tape *tape = reading->tape;
	uint32_t symbol, parameters, returns;
	int r = reading_check_keys(
		reading, object, "must be an object that describes a C function", function_keys);

	if (r)
		return r;
	symbol = json_find(tape, object, "symbol");
	parameters = json_find(tape, object, "parameters");
	returns = json_find(tape, object, "returns");
	if (symbol == JSON_NONE)
		return reading_refuse(
			reading, object, "'symbol' is missing: the function's name in the library");
	if ((r = reading_symbol(reading, symbol, "symbol", &function->symbol)))
		return r;
	if (parameters != JSON_NONE && (r = read_parameters(reading, parameters, function)))
		return r;
	if (returns != JSON_NONE && (r = read_returns(reading, returns, function)))
		return r;
	if (!function->returns.name)
		function->returns.name = strdup("result");
	if (!function->returns.name)
		return -ENOMEM;
	return native_rules_apply(reading, parameters, returns, function);
}

static int read_whole(
	struct reading *reading, uint32_t object, struct native_function *ret_function)
{
	struct native_function function = {0};
	int r = 0;

	parameter_init(&function.returns);
	function.returns.direction = NATIVE_OUT;
	if (!reading->types && json_type_at(reading->tape, object) == JSON_OBJECT &&
		json_find(reading->tape, object, "enums") != JSON_NONE)
		r = native_types_read(
			reading->tape, object, &function.own_tables, reading->problems);
	function.tables = reading->types ? reading->types : function.own_tables;
	reading->types = function.tables;
	r = r ? r : read_function(reading, object, &function);
	if (r) {
		native_function_deinit(&function);
		return r;
	}
	*ret_function = function;
	return 0;
}

int native_function_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, struct native_function *ret_function,
	struct diagnostics *problems)
{
	struct reading reading = {.tape = tape, .problems = problems, .types = types};

	return read_whole(&reading, object, ret_function);
}

int native_step_function_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, struct native_function *ret_function,
	struct diagnostics *problems)
{
	struct reading reading = {
		.tape = tape, .problems = problems, .types = types, .is_step = true};

	return read_whole(&reading, object, ret_function);
}
