/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/diagnose.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/buffer.h"

/*
 * The call of a step is a function like the function of a tool, so the arguments are written as
 * `parameters` and read as such:
 *
 *   "$cookie"                                    {"name": "arg0", "type": "handle"}   (a variable)
 *   {"i32": 16}                                  {"name": "arg1", "type": "i32", "value": 16}
 *   {"out": {"name": "db", "type": "handle"}}    {"name": "db", "type": "handle", "dir": "out"}
 *   {"length_of": "$data", "type": "u32"}        {"name": "arg3", "type": "u32"}      (a count)
 *   {"value": "$db", "keeps": true}              as "$db"
 *
 * Values, capacities and sizes of other calls cannot be written so. They are in the sources.
 */

/* One call while it is read. */
struct making {
	struct program_reading *reading;
	const struct json_tape *tape;
	uint32_t args; /* JSON_NONE: no arguments */
	bool is_step;  /* the call of a step itself, not its finally or message */
	struct native_source *sources;
	struct buffer text;
};

static int refuse_argument(struct making *making, uint32_t token, const char *words)
{
	return reading_refuse_value(&making->reading->reading, token, words);
}

/* Return the description of an output at @token, an element of `args`; JSON_NONE: no output. */
static uint32_t output_at(const struct json_tape *tape, uint32_t token)
{
	uint32_t output;

	if (json_type_at(tape, token) != JSON_OBJECT)
		return JSON_NONE;
	output = json_find(tape, token, "out");
	if (output == JSON_NONE)
		output = json_find(tape, token, "inout");
	return output != JSON_NONE && json_type_at(tape, output) == JSON_OBJECT ? output
										: JSON_NONE;
}

/* Return the number of the output of this call named by the string `$name` at @token, or
 * NATIVE_NONE. */
static int find_output(const struct making *making, uint32_t token)
{
	const struct json_tape *tape = making->tape;
	int at = 0;

	if (making->args == JSON_NONE || json_type_at(tape, token) != JSON_STRING ||
		json_at(tape, token)->length < 2)
		return NATIVE_NONE;
	for (uint32_t i = json_first(tape, making->args); i < json_end(tape, making->args);
		i = json_next(tape, i), at++) {
		uint32_t output = output_at(tape, i);
		uint32_t name = output != JSON_NONE ? json_find(tape, output, "name") : JSON_NONE;

		if (name != JSON_NONE && json_type_at(tape, name) == JSON_STRING &&
			json_string_equals(tape, name, json_bytes(tape, token) + 1,
				json_at(tape, token)->length - 1))
			return at;
	}
	return NATIVE_NONE;
}

/* Append the member @key with the name at @token without its "$". */
static void write_bare_name(struct making *making, const char *key, uint32_t token)
{
	buffer_append_char(&making->text, ',');
	json_write_key(&making->text, key);
	json_write_string(&making->text, json_bytes(making->tape, token) + 1,
		json_at(making->tape, token)->length - 1);
}

/* Append the members of the object at @object but those in @without (NULL after the last). */
static void write_others(struct making *making, uint32_t object, const char *const *without)
{
	json_each_key(key, making->tape, object) {
		bool is_left_out = false;

		for (size_t i = 0; without[i]; i++)
			is_left_out |= json_string_equals(
				making->tape, key, without[i], strlen(without[i]));
		if (is_left_out)
			continue;
		buffer_append_char(&making->text, ',');
		json_write_compact(&making->text, making->tape, key);
		buffer_append_char(&making->text, ':');
		json_write_compact(&making->text, making->tape, key + 1);
	}
}

static void begin_argument(struct making *making, size_t at)
{
	buffer_printf(&making->text, "%s{\"name\":\"arg%zu\"", at > 0 ? "," : "", at);
}

/* Begin the parameter for the output at @output, which has its own name. */
static int begin_output(struct making *making, uint32_t output, size_t at)
{
	uint32_t name = json_find(making->tape, output, "name");

	if (name == JSON_NONE)
		return reading_refuse(&making->reading->reading, output,
			"'name' is missing: how later steps and the result call it");
	buffer_append_string(&making->text, at > 0 ? ",{\"name\":" : "{\"name\":");
	json_write_compact(&making->text, making->tape, name);
	return 0;
}

