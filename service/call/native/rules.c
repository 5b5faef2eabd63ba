/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/rules.h"

#include <errno.h>
#include <string.h>

#include "json/number.h"
#include "util/array.h"

/*
 * The rules for several keys together: the keys allowed by a direction or a type, the parameters
 * with the length or the capacity of a buffer, and the fit of constants.
 *
 *   {"name": "out",  "type": "bytes", "dir": "out", "capacity": "room"}   ◀─┐
 *   {"name": "room", "type": "u32"}                    holds the capacity ──┤
 *   {"name": "used", "type": "usize", "dir": "out", "length_of": "out"}  ───┘ holds the used length
 *
 * Names become indices here, once, and common bounds of several parameters are kept where they are
 * checked.
 */

/* Refuse the handle at @object of a tool with one function: no step would use the value. */
static int refuse_handle(struct reading *reading, uint32_t object)
{
	return reading_refuse(reading, json_find(reading->tape, object, "type"),
		"a handle never leaves a tool: write the functions that use it as 'steps' of one "
		"tool");
}

static int check_unique(
	struct reading *reading, const struct native_function *function, size_t at, uint32_t object)
{
	const char *name = function->parameters[at].name;

	for (size_t i = 0; i < at; i++)
		if (strcmp(function->parameters[i].name, name) == 0)
			return reading_refuse(reading, json_find(reading->tape, object, "name"),
				"parameters %zu and %zu are both called '%s'", i, at, name);
	return 0;
}

/* Refuse a description or a default of the parameter when its schema has its own. */
static int check_schema(
	struct reading *reading, uint32_t object, const struct native_parameter *parameter)
{
	static const char *const keys[] = {"description", "default"};
	uint32_t schema = json_find(reading->tape, object, "schema");

	for (size_t i = 0; parameter->schema_json && i < ARRAY_SIZE(keys); i++) {
		uint32_t token = json_find(reading->tape, object, keys[i]);

		if (token != JSON_NONE && json_find(reading->tape, schema, keys[i]) != JSON_NONE)
			return reading_refuse(reading, token,
				"'%s' is in the 'schema' too: give it once", keys[i]);
	}
	return 0;
}

/* Refuse the keys impossible for an `in`, an `out` or a hidden parameter. */
static int check_direction(
	struct reading *reading, uint32_t object, const struct native_parameter *parameter)
{
	const struct json_tape *tape = reading->tape;
	uint32_t value = json_find(tape, object, "value");
	uint32_t preset = json_find(tape, object, "default");
	uint32_t nullable = json_find(tape, object, "nullable");

	if (value && preset)
		return reading_refuse(reading, preset,
			"a parameter with 'value' is always passed this value: it cannot have a "
			"'default'");
	if (value && parameter->direction != NATIVE_IN)
		return reading_refuse(reading, value,
			"'value' is for input only, and '%s' has \"dir\": \"%s\"", parameter->name,
			native_direction_name(parameter->direction));
	if (preset && parameter->direction == NATIVE_OUT)
		return reading_refuse(reading, preset,
			"callers pass nothing for an \"out\" parameter: it cannot have a "
			"'default'");
	if (!parameter->is_nullable)
		return 0;
	if (parameter->is_by_value)
		return reading_refuse(reading, nullable, "a value cannot be NULL");
	if (parameter->is_handed)
		return 0;
	if (parameter->direction == NATIVE_OUT)
		return reading_refuse(reading, nullable,
			"callers pass nothing for an \"out\" parameter: it cannot be nullable");
	if (parameter->direction == NATIVE_IN && !native_is_pointer(parameter->type))
		return reading_refuse(reading, nullable,
			"only a value that is passed by pointer can be nullable (a str, bytes, "
			"json, array, strv or \"inout\"), '%s' is of type %s",
			parameter->name, native_parameter_word(parameter));
	return 0;
}

/* Return the index in @names of the string at @token, with or without a '$' before; -1: none. */
static int find_name(const struct reading *reading, uint32_t token, const char *const *names)
{
	const char *bytes = json_bytes(reading->tape, token);
	size_t size = json_at(reading->tape, token)->length;

	if (size == 0 || *bytes != '$')
		return reading_word(reading, token, names);
	for (int i = 0; names[i]; i++)
		if (strlen(names[i]) == size - 1 && memcmp(names[i], bytes + 1, size - 1) == 0)
			return i;
	return -1;
}

