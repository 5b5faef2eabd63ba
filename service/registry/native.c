/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/native.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/text.h"
#include "util/utf8.h"

/*
 * Reading the `native` object. Nothing in it is ignored: a key is known and has its shape, or is
 * known and not built yet, or is a mistake; and each of the three is told by name.
 */

/* How much of what came stands in a message, in code points. */
#define FOUND_POINTS_MAX 40

static const char *const type_names[] = {
	[NATIVE_VOID] = "void",
	[NATIVE_BOOL] = "bool",
	[NATIVE_I8] = "i8",
	[NATIVE_I16] = "i16",
	[NATIVE_I32] = "i32",
	[NATIVE_I64] = "i64",
	[NATIVE_U8] = "u8",
	[NATIVE_U16] = "u16",
	[NATIVE_U32] = "u32",
	[NATIVE_U64] = "u64",
	[NATIVE_ISIZE] = "isize",
	[NATIVE_USIZE] = "usize",
	[NATIVE_F32] = "f32",
	[NATIVE_F64] = "f64",
	[NATIVE_STR] = "str",
};

static const char *const error_names[] = {
	[NATIVE_ERRORS_NONE] = "none",
	[NATIVE_ERRORS_NEGATIVE] = "negative",
	[NATIVE_ERRORS_NONZERO] = "nonzero",
	[NATIVE_ERRORS_ZERO] = "zero",
	[NATIVE_ERRORS_NULL] = "null",
	[NATIVE_ERRORS_ERRNO] = "errno",
};

/* Words of DESIGN §3.1 that are kept for later: refused by name, so that a manifest that needs them
 * does not half work. */
static const char *const later_types[] = {"bytes", "json", "array", NULL};
static const char *const later_parameter_keys[] = {
	"length_of", "capacity", "items", "schema", NULL};
static const char *const later_return_keys[] = {"length_of", "items", "schema", NULL};

static const char *const function_keys[] = {"symbol", "parameters", "returns", NULL};
static const char *const parameter_keys[] = {
	"name", "type", "description", "default", "dir", "nullable", "value", NULL};
static const char *const return_keys[] = {
	"type", "name", "description", "nullable", "transfer", "free", "errors", NULL};
static const char *const no_keys[] = {NULL};

/* One reading: what is read, and where a mistake is noted. */
struct reading {
	const struct json_tape *tape;
	struct native_error *error;
};

const char *native_type_name(enum native_type type)
{
	return type_names[type];
}

const char *native_errors_name(enum native_errors errors)
{
	return error_names[errors];
}

/* Note the mistake at @token, unless memory is short. */
__attribute__((format(printf, 3, 4))) static int refuse(
	struct reading *reading, uint32_t token, const char *format, ...)
{
	va_list arguments;

	reading->error->token = token;
	buffer_reset(&reading->error->message);
	va_start(arguments, format);
	buffer_vprintf(&reading->error->message, format, arguments);
	va_end(arguments);
	buffer_terminate(&reading->error->message);
	return buffer_status(&reading->error->message) ? -ENOMEM : NATIVE_E_REFUSED;
}

/* As refuse, for a value of the wrong shape: @expected, then what came. */
static int refuse_value(struct reading *reading, uint32_t token, const char *expected)
{
	enum json_type type = json_type_at(reading->tape, token);
	size_t size, shown;
	const char *text = json_value_text(reading->tape, token, &size);

	if (type == JSON_ARRAY || type == JSON_OBJECT)
		return refuse(reading, token, "%s, not an %s", expected, json_type_name(type));
	shown = utf8_prefix(text, size, FOUND_POINTS_MAX);
	return refuse(reading, token, "%s, not %.*s%s", expected, (int)shown, text,
		shown < size ? "…" : "");
}

static bool is_listed(const struct reading *reading, uint32_t string, const char *const *names)
{
	for (; *names; names++)
		if (json_string_equals(reading->tape, string, *names, strlen(*names)))
			return true;
	return false;
}