/* Append the type of the variable for a parameter that takes its value. */
static void write_passed_type(struct making *making, int variable)
{
	const struct native_variable *passed = variables_at(making->reading, variable);
	const struct native_parameter *type = variables_type(making->reading, variable);
	enum native_type word = passed->is_handle ? NATIVE_HANDLE : type->type;

	buffer_printf(&making->text, ",\"type\":\"%s\"", native_type_name(word));
	if (word == NATIVE_STRUCT)
		buffer_printf(&making->text, ",\"struct\":\"%s\"", type->structure->name);
	if (word == NATIVE_ARRAY)
		buffer_printf(&making->text, ",\"items\":\"%s\"", native_type_name(type->items));
	if (native_is_pointer(word))
		buffer_append_string(&making->text, ",\"nullable\":true");
}

/* Find the variable at @token, whose value can be passed. */
static int find_passed(struct making *making, uint32_t token, int *ret_variable)
{
	int r = variables_find(making->reading, token, ret_variable);

	if (r || variables_type(making->reading, *ret_variable))
		return r;
	return reading_refuse(&making->reading->reading, token,
		"what a 'repeat' has collected is only for the result");
}

static int write_name(struct making *making, uint32_t token, size_t at)
{
	struct native_source *source = &making->sources[at];
	int r = find_passed(making, token, &source->from);

	if (r)
		return r;
	source->kind = NATIVE_SOURCE_VALUE;
	begin_argument(making, at);
	write_passed_type(making, source->from);
	buffer_append_char(&making->text, '}');
	return 0;
}

/* A capacity: a number, or the name of an integer of another step. Append @stand_in for the value
 * of that integer. */
static int write_capacity(
	struct making *making, uint32_t output, const char *stand_in, struct native_source *source)
{
	uint32_t capacity = json_find(making->tape, output, "capacity");
	int r;

	if (capacity == JSON_NONE)
		return 0;
	if (json_type_at(making->tape, capacity) != JSON_STRING) {
		buffer_append_string(&making->text, ",\"capacity\":");
		json_write_compact(&making->text, making->tape, capacity);
		return 0;
	}
	r = find_passed(making, capacity, &source->capacity);
	if (r)
		return r;
	buffer_append_string(&making->text, stand_in);
	if (native_is_integer(variables_type(making->reading, source->capacity)->type))
		return 0;
	return refuse_argument(making, capacity, "must be a number or the name of an integer");
}

/* The length of another output of the same call. */
static int write_length(struct making *making, uint32_t output)
{
	uint32_t length = json_find(making->tape, output, "length_of");

	if (length == JSON_NONE)
		return 0;
	if (find_output(making, length) == NATIVE_NONE)
		return refuse_argument(making, length,
			"must be the name of an \"out\" or \"inout\" of the same call, as "
			"\"$name\"");
	write_bare_name(making, "length_of", length);
	return 0;
}

/* Append the factor at @factor of a size: a number, or an output of the same call. */
static int write_size_factor(struct making *making, uint32_t factor)
{
	if (json_type_at(making->tape, factor) != JSON_STRING) {
		json_write_compact(&making->text, making->tape, factor);
		return 0;
	}
	if (find_output(making, factor) == NATIVE_NONE)
		return refuse_argument(making, factor,
			"must be a number or the name of an \"out\" or \"inout\" of the same call, "
			"as \"$name\"");
	json_write_string(&making->text, json_bytes(making->tape, factor) + 1,
		json_at(making->tape, factor)->length - 1);
	return 0;
}

/* The size of a buffer that the function hands over: a factor or a list of them. */
static int write_handed_size(struct making *making, uint32_t output)
{
	uint32_t size = json_find(making->tape, output, "size");
	char before = '[';
	int r = 0;

	if (size == JSON_NONE)
		return 0;
	buffer_append_string(&making->text, ",\"size\":");
	if (json_type_at(making->tape, size) != JSON_ARRAY)
		return write_size_factor(making, size);
	if (json_count(making->tape, size) > NATIVE_FACTORS_MAX)
		return reading_refuse(&making->reading->reading, size, "must have 1 to %d factors",
			NATIVE_FACTORS_MAX);
	json_each_while(r == 0, i, making->tape, size) {
		buffer_append_char(&making->text, before);
		before = ',';
		r = write_size_factor(making, i);
	}
	buffer_append_string(&making->text, before == '[' ? "[]" : "]");
	return r;
}