/* The index of the parameter named by the string at @token; NATIVE_RETURNS for the name of the
 * return value. */
static int find_parameter(struct reading *reading, const struct native_function *function,
	uint32_t token, const char *expected, int *ret_index)
{
	const char *names[NATIVE_PARAMETERS_MAX + 2] = {NULL};
	const char *meant;

	if (json_type_at(reading->tape, token) != JSON_STRING)
		return reading_refuse_value(reading, token, expected);
	for (size_t i = 0; i < function->n_parameters; i++)
		names[i] = function->parameters[i].name;
	if (native_is_buffer(function->returns.type))
		names[function->n_parameters] = function->returns.name;
	*ret_index = find_name(reading, token, names);
	if (*ret_index == (int)function->n_parameters)
		*ret_index = NATIVE_RETURNS;
	if (*ret_index != -1)
		return 0;
	meant = reading_near(reading, token, names);
	return meant ? reading_refuse(reading, token,
			       "there is no parameter of this name; did you mean '%s'?", meant)
		     : reading_refuse(reading, token, "there is no parameter of this name");
}

/* Record that @counter reports the used part of the buffer after the call. */
static int set_counter(struct reading *reading, uint32_t token,
	const struct native_function *function, struct native_parameter *buffer, int counter)
{
	if (buffer->used_from == NATIVE_NONE) {
		buffer->used_from = counter;
		return 0;
	}
	return reading_refuse(reading, token, "the length of '%s' is already in '%s'", buffer->name,
		buffer->used_from == NATIVE_RETURNS ? function->returns.name
						    : function->parameters[buffer->used_from].name);
}

/* Refuse other keys of a parameter filled in as a length. */
static int check_hidden(struct reading *reading, uint32_t object, const char *name)
{
	static const char *const keys[] = {"default", "value", "nullable", "capacity"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t token = json_find(reading->tape, object, keys[i]);

		if (token != JSON_NONE)
			return reading_refuse(reading, token,
				"'%s' is filled in, as a length: it cannot have '%s'", name,
				keys[i]);
	}
	return 0;
}

/* Return the buffer measured by @holder: a parameter, or the return value. */
static struct native_parameter *measured_by(
	struct native_function *function, const struct native_parameter *holder)
{
	return holder->length_of == NATIVE_RETURNS ? &function->returns
						   : &function->parameters[holder->length_of];
}

/* Return whether the buffer is memory of the function: returned, or handed over. */
static bool is_functions_own(
	const struct native_function *function, const struct native_parameter *buffer)
{
	return buffer->is_handed || buffer == &function->returns;
}

/* Check that @holder can hold a length, and that the parameter named there has one. */
static int find_measured(struct reading *reading, struct native_function *function, uint32_t token,
	struct native_parameter *holder)
{
	int r = find_parameter(
		reading, function, token, "must be the name of a parameter", &holder->length_of);
	const struct native_parameter *buffer;

	if (r)
		return r;
	buffer = measured_by(function, holder);
	if (!native_is_integer(holder->type) || holder->enumeration)
		return reading_refuse(reading, token, "only an integer holds a length, not %s",
			native_parameter_word(holder));
	if (!native_is_buffer(buffer->type))
		return reading_refuse(reading, token,
			"only a str, bytes, json or array has a length, '%s' is of type %s",
			buffer->name, native_parameter_word(buffer));
	return 0;
}