/* The one of @names that was probably meant by the string at @string, or NULL. */
static const char *find_near(
	const struct reading *reading, uint32_t string, const char *const *names)
{
	const char *bytes = json_bytes(reading->tape, string);
	size_t size = json_at(reading->tape, string)->length;
	const char *nearest = NULL;
	unsigned int least = 0;
	unsigned int distance;

	for (; *names; names++) {
		if (!text_is_near(bytes, size, *names, strlen(*names), &distance))
			continue;
		if (!nearest || distance < least) {
			nearest = *names;
			least = distance;
		}
	}
	return nearest;
}

static int refuse_key(struct reading *reading, uint32_t key, const char *const *known)
{
	const char *meant = find_near(reading, key, known);
	const char *bytes = json_bytes(reading->tape, key);
	int shown = (int)utf8_prefix(bytes, json_at(reading->tape, key)->length, FOUND_POINTS_MAX);

	if (meant)
		return refuse(reading, key, "unknown key '%.*s'; did you mean '%s'?", shown, bytes,
			meant);
	return refuse(reading, key, "unknown key '%.*s'", shown, bytes);
}

/* Hold the keys of the object at @object against what is @known and what comes @later. */
static int check_keys(struct reading *reading, uint32_t object, const char *expected,
	const char *const *known, const char *const *later)
{
	const struct json_tape *tape = reading->tape;

	if (json_type_at(tape, object) != JSON_OBJECT)
		return refuse_value(reading, object, expected);
	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key)) {
		if (is_listed(reading, key, known))
			continue;
		if (is_listed(reading, key, later))
			return refuse(reading, key, "'%.*s' is not supported by this version",
				(int)json_at(tape, key)->length, json_bytes(tape, key));
		return refuse_key(reading, key, known);
	}
	return 0;
}

/* Copy the string at @token to *@ret_text. @expected says what it should be. */
static int read_text(struct reading *reading, uint32_t token, const char *expected, char **ret_text)
{
	size_t size;
	char *text;

	if (json_type_at(reading->tape, token) != JSON_STRING)
		return refuse_value(reading, token, expected);
	text = json_string_dup(reading->tape, token, &size);
	if (!text)
		return -ENOMEM;
	if (strlen(text) == size) {
		*ret_text = text;
		return 0;
	}
	free(text);
	return refuse(reading, token, "%s, without U+0000", expected);
}

/* As read_text; absent is left alone. */
static int read_optional_text(struct reading *reading, uint32_t object, const char *key,
	const char *expected, char **ret_text)
{
	uint32_t token = json_find(reading->tape, object, key);

	return token == JSON_NONE ? 0 : read_text(reading, token, expected, ret_text);
}

static int read_symbol(struct reading *reading, uint32_t token, const char *key, char **ret_symbol)
{
	int r = read_text(
		reading, token, "must be the name of a function in the library", ret_symbol);

	if (*ret_symbol && !**ret_symbol)
		return refuse(reading, token, "'%s' must not be empty", key);
	return r;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
			return false;
	return true;
}

static int read_name(struct reading *reading, uint32_t token, char **ret_name)
{
	static const char expected[] =
		"must be a name: a letter or '_', then letters, digits, '_' and '-'";
	int r = read_text(reading, token, expected, ret_name);

	if (*ret_name && !is_name(*ret_name))
		return refuse_value(reading, token, expected);
	return r;
}

static int read_bool(struct reading *reading, uint32_t object, const char *key, bool *ret_is_true)
{
	uint32_t token = json_find(reading->tape, object, key);

	if (token == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, token) > JSON_TRUE ||
		json_type_at(reading->tape, token) == JSON_NULL)
		return refuse_value(reading, token, "must be true or false");
	*ret_is_true = json_is_true(reading->tape, token);
	return 0;
}