/* Return whether the output at @output is memory for a handle. */
static bool is_memory(const struct making *making, uint32_t output)
{
	return json_member_is(making->tape, output, "type", "handle") &&
	       json_find(making->tape, output, "size") != JSON_NONE;
}

static int write_out(struct making *making, uint32_t output, size_t at)
{
	static const char *const own[] = {
		"name", "capacity", "length_of", "nullable", "value", "size", "keeps", NULL};
	static const char *const of_memory[] = {"name", "type", "capacity", "length_of", "nullable",
		"value", "size", "c", "keeps", NULL};
	bool is_given = is_memory(making, output);
	int r = begin_output(making, output, at);

	r = r ? r : write_capacity(making, output, ",\"capacity\":1", &making->sources[at]);
	r = r ? r : write_length(making, output);
	if (r)
		return r;
	if (!is_given)
		r = write_handed_size(making, output);
	if (r)
		return r;
	write_others(making, output, is_given ? of_memory : own);
	if (is_given) {
		buffer_append_string(&making->text, ",\"type\":\"bytes\",\"capacity\":");
		json_write_compact(
			&making->text, making->tape, json_find(making->tape, output, "size"));
	}
	buffer_append_string(&making->text, ",\"dir\":\"out\"}");
	return 0;
}

/* An inout: an out that begins with a value. */
static int write_inout(struct making *making, uint32_t output, size_t at)
{
	static const char *const own[] = {
		"name", "capacity", "length_of", "nullable", "value", "keeps", NULL};
	struct native_source *source = &making->sources[at];
	uint32_t value = json_find(making->tape, output, "value");
	bool is_named = value != JSON_NONE && json_type_at(making->tape, value) == JSON_STRING &&
			json_at(making->tape, value)->length > 0 &&
			json_bytes(making->tape, value)[0] == '$';
	bool has_length = json_find(making->tape, output, "length_of") != JSON_NONE;
	int r;

	if (value == JSON_NONE && !has_length)
		return write_out(making, output, at);
	r = begin_output(making, output, at);
	/* Without a capacity any value fits. Whether it fits the integer is known at the call. */
	r = r ? r : write_capacity(making, output, "", source);
	r = r ? r : write_length(making, output);
	if (r == 0 && is_named) {
		source->kind = NATIVE_SOURCE_VALUE;
		r = find_passed(making, value, &source->from);
	}
	if (r)
		return r;
	write_others(making, output, own);
	if (value != JSON_NONE && !is_named) {
		buffer_append_string(&making->text, ",\"default\":");
		json_write_compact(&making->text, making->tape, value);
	}
	buffer_append_string(&making->text, ",\"dir\":\"inout\"}");
	return 0;
}

/* A constant: {"TYPE": VALUE}, perhaps with `keeps`. */
static int write_constant(struct making *making, uint32_t token, size_t at)
{
	uint32_t key = json_first(making->tape, token);

	if (json_is_text(making->tape, key, "keeps"))
		key = json_next_key(making->tape, key);
	if (json_is_text(making->tape, key, "handle"))
		return refuse_argument(
			making, token, "a handle has no constant: write null for NULL");
	begin_argument(making, at);
	buffer_append_string(&making->text, ",\"type\":");
	json_write_compact(&making->text, making->tape, key);
	buffer_append_string(&making->text, ",\"value\":");
	json_write_compact(&making->text, making->tape, key + 1);
	buffer_append_char(&making->text, '}');
	return 0;
}

/* Append a number of the type at @type (JSON_NONE: usize), to be filled in. */
static int write_number(struct making *making, uint32_t type, size_t at)
{
	begin_argument(making, at);
	buffer_append_string(&making->text, ",\"type\":");
	if (type == JSON_NONE)
		buffer_append_string(&making->text, "\"usize\"");
	else
		json_write_compact(&making->text, making->tape, type);
	buffer_append_char(&making->text, '}');
	return 0;
}

