/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/reading.h"
#include "call/native/rules.h"
#include "json/number.h"

/*
 * Reading the `native` object, key by key. Nothing there is ignored: a key is known and has its
 * shape, or is a mistake reported by name. The rules for several keys together are in
 * native/rules.c.
 */

#define INTEGER_WORDS   "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize"
#define NUMBER_WORDS    INTEGER_WORDS ", f32, f64"
#define BUFFER_WORDS    "str, bytes, json, array, strv"
#define NAMED_WORDS     "struct, enum, flags"
#define VALUE_WORDS     NUMBER_WORDS ", " BUFFER_WORDS ", " NAMED_WORDS
#define RETURN_WORDS    "must be one of void, bool, " VALUE_WORDS
#define PARAMETER_WORDS "must be one of bool, " VALUE_WORDS

static const char *const function_keys[] = {
	"symbol", "parameters", "returns", "variadic", "output", NULL};
static const char *const parameter_keys[] = {"name", "type", "description", "default", "dir",
	"nullable", "value", "length_of", "capacity", "items", "schema", "enum", "base", "transfer",
	"free", "size", "struct", "by", "format", "question", NULL};
static const char *const return_keys[] = {"type", "name", "description", "nullable", "transfer",
	"free", "errors", "length_of", "schema", "enum", "base", "items", "size", "struct", "by",
	"question", NULL};

static int read_parameter_type(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	int r = reading_type(reading, object, PARAMETER_WORDS, parameter);

	if (r == 0 && parameter->type == NATIVE_VOID)
		return reading_refuse(reading, json_find(reading->tape, object, "type"),
			"'void' is only for a return value");
	return r;
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

static int read_constant(struct reading *reading, uint32_t object, const char *key, char **ret_json)
{
	uint32_t token = json_find(reading->tape, object, key);

	return token == JSON_NONE ? 0 : reading_json(reading, token, ret_json);
}

/* Read how a struct is passed: as a value, by a pointer to memory of the host, or, of a struct that
 * comes out, by a pointer to a pointer. A returned struct is a value, or memory of the function. */
static int read_by(struct reading *reading, uint32_t object, struct native_parameter *parameter,
	bool is_parameter)
{
	static const char *const words[] = {"pointer", "value", NULL};
	const struct native_struct *structure = parameter->structure;
	uint32_t token = json_find(reading->tape, object, "by");
	int by = token == JSON_NONE ? -1 : reading_word(reading, token, words);

	if (!structure)
		return 0;
	if (token != JSON_NONE && by < 0)
		return reading_refuse_value(reading, token, "must be \"pointer\" or \"value\"");
	if (token != JSON_NONE && parameter->direction == NATIVE_INOUT)
		return reading_refuse(reading, token,
			"a struct that goes in and comes out is passed by its address: leave out "
			"'by'");
	if (by == 1 && is_parameter && parameter->direction == NATIVE_OUT)
		return reading_refuse(reading, token, "no value comes out of a parameter");
	parameter->is_by_value = by == 1;
	parameter->is_handed =
		is_parameter ? by == 0 && parameter->direction == NATIVE_OUT : by != 1;
	if (parameter->is_by_value && structure->size > NATIVE_BY_VALUE_BYTES_MAX)
		return reading_refuse(reading, token,
			"a struct of at most %d bytes is passed as a value; '%s' has %zu",
			NATIVE_BY_VALUE_BYTES_MAX, structure->name, structure->size);
	if (!parameter->is_handed && structure->is_partial &&
		(!structure->has_size || parameter->is_by_value))
		return reading_refuse(reading, json_find(reading->tape, object, "struct"),
			"the struct '%s' is partial: %s", structure->name,
			parameter->is_by_value ? "it cannot be passed as a value"
					       : "give its 'size', so that there is room for it");
	return 0;
}

/* Read the owner of a value of the function: a returned pointer, or a written one. */
static int read_transfer(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	static const char *const transfers[] = {"none", "full", NULL};
	bool is_strv = parameter->type == NATIVE_STRV;
	bool is_struct = parameter->type == NATIVE_STRUCT;
	uint32_t transfer = json_find(reading->tape, object, "transfer");
	uint32_t symbol = json_find(reading->tape, object, "free");
	int word = transfer == JSON_NONE ? 0 : reading_word(reading, transfer, transfers);

	if (word < 0)
		return reading_refuse_value(reading, transfer, "must be \"none\" or \"full\"");
	if (word == 0 && symbol != JSON_NONE)
		return reading_refuse(reading, symbol, "'free' needs \"transfer\": \"full\"");
	if (transfer != JSON_NONE && !is_strv && !is_struct && !native_is_buffer(parameter->type))
		return reading_refuse(reading, transfer,
			"only a str, json, bytes, array, strv or struct can be handed over, not %s",
			native_parameter_word(parameter));
	if (transfer != JSON_NONE && parameter->direction != NATIVE_OUT)
		return reading_refuse(reading, transfer,
			"only a value that comes out can be handed over: '%s' has \"dir\": \"%s\"",
			parameter->name, native_direction_name(parameter->direction));
	if (transfer != JSON_NONE && is_struct && !parameter->is_handed)
		return reading_refuse(reading, transfer,
			"only a struct by pointer, in memory of the function, can be handed over");
	if (!is_struct)
		parameter->is_handed =
			parameter->direction == NATIVE_OUT && (transfer != JSON_NONE || is_strv);
	if (word == 0)
		return 0;
	if (symbol != JSON_NONE)
		return reading_symbol(reading, symbol, "free", &parameter->free_symbol);
	parameter->free_symbol = strdup(is_strv ? "g_strfreev" : "free");
	return parameter->free_symbol ? 0 : -ENOMEM;
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
		(r = reading_items(reading, object, parameter)) ||
		(r = read_direction(reading, object, parameter)) ||
		(r = read_by(reading, object, parameter, true)) ||
		(r = read_transfer(reading, object, parameter)) ||
		(r = reading_common(reading, object, parameter)) ||
		(r = reading_bool(reading, object, "format", &parameter->is_format)) ||
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

		reading_init(parameter);
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

	if (r || (r = reading_type(reading, object, RETURN_WORDS, returns)) ||
		(r = reading_items(reading, object, returns)) ||
		(r = read_by(reading, object, returns, false)))
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
	if ((r = reading_common(reading, object, returns)) ||
		(r = read_transfer(reading, object, returns)))
		return r;
	return read_errors(reading, object, function);
}

static int read_variadic(struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t token = json_find(reading->tape, object, "variadic");
	uint64_t n_fixed;

	if (token == JSON_NONE)
		return 0;
	if (!json_read_u64(reading->tape, token, &n_fixed) || n_fixed == 0 ||
		n_fixed > function->n_parameters)
		return reading_refuse(reading, token,
			"must be the number of fixed parameters, from 1 to the %zu that are listed",
			function->n_parameters);
	function->is_variadic = true;
	function->n_fixed = (size_t)n_fixed;
	return 0;
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
	if ((r = read_variadic(reading, object, function)))
		return r;
	return native_rules_apply(reading, parameters, returns, function);
}

static int read_whole(
	struct reading *reading, uint32_t object, struct native_function *ret_function)
{
	struct native_function function = {.tables = reading->types};
	int r;

	reading_init(&function.returns);
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