/* The index in @names (@count of them) of the string at @token, or -1. */
static int find_word(
	const struct reading *reading, uint32_t token, const char *const *names, size_t count)
{
	if (json_type_at(reading->tape, token) != JSON_STRING)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (json_string_equals(reading->tape, token, names[i], strlen(names[i])))
			return (int)i;
	return -1;
}

/* The type of the parameter (or of the return value, then void too) at @object. */
static int read_type(
	struct reading *reading, uint32_t object, bool is_return, enum native_type *ret_type)
{
	static const char for_parameter[] = "must be one of bool, i8, i16, i32, i64, u8, u16, u32, "
					    "u64, isize, usize, f32, f64, str";
	static const char for_return[] = "must be one of void, bool, i8, i16, i32, i64, u8, u16, "
					 "u32, u64, isize, usize, f32, f64, str";
	uint32_t token = json_find(reading->tape, object, "type");
	int type;

	if (token == JSON_NONE)
		return refuse(reading, object, "'type' is missing: it %s",
			is_return ? for_return : for_parameter);
	type = find_word(reading, token, type_names, sizeof(type_names) / sizeof(*type_names));
	if (type == NATIVE_VOID && !is_return)
		return refuse(reading, token, "'void' is only for what a function returns");
	if (type >= 0) {
		*ret_type = (enum native_type)type;
		return 0;
	}
	if (json_type_at(reading->tape, token) == JSON_STRING &&
		is_listed(reading, token, later_types))
		return refuse(reading, token, "type '%.*s' is not supported by this version",
			(int)json_at(reading->tape, token)->length,
			json_bytes(reading->tape, token));
	return refuse_value(reading, token, is_return ? for_return : for_parameter);
}

static int check_direction(struct reading *reading, uint32_t object)
{
	static const char *const directions[] = {"in", "out", "inout"};
	uint32_t token = json_find(reading->tape, object, "dir");
	int direction;

	if (token == JSON_NONE)
		return 0;
	direction = find_word(reading, token, directions, 3);
	if (direction < 0)
		return refuse_value(reading, token, "must be \"in\"");
	if (direction > 0)
		return refuse(reading, token, "dir '%s' is not supported by this version",
			directions[direction]);
	return 0;
}

/* Copy the JSON text of the member @key, which must be a value that can be passed. */
static int read_constant(struct reading *reading, uint32_t object, const char *key,
	const struct native_parameter *parameter, char **ret_json)
{
	uint32_t token = json_find(reading->tape, object, key);
	const char *refusal;
	const char *text;
	size_t size;

	if (token == JSON_NONE)
		return 0;
	refusal = native_refusal(parameter, reading->tape, token);
	if (refusal)
		return refuse_value(reading, token, refusal);
	text = json_value_text(reading->tape, token, &size);
	*ret_json = strndup(text, size);
	return *ret_json ? 0 : -ENOMEM;
}

static int read_parameter(
	struct reading *reading, uint32_t object, struct native_parameter *parameter)
{
	const struct json_tape *tape = reading->tape;
	uint32_t name;
	int r = check_keys(reading, object, "must be an object that describes a parameter",
		parameter_keys, later_parameter_keys);

	if (r)
		return r;
	name = json_find(tape, object, "name");
	if (name == JSON_NONE)
		return refuse(reading, object, "'name' is missing: the argument's key");
	if ((r = read_name(reading, name, &parameter->name)) ||
		(r = read_type(reading, object, false, &parameter->type)) ||
		(r = check_direction(reading, object)) ||
		(r = read_optional_text(reading, object, "description", "must be a text",
			 &parameter->description)) ||
		(r = read_bool(reading, object, "nullable", &parameter->is_nullable)))
		return r;
	if (parameter->is_nullable && parameter->type != NATIVE_STR)
		return refuse(reading, json_find(tape, object, "nullable"),
			"only a 'str' can be nullable, '%s' is of type %s", parameter->name,
			type_names[parameter->type]);
	if ((r = read_constant(reading, object, "default", parameter, &parameter->default_json)) ||
		(r = read_constant(reading, object, "value", parameter, &parameter->value_json)))
		return r;
	if (parameter->default_json && parameter->value_json)
		return refuse(reading, json_find(tape, object, "default"),
			"a parameter with 'value' is always passed that: it cannot have a "
			"'default'");
	return 0;
}