/* {"length_of": "$x", "type": "u32"} */
static int write_count(struct making *making, uint32_t token, uint32_t measured, size_t at)
{
	static const char *const keys[] = {"length_of", "type", NULL};
	struct native_source *source = &making->sources[at];
	uint32_t type = json_find(making->tape, token, "type");
	const struct native_parameter *buffer;
	int r = reading_check_keys(&making->reading->reading, token, "must be an object", keys);

	if (r)
		return r;
	if (type == JSON_NONE)
		return reading_refuse(&making->reading->reading, token,
			"'type' is missing: the integer type of the length");
	if (find_output(making, measured) != NATIVE_NONE) {
		begin_argument(making, at);
		buffer_append_string(&making->text, ",\"type\":");
		json_write_compact(&making->text, making->tape, type);
		write_bare_name(making, "length_of", measured);
		buffer_append_char(&making->text, '}');
		return 0;
	}
	r = find_passed(making, measured, &source->from);
	if (r)
		return r;
	buffer = variables_type(making->reading, source->from);
	if (!native_is_buffer(buffer->type) ||
		variables_at(making->reading, source->from)->is_handle)
		return refuse_argument(making, measured,
			"must be the name of a str, bytes, json or array: nothing else has a "
			"length");
	source->kind = NATIVE_SOURCE_COUNT;
	return write_number(making, type, at);
}

/* {"size_of": "$x"} */
static int write_size(struct making *making, uint32_t token, uint32_t measured, size_t at)
{
	static const char *const keys[] = {"size_of", NULL};
	struct native_source *source = &making->sources[at];
	int r = reading_check_keys(&making->reading->reading, token, "must be an object", keys);
	int output = find_output(making, measured);

	if (r)
		return r;
	if (output != NATIVE_NONE) {
		*source = (struct native_source){NATIVE_SOURCE_OWN_BYTES, output, NATIVE_NONE};
		return write_number(making, JSON_NONE, at);
	}
	r = find_passed(making, measured, &source->from);
	if (r)
		return r;
	if (variables_type(making->reading, source->from)->type == NATIVE_STRV)
		return refuse_argument(making, measured, "must not be a strv: it has no one size");
	source->kind = NATIVE_SOURCE_BYTES;
	return write_number(making, JSON_NONE, at);
}

/* {"as": "u32", "value": "$n"} */
static int write_converted(struct making *making, uint32_t token, uint32_t type, size_t at)
{
	static const char *const keys[] = {"as", "value", NULL};
	struct native_source *source = &making->sources[at];
	uint32_t value = json_find(making->tape, token, "value");
	const struct native_parameter *from;
	int r = reading_check_keys(&making->reading->reading, token, "must be an object", keys);

	if (r)
		return r;
	if (value == JSON_NONE)
		return reading_refuse(&making->reading->reading, token,
			"'value' is missing: the name of the number, as \"$name\"");
	r = find_passed(making, value, &source->from);
	if (r)
		return r;
	from = variables_type(making->reading, source->from);
	if (variables_at(making->reading, source->from)->is_handle || native_is_pointer(from->type))
		return refuse_argument(making, value, "must be the name of a number");
	source->kind = NATIVE_SOURCE_CONVERTED;
	return write_number(making, type, at);
}

/* {"value": "$x", "keeps": true} */
static int write_kept_value(struct making *making, uint32_t token, uint32_t value, size_t at)
{
	static const char *const keys[] = {"value", "keeps", NULL};
	uint32_t keeps = json_find(making->tape, token, "keeps");
	int r = reading_check_keys(&making->reading->reading, token, "must be an object", keys);

	if (r == 0 && (keeps == JSON_NONE || json_type_at(making->tape, keeps) == JSON_FALSE))
		r = reading_refuse(&making->reading->reading, token,
			"an argument that is a value is \"$name\" itself: 'value' comes only with "
			"\"keeps\": true");
	return r ? r : write_name(making, value, at);
}