static int link_length(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	struct native_parameter *holder = &function->parameters[at];
	uint32_t token = json_find(reading->tape, object, "length_of");
	struct native_parameter *buffer;
	uint64_t most = native_integer_most(holder->type);
	int r;

	if (token == JSON_NONE)
		return 0;
	r = find_measured(reading, function, token, holder);
	if (r == 0)
		r = check_hidden(reading, object, holder->name);
	if (r)
		return r;
	buffer = measured_by(function, holder);
	if (is_functions_own(function, buffer) && holder->direction != NATIVE_OUT)
		return reading_refuse(reading, token,
			"'%s' is memory of the function: its length only comes out, by \"dir\": "
			"\"out\"",
			buffer->name);
	if (buffer->direction == NATIVE_IN && holder->direction == NATIVE_OUT)
		return reading_refuse(reading, token,
			"'%s' is input only: no length of it comes out", buffer->name);
	/* If the capacity of a text goes in, it counts the NUL. */
	if (native_is_text(buffer->type) && buffer->direction != NATIVE_IN)
		most--;
	if (holder->direction != NATIVE_OUT && most < buffer->most)
		buffer->most = most;
	if (holder->direction == NATIVE_IN || buffer->direction == NATIVE_IN)
		return 0;
	return set_counter(reading, token, function, buffer, (int)at);
}

static int link_returned_length(
	struct reading *reading, uint32_t object, struct native_function *function)
{
	uint32_t token = object ? json_find(reading->tape, object, "length_of") : JSON_NONE;
	struct native_parameter *buffer;
	int r;

	if (token == JSON_NONE)
		return 0;
	r = find_measured(reading, function, token, &function->returns);
	if (r)
		return r;
	buffer = measured_by(function, &function->returns);
	if (buffer->direction == NATIVE_IN)
		return reading_refuse(reading, token,
			"'%s' is input only: no length of it comes out", buffer->name);
	return set_counter(reading, token, function, buffer, NATIVE_RETURNS);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return the most elements of @buffer within @bytes and within the range of its lengths. A text has
 * its NUL, too. */
static uint64_t most_elements(const struct native_parameter *buffer, uint64_t bytes)
{
	uint64_t most = buffer->most;

	if (native_is_text(buffer->type) && most != NATIVE_UNBOUNDED)
		most++;
	return lesser(most, bytes / native_element_bytes(buffer));
}

static int read_capacity_number(
	struct reading *reading, uint32_t token, struct native_parameter *buffer)
{
	uint64_t most = most_elements(buffer, NATIVE_CAPACITY_BYTES_MAX);

	if (json_number_u64(reading->tape, token, &buffer->capacity) == 0 &&
		buffer->capacity >= 1 && buffer->capacity <= most)
		return 0;
	return reading_refuse(reading, token,
		"must be an integer from 1 to %llu (%s), or the name of an integer parameter",
		(unsigned long long)most, buffer->type == NATIVE_ARRAY ? "elements" : "bytes");
}

/* Let the integer parameter named by the string at @token hold the capacity of @buffer. */
static int link_capacity(struct reading *reading, uint32_t token, struct native_function *function,
	struct native_parameter *buffer)
{
	struct native_parameter *asked;
	int r = find_parameter(reading, function, token,
		"must be a number, or the name of an integer parameter", &buffer->capacity_from);

	if (r)
		return r;
	asked = &function->parameters[buffer->capacity_from];
	if (!native_is_integer(asked->type) || asked->enumeration ||
		asked->direction != NATIVE_IN || asked->length_of != NATIVE_NONE)
		return reading_refuse(reading, token,
			"a capacity must be an integer with \"dir\": \"in\" that is not a length, "
			"not '%s'",
			asked->name);
	asked->least_asked = 1;
	asked->most_asked =
		lesser(asked->most_asked, most_elements(buffer, NATIVE_ASKED_BYTES_MAX));
	return 0;
}

static int read_capacity(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	struct native_parameter *buffer = &function->parameters[at];
	uint32_t token = json_find(reading->tape, object, "capacity");
	bool is_written = native_is_buffer(buffer->type) && buffer->direction != NATIVE_IN;

	if (token != JSON_NONE && buffer->is_handed)
		return reading_refuse(reading, token,
			"'%s' is memory of the function, by its 'transfer': it has no 'capacity'",
			buffer->name);
	if (buffer->is_handed)
		return 0;
	if (token == JSON_NONE && is_written && buffer->direction == NATIVE_OUT)
		return reading_refuse(reading, object,
			"'capacity' is missing: how many %s the function may write to '%s', a "
			"number or the name of an integer parameter; or 'transfer', if it sets a "
			"pointer to memory of its own",
			buffer->type == NATIVE_ARRAY ? "elements" : "bytes", buffer->name);
	if (token == JSON_NONE)
		return 0;
	if (!is_written)
		return reading_refuse(reading, token,
			"only a str, bytes, json or array with \"dir\": \"out\" or \"inout\" has a "
			"capacity, '%s' is of type %s and dir %s",
			buffer->name, native_parameter_word(buffer),
			native_direction_name(buffer->direction));
	if (json_type_at(reading->tape, token) == JSON_NUMBER)
		return read_capacity_number(reading, token, buffer);
	return link_capacity(reading, token, function, buffer);
}

/* Read a factor of a size: a number, or the name of an integer. */
static int read_factor(struct reading *reading, uint32_t token, struct native_function *function,
	struct native_size *size)
{
	const struct native_parameter *factor;
	uint64_t number;
	int index = NATIVE_RETURNS;
	int r;