static int check_unique(
	struct reading *reading, uint32_t object, const struct native_function *function, size_t at)
{
	const char *name = function->parameters[at].name;

	for (size_t i = 0; i < at; i++)
		if (strcmp(function->parameters[i].name, name) == 0)
			return refuse(reading, json_find(reading->tape, object, "name"),
				"parameters %zu and %zu are both called '%s'", i, at, name);
	return 0;
}

static int read_parameters(
	struct reading *reading, uint32_t array, struct native_function *function)
{
	const struct json_tape *tape = reading->tape;
	uint32_t count;

	if (json_type_at(tape, array) != JSON_ARRAY)
		return refuse_value(reading, array, "must be an array of parameters");
	count = json_count(tape, array);
	if (count > NATIVE_PARAMETERS_MAX)
		return refuse(reading, array, "must have at most %d parameters, not %u",
			NATIVE_PARAMETERS_MAX, count);
	if (count == 0)
		return 0;
	function->parameters = calloc(count, sizeof(*function->parameters));
	if (!function->parameters)
		return -ENOMEM;
	for (uint32_t i = json_first(tape, array); i < json_end(tape, array);
		i = json_next(tape, i)) {
		size_t at = function->n_parameters++;
		int r = read_parameter(reading, i, &function->parameters[at]);

		if (r == 0)
			r = check_unique(reading, i, function, at);
		if (r)
			return r;
	}
	return 0;
}

/* The text of the symbol that frees what was returned, when ownership is transferred. */
static int read_transfer(struct reading *reading, uint32_t object, struct native_function *function)
{
	static const char *const transfers[] = {"none", "full"};
	uint32_t transfer = json_find(reading->tape, object, "transfer");
	uint32_t symbol = json_find(reading->tape, object, "free");
	int word = transfer == JSON_NONE ? 0 : find_word(reading, transfer, transfers, 2);

	if (word < 0)
		return refuse_value(reading, transfer, "must be \"none\" or \"full\"");
	if (word == 0 && symbol != JSON_NONE)
		return refuse(reading, symbol, "'free' needs \"transfer\": \"full\"");
	if (word == 0)
		return 0;
	if (function->return_type != NATIVE_STR)
		return refuse(reading, transfer, "only a 'str' can be handed over, not %s",
			type_names[function->return_type]);
	if (symbol != JSON_NONE)
		return read_symbol(reading, symbol, "free", &function->free_symbol);
	function->free_symbol = strdup("free");
	return function->free_symbol ? 0 : -ENOMEM;
}

/* Whether the rule can be told from what is returned: the sign from numbers that have one. */
static bool rule_fits(enum native_errors errors, enum native_type type)
{
	switch (errors) {
	case NATIVE_ERRORS_NONE:
	case NATIVE_ERRORS_ERRNO:
		return true;
	case NATIVE_ERRORS_NEGATIVE:
		return (type >= NATIVE_I8 && type <= NATIVE_I64) || type == NATIVE_ISIZE ||
		       type == NATIVE_F32 || type == NATIVE_F64;
	case NATIVE_ERRORS_NONZERO:
	case NATIVE_ERRORS_ZERO:
		return type != NATIVE_VOID && type != NATIVE_STR;
	case NATIVE_ERRORS_NULL:
		return type == NATIVE_STR;
	}
	return false;
}