static int write_argument(struct making *making, uint32_t token, size_t at)
{
	static const struct {
		const char *key;
		int (*write)(struct making *making, uint32_t token, uint32_t value, size_t at);
	} forms[] = {{"length_of", write_count}, {"size_of", write_size}, {"as", write_converted},
		{"value", write_kept_value}};
	const struct json_tape *tape = making->tape;
	uint32_t n_keys;
	uint32_t output;
	uint32_t keeps;
	uint32_t value;
	bool is_out;

	if (json_type_at(tape, token) == JSON_STRING)
		return write_name(making, token, at);
	if (json_type_at(tape, token) == JSON_NULL) {
		begin_argument(making, at);
		buffer_append_string(
			&making->text, ",\"type\":\"str\",\"nullable\":true,\"value\":null}");
		return 0;
	}
	if (json_type_at(tape, token) != JSON_OBJECT || json_count(tape, token) == 0)
		return refuse_argument(making, token,
			"must be \"$name\", null, {\"TYPE\": CONSTANT}, or an object with 'out', "
			"'inout', 'length_of', 'size_of' or 'as'");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if ((value = json_find(tape, token, forms[i].key)) != JSON_NONE)
			return forms[i].write(making, token, value, at);
	keeps = json_find(tape, token, "keeps");
	output = json_find(tape, token, "out");
	is_out = output != JSON_NONE;
	if (!is_out)
		output = json_find(tape, token, "inout");
	if (keeps != JSON_NONE && output != JSON_NONE)
		return reading_refuse(&making->reading->reading, keeps,
			"the 'keeps' of an output is a key of its '%s', beside 'name'",
			is_out ? "out" : "inout");
	n_keys = json_count(tape, token) - (keeps != JSON_NONE ? 1 : 0);
	if (n_keys != 1)
		return reading_refuse(&making->reading->reading, token,
			"an argument is one of \"$name\", null, {\"TYPE\": CONSTANT}, 'out', "
			"'inout', 'length_of', 'size_of' and 'as': this has %s",
			n_keys == 0 ? "'keeps' alone" : "several keys");
	if (output == JSON_NONE)
		return write_constant(making, token, at);
	if (json_type_at(tape, output) != JSON_OBJECT)
		return refuse_argument(making, output, "must be an object with 'name' and 'type'");
	return is_out ? write_out(making, output, at) : write_inout(making, output, at);
}

static int write_call_arguments(struct making *making, size_t count)
{
	size_t at = 0;
	int r = 0;

	making->sources = calloc(count + 1, sizeof(*making->sources));
	if (!making->sources)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		making->sources[i] =
			(struct native_source){NATIVE_SOURCE_OWN, NATIVE_NONE, NATIVE_NONE};
	json_each_found_while(r == 0, i, making->tape, making->args)
		r = write_argument(making, i, at++);
	return r;
}

