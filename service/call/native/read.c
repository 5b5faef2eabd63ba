/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/reading.h"
#include "call/native/rules.h"

/*
 * Reading the `native` object, key by key. Nothing there is ignored: a key is known and has its
 * shape, or is a mistake reported by name. The rules for several keys together are in
 * native/rules.c.
 */

#define NUMBER_WORDS    "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, f32, f64"
#define BUFFER_WORDS    "str, bytes, json, array"
#define RETURN_WORDS    "must be one of void, bool, " NUMBER_WORDS ", str, json"
#define ITEM_WORDS      "must be one of " NUMBER_WORDS
#define PARAMETER_WORDS "must be one of bool, " NUMBER_WORDS ", " BUFFER_WORDS

static const char *const function_keys[] = {"symbol", "parameters", "returns", NULL};
static const char *const parameter_keys[] = {"name", "type", "description", "default", "dir",
	"nullable", "value", "length_of", "capacity", "items", "schema", NULL};
static const char *const return_keys[] = {"type", "name", "description", "nullable", "transfer",
	"free", "errors", "length_of", "schema", NULL};

/* The type named by the string at @token; -1: none. */
static int find_type(const struct reading *reading, uint32_t token)
{
	const char *words[NATIVE_N_TYPES + 1] = {NULL};

	for (int type = 0; type < NATIVE_N_TYPES; type++)
		words[type] = native_type_name((enum native_type)type);
	return reading_word(reading, token, words);
}

static int read_parameter_type(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	uint32_t token = json_find(reading->tape, object, "type");
	int type;

	if (token == JSON_NONE)
		return reading_refuse(reading, object, "'type' is missing: it %s", PARAMETER_WORDS);
	type = find_type(reading, token);
	if (type < 0)
		return reading_refuse_value(reading, token, PARAMETER_WORDS);
	if (type == NATIVE_VOID)
		return reading_refuse(reading, token, "'void' is only for a return value");
	parameter->type = (enum native_type)type;
	return 0;
}

/* The type of an array's elements. */
static int read_items(struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	uint32_t token = json_find(reading->tape, object, "items");
	int type;

	if (parameter->type != NATIVE_ARRAY)
		return token == JSON_NONE
			       ? 0
			       : reading_refuse(reading, token,
					 "only an array has 'items', '%s' is of type %s",
					 parameter->name, native_type_name(parameter->type));
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
			native_type_name(parameter->type));
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

static int read_return_type(
	struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t token = json_find(reading->tape, object, "type");
	int type;

	if (token == JSON_NONE)
		return reading_refuse(reading, object, "'type' is missing: it %s", RETURN_WORDS);
	type = find_type(reading, token);
	if (type == NATIVE_BYTES || type == NATIVE_ARRAY)
		return reading_refuse(reading, token,
			"a function cannot return %s: its length would be unknown; use a parameter "
			"with \"dir\": \"out\"",
			native_type_name((enum native_type)type));
	if (type < 0)
		return reading_refuse_value(reading, token, RETURN_WORDS);
	function->returns.type = (enum native_type)type;
	return 0;
}

/* The symbol of the function to free a returned pointer, when ownership is transferred. */
static int read_transfer(struct reading *reading, uint32_t object, struct native_function *function)
{
	static const char *const transfers[] = {"none", "full", NULL};
	uint32_t transfer = json_find(reading->tape, object, "transfer");
	uint32_t symbol = json_find(reading->tape, object, "free");
	int word = transfer == JSON_NONE ? 0 : reading_word(reading, transfer, transfers);

	if (word < 0)
		return reading_refuse_value(reading, transfer, "must be \"none\" or \"full\"");
	if (word == 0 && symbol != JSON_NONE)
		return reading_refuse(reading, symbol, "'free' needs \"transfer\": \"full\"");
	if (word == 0)
		return 0;
	if (!native_is_text(function->returns.type))
		return reading_refuse(reading, transfer,
			"only a str or json can be handed over, not %s",
			native_type_name(function->returns.type));
	if (symbol != JSON_NONE)
		return reading_symbol(reading, symbol, "free", &function->free_symbol);
	function->free_symbol = strdup("free");
	return function->free_symbol ? 0 : -ENOMEM;
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

	if (r || (r = read_return_type(reading, object, function)))
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
		(r = read_transfer(reading, object, function)))
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
	int r;

	parameter_init(&function.returns);
	function.returns.direction = NATIVE_OUT;
	r = read_function(reading, object, &function);
	if (r) {
		native_function_deinit(&function);
		return r;
	}
	*ret_function = function;
	return 0;
}

int native_function_read(const struct json_tape *tape, uint32_t object,
	struct native_function *ret_function, struct diagnostics *problems)
{
	struct reading reading = {.tape = tape, .problems = problems};

	return read_whole(&reading, object, ret_function);
}

int native_step_function_read(const struct json_tape *tape, uint32_t object,
	struct native_function *ret_function, struct diagnostics *problems)
{
	struct reading reading = {.tape = tape, .problems = problems, .is_step = true};

	return read_whole(&reading, object, ret_function);
}