	if (json_type_at(reading->tape, token) == JSON_NUMBER) {
		if (json_number_u64(reading->tape, token, &number) == 0 && number > 0 &&
			!__builtin_mul_overflow(size->number, number, &size->number) &&
			size->number <= NATIVE_CAPACITY_BYTES_MAX)
			return 0;
		return reading_refuse(reading, token,
			"must be an integer from 1 to %u, as must be the product",
			NATIVE_CAPACITY_BYTES_MAX);
	}
	r = find_parameter(reading, function, token,
		"must be a number, the name of an integer parameter, or a list of them", &index);
	if (r)
		return r;
	if (index == NATIVE_RETURNS)
		return reading_refuse(reading, token, "only an integer is a size, not %s",
			native_parameter_word(&function->returns));
	factor = &function->parameters[index];
	if (!native_is_integer(factor->type) || factor->enumeration)
		return reading_refuse(reading, token, "only an integer is a size, not %s",
			native_parameter_word(factor));
	size->from[size->n_from++] = index;
	return 0;
}

/* Read the `size` of bytes or an array of the function, unless a parameter has its length. */
static int read_size(struct reading *reading, uint32_t object, struct native_function *function,
	struct native_parameter *buffer)
{
	const struct json_tape *tape = reading->tape;
	uint32_t token = object ? json_find(tape, object, "size") : JSON_NONE;
	bool is_sized = is_functions_own(function, buffer) &&
			(buffer->type == NATIVE_BYTES || buffer->type == NATIVE_ARRAY);
	bool is_list = token != JSON_NONE && json_type_at(tape, token) == JSON_ARRAY;
	uint32_t count = is_list ? json_count(tape, token) : 1;
	int r = 0;