/* Return whether the type at the member `type` of @object can be NULL by itself. */
static bool may_be_null(const struct json_tape *tape, uint32_t object)
{
	static const char *const words[] = {
		"str", "json", "handle", "bytes", "array", "strv", "struct"};
	uint32_t type = json_find(tape, object, "type");

	for (size_t i = 0; type != JSON_NONE && i < ARRAY_SIZE(words); i++)
		if (json_type_at(tape, type) == JSON_STRING &&
			json_string_equals(tape, type, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Append the members of the returned value at @returns, each after a comma. */
static int write_returned_value(struct making *making, uint32_t returns)
{
	static const char *const with_null[] = {"message", "size", "length_of", "name", NULL, NULL};
	static const char *const without_null[] = {
		"message", "size", "length_of", "name", "nullable", NULL};
	uint32_t name = json_find(making->tape, returns, "name");
	uint32_t length = json_find(making->tape, returns, "length_of");
	bool is_void = json_member_is(making->tape, returns, "type", "void");

	if (name != JSON_NONE) {
		buffer_append_string(&making->text, ",\"name\":");
		json_write_compact(&making->text, making->tape, name);
	} else if (!is_void)
		buffer_append_string(&making->text, ",\"name\":null");
	if (length != JSON_NONE && find_output(making, length) == NATIVE_NONE)
		return refuse_argument(making, length,
			"must be the name of an \"out\" or \"inout\" of the same call, as "
			"\"$name\"");
	if (length != JSON_NONE)
		write_bare_name(making, "length_of", length);
	if (json_find(making->tape, returns, "size") != JSON_NONE)
		buffer_append_string(&making->text, ",\"size\":1");
	write_others(
		making, returns, may_be_null(making->tape, returns) ? with_null : without_null);
	return 0;
}

/* Append the whole function as the text of a native object. */
static int write_call_function(
	struct making *making, uint32_t object, uint32_t returns, bool is_message)
{
	static const char message[] =
		"],\"returns\":{\"type\":\"str\",\"name\":null,\"nullable\":true}}";
	size_t count = making->args == JSON_NONE ? 0 : json_count(making->tape, making->args);
	uint32_t variadic = json_find(making->tape, object, "variadic");
	size_t start;
	int r;

	buffer_append_string(&making->text, "{\"symbol\":");
	json_write_compact(&making->text, making->tape, json_find(making->tape, object, "call"));
	if (variadic != JSON_NONE) {
		buffer_append_string(&making->text, ",\"variadic\":");
		json_write_compact(&making->text, making->tape, variadic);
	}
	buffer_append_string(&making->text, ",\"parameters\":[");
	r = write_call_arguments(making, count);
	if (r || is_message || returns == JSON_NONE) {
		buffer_append_string(&making->text, is_message ? message : "]}");
		return r;
	}
	buffer_append_string(&making->text, "],\"returns\":{");
	start = making->text.size;
	r = write_returned_value(making, returns);
	if (buffer_status(&making->text) == 0 && making->text.size > start)
		making->text.data[start] = ' ';
	buffer_append_string(&making->text, "}}");
	return r;
}

/* Find the place in the manifest of a mistake at @pointer of the function made from the call. */
static uint32_t find_made_place(
	const struct making *making, uint32_t object, uint32_t returns, const char *pointer)
{
	unsigned int number;
	uint32_t at;

	if (returns != JSON_NONE && strncmp(pointer, "/returns", strlen("/returns")) == 0) {
		at = pointer[strlen("/returns")] == '/'
			     ? json_find(making->tape, returns, pointer + strlen("/returns/"))
			     : JSON_NONE;
		return at != JSON_NONE ? at : returns;
	}
	if (strcmp(pointer, "/variadic") == 0)
		return json_find(making->tape, object, "variadic");
	if (making->args == JSON_NONE || sscanf(pointer, "/parameters/%u", &number) != 1)
		return object;
	at = json_first(making->tape, making->args);
	for (; number > 0 && at < json_end(making->tape, making->args); number--)
		at = json_next(making->tape, at);
	return at < json_end(making->tape, making->args) ? at : making->args;
}

static int read_made(struct making *making, uint32_t object, uint32_t returns,
	struct native_function *ret_function)
{
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	cleanup(json_tape_cleanup) struct json_tape made = {0};
	int r = buffer_status(&making->text);

	r = r ? r
	      : json_tape_read(
			&made, making->text.data, making->text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		return reading_refuse(&making->reading->reading, object, "is nested too deep");
	r = r ? r
	      : native_step_function_read(
			&made, 0, making->reading->reading.types, ret_function, &found);
	for (size_t i = 0; i < found.n_items; i++)
		diagnose(making->reading->reading.problems, found.items[i].severity, making->tape,
			find_made_place(making, object, returns, found.items[i].pointer), "%s",
			found.items[i].text);
	return r;
}

/* Return whether an inout of the type @to may begin with the value of @variable: one of the same
 * type, or a number for a number. Else one of the two would be a pointer, and a pointer neither
 * comes from a caller nor leaves the tool. */
static bool may_begin_with(
	const struct making *making, const struct native_parameter *to, int variable)
{
	const struct native_parameter *from = variables_type(making->reading, variable);
	enum native_type type =
		variables_at(making->reading, variable)->is_handle ? NATIVE_HANDLE : from->type;

	if (!native_is_pointer(to->type) && !native_is_pointer(type))
		return true;
	return type == to->type && (type != NATIVE_STRUCT || from->structure == to->structure) &&
	       (type != NATIVE_ARRAY || from->items == to->items);
}

/* Refuse a size of parameter @at that is known only after the call. */
static int check_own_size(const struct making *making, const struct native_function *function,
	uint32_t token, size_t at)
{
	const struct native_parameter *measured = &function->parameters[making->sources[at].from];

	if (!measured->is_handed && measured->type != NATIVE_STRV)
		return 0;
	return reading_refuse(&making->reading->reading, json_find(making->tape, token, "size_of"),
		"'%s' has no size before the call: the function makes its memory", measured->name);
}

/* Check the value that the inout @at begins with. */
static int check_first_value(const struct making *making, const struct native_function *function,
	uint32_t token, size_t at)
{
	const struct native_parameter *parameter = &function->parameters[at];
	int variable = making->sources[at].from;

	if (parameter->direction != NATIVE_INOUT || may_begin_with(making, parameter, variable))
		return 0;
	return reading_refuse(&making->reading->reading,
		json_find(making->tape, output_at(making->tape, token), "value"),
		"'%s' begins with a value of its own type, %s, or with a number if it is one: '%s' "
		"is another type",
		parameter->name, native_type_name(parameter->type),
		variables_at(making->reading, variable)->name);
}

/* Return whether the function gets the address of memory of the frame for @parameter. */
static bool passes_memory(const struct native_parameter *parameter)
{
	if (parameter->direction != NATIVE_IN)
		return true;
	return native_is_pointer(parameter->type) && parameter->type != NATIVE_HANDLE &&
	       !parameter->is_by_value;
}

/* Read `keeps` of the argument at @token, which became @parameter. */
static int check_keeps(
	const struct making *making, const struct native_parameter *parameter, uint32_t token)
{
	struct program_reading *program = making->reading;
	struct reading *reading = &program->reading;
	uint32_t output = output_at(making->tape, token);
	uint32_t object = output != JSON_NONE ? output : token;
	uint32_t place = json_find(making->tape, object, "keeps");
	bool keeps = false;
	int r;

	if (place == JSON_NONE)
		return 0;
	if (!program->is_init)
		return reading_refuse(reading, place,
			"the memory of a tool ends with its call, so no function can keep it: let "
			"a step of 'init' make this call");
	r = reading_bool(reading, object, "keeps", &keeps);
	if (r || !keeps)
		return r;
	if (!making->is_step)
		return reading_refuse(reading, place,
			"only the call of a step itself can keep an argument, not its 'finally' or "
			"'message'");
	if (program->round != NATIVE_NONE)
		return reading_refuse(reading, place,
			"each round of a 'repeat' uses its memory again: what a function keeps "
			"belongs to a step of its own");
	if (!passes_memory(parameter))
		return reading_refuse(reading, place,
			"only memory is kept, and this argument is none: a number is passed as a "
			"copy, and a handle belongs to the library");
	program->program->keeps = true;
	return 0;
}

/* Check the sources against the types of the parameters of @function, made from them. */
static int check_sources(const struct making *making, const struct native_function *function)
{
	uint32_t token =
		making->args != JSON_NONE ? json_first(making->tape, making->args) : JSON_NONE;
	int r = 0;

	for (size_t i = 0; r == 0 && i < function->n_parameters; i++) {
		if (making->sources[i].kind == NATIVE_SOURCE_OWN_BYTES)
			r = check_own_size(making, function, token, i);
		else if (making->sources[i].kind == NATIVE_SOURCE_VALUE)
			r = check_first_value(making, function, token, i);
		r = r ? r : check_keeps(making, &function->parameters[i], token);
		token = json_next(making->tape, token);
	}
	return r;
}

int native_arguments_read(struct program_reading *reading, uint32_t object, uint32_t returns,
	bool is_message, struct native_invocation *ret_invocation)
{
	const struct json_tape *tape = reading->reading.tape;
	struct making making = {.reading = reading,
		.tape = tape,
		.args = json_find(tape, object, "args"),
		.is_step = ret_invocation == &reading->program->steps[reading->step].call};
	struct native_function function = {0};
	uint32_t call = json_find(tape, object, "call");
	int r = 0;

	if (call == JSON_NONE)
		r = reading_refuse(&reading->reading, object,
			"'call' is missing: the function's name in the library");
	else if (making.args != JSON_NONE && json_type_at(tape, making.args) != JSON_ARRAY)
		r = refuse_argument(&making, making.args, "must be an array of arguments");
	else if (making.args != JSON_NONE && json_count(tape, making.args) > NATIVE_PARAMETERS_MAX)
		r = reading_refuse(&reading->reading, making.args,
			"must have at most %d arguments, not %u", NATIVE_PARAMETERS_MAX,
			json_count(tape, making.args));
	else if (returns != JSON_NONE && json_type_at(tape, returns) != JSON_OBJECT)
		r = refuse_argument(
			&making, returns, "must be an object that describes the return value");
	r = r ? r : write_call_function(&making, object, returns, is_message);
	r = r ? r : read_made(&making, object, returns, &function);
	buffer_deinit(&making.text);
	r = r ? r : check_sources(&making, &function);
	if (r) {
		native_function_deinit(&function);
		free(making.sources);
		return r;
	}
	*ret_invocation = (struct native_invocation){function, making.sources, object};
	return 0;
}

int native_arguments_read_value(struct program_reading *reading, uint32_t object,
	const char *const *without, struct native_invocation *ret_invocation)
{
	struct making making = {.reading = reading, .tape = reading->reading.tape};
	struct native_function function = {0};
	size_t start;
	int r;

	buffer_append_string(&making.text, "{\"symbol\":\"read\",\"returns\":{");
	start = making.text.size;
	write_others(&making, object, without);
	if (json_find(making.tape, object, "struct") != JSON_NONE &&
		json_find(making.tape, object, "type") == JSON_NONE)
		buffer_append_string(&making.text, ",\"type\":\"struct\"");
	if (json_find(making.tape, object, "size") != JSON_NONE)
		buffer_append_string(&making.text, ",\"size\":1");
	if (buffer_status(&making.text) == 0 && making.text.size > start)
		making.text.data[start] = ' ';
	buffer_append_string(&making.text, "}}");
	r = read_made(&making, object, object, &function);
	buffer_deinit(&making.text);
	if (r == 0)
		*ret_invocation = (struct native_invocation){.function = function};
	return r;
}

static int set_output(struct program_reading *reading, uint32_t token, int at)
{
	const struct json_tape *tape = reading->reading.tape;
	const struct native_function *function =
		&reading->program->steps[reading->step].call.function;
	uint32_t output = output_at(tape, token);
	struct native_variable variable = {
		.frame = reading->step + 1,
		.at = at,
		.step = reading->step,
		.round = reading->round,
		.condition = reading->condition,
		.owner = NATIVE_NONE,
	};
	int r;

	if (output == JSON_NONE)
		return 0;
	r = reading_bool(&reading->reading, output, "nullable", &variable.is_nullable);
	variable.is_handle = function->parameters[at].type == NATIVE_HANDLE ||
			     json_find(tape, output, "c") != JSON_NONE ||
			     (json_find(tape, output, "size") != JSON_NONE &&
				     function->parameters[at].type == NATIVE_BYTES);
	return r ? r : variables_add(reading, json_find(tape, output, "name"), &variable);
}

int native_arguments_set(struct program_reading *reading, uint32_t object, uint32_t returns,
	const struct native_invocation *invocation)
{
	const struct json_tape *tape = reading->reading.tape;
	uint32_t args = object != JSON_NONE ? json_find(tape, object, "args") : JSON_NONE;
	uint32_t name = returns != JSON_NONE ? json_find(tape, returns, "name") : JSON_NONE;
	struct native_variable variable = {
		.frame = reading->step + 1,
		.at = NATIVE_RETURNS,
		.step = reading->step,
		.round = reading->round,
		.condition = reading->condition,
		.owner = NATIVE_NONE,
		.is_handle = invocation->function.returns.type == NATIVE_HANDLE,
	};
	int at = 0;
	int r = 0;

	json_each_found_while(r == 0, i, tape, args)
		r = set_output(reading, i, at++);
	if (r || name == JSON_NONE || json_type_at(tape, name) == JSON_NULL)
		return r;
	r = reading_bool(&reading->reading, returns, "nullable", &variable.is_nullable);
	return r ? r : variables_add(reading, name, &variable);
}

static bool has_same_value(
	const struct native_invocation *a, const struct native_invocation *b, size_t at)
{
	const char *left = a->function.parameters[at].value_json;
	const char *right = b->function.parameters[at].value_json;

	if (a->sources[at].kind != b->sources[at].kind ||
		a->sources[at].from != b->sources[at].from)
		return false;
	return left && right ? strcmp(left, right) == 0 : left == right;
}

bool native_invocation_equals(const struct native_invocation *a, const struct native_invocation *b)
{
	if (strcmp(a->function.symbol, b->function.symbol) != 0 ||
		a->function.n_parameters != b->function.n_parameters)
		return false;
	for (size_t i = 0; i < a->function.n_parameters; i++)
		if (!has_same_value(a, b, i))
			return false;
	return true;
}