static int read_errors(struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t token = json_find(reading->tape, object, "errors");
	int errors;

	if (token == JSON_NONE)
		return 0;
	errors = find_word(reading, token, error_names, sizeof(error_names) / sizeof(*error_names));
	if (errors < 0)
		return refuse_value(reading, token,
			"must be one of none, negative, nonzero, zero, null, errno");
	function->errors = (enum native_errors)errors;
	if (!rule_fits(function->errors, function->return_type))
		return refuse(reading, token, "'%s' needs a %s, and the function returns %s",
			error_names[errors],
			errors == NATIVE_ERRORS_NULL       ? "str"
			: errors == NATIVE_ERRORS_NEGATIVE ? "signed number"
							   : "number",
			type_names[function->return_type]);
	return 0;
}

static int check_nullable_return(
	struct reading *reading, uint32_t object, const struct native_function *function)
{
	uint32_t nullable = json_find(reading->tape, object, "nullable");

	if (!function->return_is_nullable)
		return 0;
	if (function->return_type != NATIVE_STR)
		return refuse(reading, nullable, "only a 'str' can be nullable, not %s",
			type_names[function->return_type]);
	if (function->errors == NATIVE_ERRORS_NULL)
		return refuse(reading, nullable,
			"NULL cannot both be null ('nullable') and a failure (\"errors\": "
			"\"null\")");
	return 0;
}

static int read_returns(struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t name;
	int r = check_keys(reading, object, "must be an object that describes what is returned",
		return_keys, later_return_keys);

	if (r || (r = read_type(reading, object, true, &function->return_type)))
		return r;
	name = json_find(reading->tape, object, "name");
	if (name != JSON_NONE && function->return_type == NATIVE_VOID)
		return refuse(reading, name, "a function that returns void has nothing to name");
	if (name != JSON_NONE && (r = read_name(reading, name, &function->return_name)))
		return r;
	if ((r = read_optional_text(reading, object, "description", "must be a text",
		     &function->return_description)) ||
		(r = read_bool(reading, object, "nullable", &function->return_is_nullable)) ||
		(r = read_transfer(reading, object, function)) ||
		(r = read_errors(reading, object, function)))
		return r;
	return check_nullable_return(reading, object, function);
}

static int read_function(struct reading *reading, uint32_t object, struct native_function *function)
{
	const struct json_tape *tape = reading->tape;
	uint32_t symbol, parameters, returns;
	int r = check_keys(reading, object, "must be an object that describes a C function",
		function_keys, no_keys);

	if (r)
		return r;
	symbol = json_find(tape, object, "symbol");
	parameters = json_find(tape, object, "parameters");
	returns = json_find(tape, object, "returns");
	if (symbol == JSON_NONE)
		return refuse(
			reading, object, "'symbol' is missing: the function's name in the library");
	if ((r = read_symbol(reading, symbol, "symbol", &function->symbol)))
		return r;
	if (parameters != JSON_NONE && (r = read_parameters(reading, parameters, function)))
		return r;
	if (returns != JSON_NONE && (r = read_returns(reading, returns, function)))
		return r;
	if (function->return_name)
		return 0;
	function->return_name = strdup("result");
	return function->return_name ? 0 : -ENOMEM;
}

int native_function_read(const struct json_tape *tape, uint32_t object,
	struct native_function *ret_function, struct native_error *ret_error)
{
	struct reading reading = {.tape = tape, .error = ret_error};
	struct native_function function = {0};
	int r = read_function(&reading, object, &function);

	if (r) {
		native_function_deinit(&function);
		return r;
	}
	*ret_function = function;
	return 0;
}

void native_function_deinit(struct native_function *function)
{
	for (size_t i = 0; i < function->n_parameters; i++) {
		struct native_parameter *parameter = &function->parameters[i];

		free(parameter->name);
		free(parameter->description);
		free(parameter->default_json);
		free(parameter->value_json);
	}
	free(function->parameters);
	free(function->symbol);
	free(function->return_name);
	free(function->return_description);
	free(function->free_symbol);
	*function = (struct native_function){0};
}