	if (token == JSON_NONE && (!is_sized || buffer->used_from != NATIVE_NONE))
		return 0;
	if (token == JSON_NONE && reading->is_step)
		return reading_refuse(reading, object,
			"'size' is missing: how many %s '%s' has, a number, the name of an "
			"integer, as \"$name\", or a list of both",
			buffer->type == NATIVE_ARRAY ? "elements" : "bytes", buffer->name);
	if (token == JSON_NONE)
		return reading_refuse(reading, object,
			"'size' is missing: how many %s '%s' has, a number, the name of an integer "
			"parameter, or a list of factors; or a parameter with \"dir\": \"out\" and "
			"\"length_of\": \"%s\"",
			buffer->type == NATIVE_ARRAY ? "elements" : "bytes", buffer->name,
			buffer->name);
	if (!is_sized)
		return reading_refuse(reading, token,
			"only bytes and an array in memory of the function have a 'size'");
	if (buffer->used_from != NATIVE_NONE)
		return reading_refuse(reading, token, "the length of '%s' is already in '%s'",
			buffer->name,
			buffer->used_from == NATIVE_RETURNS
				? function->returns.name
				: function->parameters[buffer->used_from].name);
	if (count == 0 || count > NATIVE_FACTORS_MAX)
		return reading_refuse(reading, token, "must have 1 to %d factors, not %u",
			NATIVE_FACTORS_MAX, count);
	buffer->size.number = 1;
	for (uint32_t i = is_list ? json_first(tape, token) : token; r == 0 && count-- > 0;
		i = json_next(tape, i))
		r = read_factor(reading, i, function, &buffer->size);
	return r;
}

static int read_own_size(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	return read_size(reading, object, function, &function->parameters[at]);
}

/* Hold the constant of parameter @at against its type and what there is room for. */
static int check_constant(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	cleanup(buffer_deinit) struct buffer words = {0};
	const struct native_arguments nothing = {0};
	uint32_t token = json_find(reading->tape, object, "value");
	int r;

	if (token == JSON_NONE)
		token = json_find(reading->tape, object, "default");
	if (token == JSON_NONE)
		return 0;
	r = native_check_value(function, at, &nothing, reading->tape, token, &words);
	if (r <= 0)
		return r;
	return buffer_terminate(&words) ? reading_refuse_value(reading, token, words.data)
					: -ENOMEM;
}

/* Record the constant of a parameter for a capacity. It counts when a call gives no other
 * capacity. */
static int set_usual_capacity(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	uint32_t token = json_find(reading->tape, object, "value");
	uint64_t capacity;

	if (token == JSON_NONE)
		token = json_find(reading->tape, object, "default");
	if (token == JSON_NONE || json_type_at(reading->tape, token) != JSON_NUMBER ||
		json_number_u64(reading->tape, token, &capacity))
		return 0;
	for (size_t i = 0; i < function->n_parameters; i++)
		if (function->parameters[i].capacity_from == (int)at)
			function->parameters[i].capacity = capacity;
	return 0;
}

/* Results are members of one object, so their names must differ. */
static int check_result_name(
	struct reading *reading, uint32_t returns, const struct native_function *function)
{
	const char *name = function->returns.name;
	uint32_t token = returns ? json_find(reading->tape, returns, "name") : JSON_NONE;

	if (!native_has_returned(function))
		return 0;
	for (size_t i = 0; i < function->n_parameters; i++)
		if (native_is_result(&function->parameters[i]) &&
			strcmp(function->parameters[i].name, name) == 0)
			return reading_refuse(reading, token ? token : returns,
				"the return value and an \"out\" parameter are both called '%s': "
				"give 'returns' another 'name'",
				name);
	return 0;
}

/* Return whether the returned type can show the error: the sign needs a signed number. */
static bool rule_fits(enum native_errors errors, enum native_type type)
{
	switch (errors) {
	case NATIVE_ERRORS_NONE:
	case NATIVE_ERRORS_ERRNO:
	case NATIVE_ERRORS_GERROR:
		return true;
	case NATIVE_ERRORS_EQUALS:
	case NATIVE_ERRORS_NOT_EQUALS:
		return native_is_integer(type);
	case NATIVE_ERRORS_NEGATIVE:
		return native_is_signed(type);
	case NATIVE_ERRORS_NONZERO:
	case NATIVE_ERRORS_ZERO:
		return type != NATIVE_VOID && !native_is_pointer(type);
	case NATIVE_ERRORS_NULL:
		return native_is_pointer(type);
	}
	return false;
}

static int check_returns(
	struct reading *reading, uint32_t object, const struct native_function *function)
{
	const struct native_parameter *returns = &function->returns;
	uint32_t nullable = json_find(reading->tape, object, "nullable");

	if (!reading->is_step && returns->type == NATIVE_HANDLE)
		return refuse_handle(reading, object);
	if (!rule_fits(function->errors, returns->type) ||
		(function->errors == NATIVE_ERRORS_NULL && returns->is_by_value))
		return reading_refuse(reading, json_find(reading->tape, object, "errors"),
			"'%s' needs a %s, and the function returns %s",
			native_errors_name(function->errors),
			function->errors == NATIVE_ERRORS_NULL       ? "pointer"
			: function->errors == NATIVE_ERRORS_NEGATIVE ? "signed number"
								     : "number",
			native_type_name(returns->type));
	if (function->errors == NATIVE_ERRORS_GERROR && function->is_variadic)
		return reading_refuse(reading, json_find(reading->tape, object, "errors"),
			"a GError is appended to the arguments, and a variadic function has its "
			"own before the variable ones");
	if (!returns->is_nullable)
		return check_schema(reading, object, returns);
	if (!native_is_pointer(returns->type) || returns->is_by_value)
		return reading_refuse(reading, nullable, "only a pointer can be nullable, not %s",
			native_parameter_word(returns));
	if (function->errors == NATIVE_ERRORS_NULL)
		return reading_refuse(reading, nullable,
			"NULL cannot both be null ('nullable') and a failure (\"errors\": "
			"\"null\")");
	return check_schema(reading, object, returns);
}

/* Return the index of the last fixed str of a variadic function; NATIVE_NONE: none. */
static int last_fixed_text(const struct native_function *function)
{
	for (size_t i = function->n_fixed; function->is_variadic && i > 0; i--)
		if (function->parameters[i - 1].type == NATIVE_STR)
			return (int)i - 1;
	return NATIVE_NONE;
}

/* Return whether the text of a format has a directive %n, which writes to memory. */
static bool writes_memory(const char *text)
{
	while ((text = strchr(text, '%'))) {
		text++;
		text += strspn(text, "0123456789$-+ #'*.hlLqjztZIw");
		if (*text == 'n')
			return true;
		text += *text != '\0';
	}
	return false;
}

/* Hold the format of a variadic function: its last fixed str, a parameter of that name, and one
 * marked so. It decides which arguments are read, so no caller chooses it. */
static int check_format(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	const struct native_parameter *parameter = &function->parameters[at];
	uint32_t value = json_find(reading->tape, object, "value");
	uint32_t mark = json_find(reading->tape, object, "format");
	bool is_format =
		parameter->is_format || (function->is_variadic && parameter->type == NATIVE_STR &&
						(last_fixed_text(function) == (int)at ||
							strcmp(parameter->name, "format") == 0));
	cleanup_free char *text = NULL;

	if (mark != JSON_NONE && parameter->type != NATIVE_STR)
		return reading_refuse(reading, mark, "only a str is a format, not %s",
			native_parameter_word(parameter));
	if (!is_format)
		return 0;
	if (value == JSON_NONE || json_type_at(reading->tape, value) != JSON_STRING)
		return reading_refuse(reading, value != JSON_NONE ? value : object,
			"'%s' is the format of the variable arguments: it must be a constant "
			"('value')",
			parameter->name);
	text = json_string_dup(reading->tape, value, NULL);
	if (!text)
		return -ENOMEM;
	return writes_memory(text) ? reading_refuse(reading, value,
					     "a format must not have %%n, which writes to memory")
				   : 0;
}

/* One rule of parameters. */
typedef int rule(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at);

static int check_alone(
	struct reading *reading, uint32_t object, struct native_function *function, size_t at)
{
	int r = check_unique(reading, function, at, object);

	if (r == 0 && !reading->is_step && function->parameters[at].type == NATIVE_HANDLE)
		r = refuse_handle(reading, object);
	r = r ? r : check_format(reading, object, function, at);
	r = r ? r : check_schema(reading, object, &function->parameters[at]);
	return r ? r : check_direction(reading, object, &function->parameters[at]);
}

/* Each of these is applied to every parameter before the next: capacities are bounded by all
 * lengths, constants by all capacities. */
static rule *const rules[] = {
	check_alone, link_length, read_capacity, set_usual_capacity, check_constant};

static int apply(struct reading *reading, rule *apply_rule, uint32_t parameters,
	struct native_function *function)
{
	uint32_t object = parameters ? json_first(reading->tape, parameters) : JSON_NONE;

	for (size_t i = 0; i < function->n_parameters; i++) {
		int r = apply_rule(reading, object, function, i);

		if (r)
			return r;
		object = json_next(reading->tape, object);
	}
	return 0;
}

int native_rules_apply(struct reading *reading, uint32_t parameters, uint32_t returns,
	struct native_function *function)
{
	int r = returns ? check_returns(reading, returns, function) : 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rules); i++)
		r = apply(reading, rules[i], parameters, function);
	if (r == 0)
		r = link_returned_length(reading, returns, function);
	r = r ? r : apply(reading, read_own_size, parameters, function);
	if (r == 0)
		r = read_size(reading, returns, function, &function->returns);
	return r ? r : check_result_name(reading, returns, function);
}
