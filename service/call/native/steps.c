/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/arguments.h"
#include "call/native/template.h"
#include "json/diagnose.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/stringify.h"

_Static_assert(NATIVE_ASKED_BYTES_MAX == 8388608, "as the mistake has it");

/*
 * The steps of a tool, read in the order in which they run.
 *
 *   {"call", "args", "returns", "when" | "unless", "finally"}
 *   {"read": "$handle", "type", "name", …}
 *   {"repeat": {"call", "args", "returns", "while"}, "max", "cut", "steps", "collect"}
 */

#define STEP_WORDS "must be an object with 'call', 'read' or 'repeat'"

/* The most rounds without a `max`. */
#define ROUNDS_USUAL 10000

static int refuse_step(struct program_reading *reading, uint32_t token, const char *words)
{
	return reading_refuse_value(&reading->reading, token, words);
}

static struct native_step *current(const struct program_reading *reading)
{
	return &reading->program->steps[reading->step];
}

/* ── what belongs to a call ──────────────────────────────────────────────────────────────────── */

static int new_invocation(struct native_invocation **ret_invocation)
{
	*ret_invocation = calloc(1, sizeof(**ret_invocation));
	return *ret_invocation ? 0 : -ENOMEM;
}

/* Read the enum named by the member `table` of the message at @token, whose names are the words. */
static int read_table(struct program_reading *reading, uint32_t token)
{
	static const char *const keys[] = {"table", NULL};
	const struct native_types *types = reading->reading.types;
	const struct json_tape *tape = reading->reading.tape;
	uint32_t table = json_find(tape, token, "table");
	struct native_step *step = current(reading);
	int r = reading_check_keys(&reading->reading, token, "must be a table", keys);

	if (r)
		return r;
	if (!native_is_integer(step->call.function.returns.type))
		return reading_refuse(&reading->reading, table,
			"a table names integers, and the function returns %s",
			native_type_name(step->call.function.returns.type));
	for (size_t i = 0; types && i < types->n_enums; i++)
		if (json_type_at(tape, table) == JSON_STRING &&
			json_string_equals(
				tape, table, types->enums[i].name, strlen(types->enums[i].name)))
			step->message_table = &types->enums[i];
	return step->message_table
		       ? 0
		       : refuse_step(reading, table, "must be the name of a table in 'enums'");
}

/* Return whether the string at @token is words, which have a blank, and not the name of a text. */
static bool is_words(const struct json_tape *tape, uint32_t token)
{
	return json_type_at(tape, token) == JSON_STRING && json_bytes(tape, token)[0] != '$' &&
	       memchr(json_bytes(tape, token), ' ', json_at(tape, token)->length);
}

/* Read `message` of the returned value at @returns: a call, a table, words or the name of a
 * text. */
static int read_message(struct program_reading *reading, uint32_t returns)
{
	static const char *const keys[] = {"call", "args", NULL};
	static const char words[] =
		"must be a call, words with a blank, or the name of a str, as \"$name\"";
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	uint32_t token = returns != JSON_NONE ? json_find(tape, returns, "message") : JSON_NONE;
	const struct native_parameter *type;
	int r;

	if (token == JSON_NONE)
		return 0;
	if (json_find(tape, token, "table") != JSON_NONE)
		return read_table(reading, token);
	if (json_type_at(tape, token) == JSON_OBJECT) {
		r = reading_check_keys(&reading->reading, token, "must be a call", keys);
		r = r ? r : new_invocation(&step->message);
		return r ? r
			 : native_arguments_read(reading, token, JSON_NONE, true, step->message);
	}
	if (is_words(tape, token))
		return reading_member_text(
			&reading->reading, returns, "message", words, &step->words);
	if (json_type_at(tape, token) != JSON_STRING || json_bytes(tape, token)[0] != '$')
		return refuse_step(reading, token, words);
	r = variables_find(reading, token, &step->message_variable);
	if (r)
		return r;
	type = variables_type(reading, step->message_variable);
	return type && type->type == NATIVE_STR ? 0 : refuse_step(reading, token, words);
}

/* Refuse the end of a handle of `init`, for every later call. */
static int check_process_handles(struct program_reading *reading, uint32_t finally,
	const struct native_invocation *invocation)
{
	uint32_t frees = json_find(reading->reading.tape, finally, "frees");

	if (frees != JSON_NONE && json_type_at(reading->reading.tape, frees) != JSON_FALSE)
		return refuse_step(reading, frees,
			"must be false: the call leaves a handle of 'init' as it is");
	for (size_t i = 0; frees == JSON_NONE && i < invocation->function.n_parameters; i++) {
		int from = invocation->sources[i].from;

		if (invocation->sources[i].kind == NATIVE_SOURCE_VALUE &&
			variables_is_process(reading, from) &&
			variables_at(reading, from)->is_handle)
			return reading_refuse(&reading->reading, finally,
				"a 'finally' that ends '%s' of 'init' would end it for every later "
				"call: if it does not, write \"frees\": false",
				variables_at(reading, from)->name);
	}
	return 0;
}

static bool sets_handle(const struct program_reading *reading)
{
	for (size_t i = 0; i < reading->program->n_variables; i++)
		if (reading->program->variables[i].step == reading->step &&
			reading->program->variables[i].owner == NATIVE_NONE &&
			reading->program->variables[i].is_handle)
			return true;
	return false;
}

/* Refuse the call at @token when it is the same as the finally of an earlier step: the handle would
 * be freed twice. */
static int check_twice(
	struct program_reading *reading, uint32_t token, const struct native_invocation *invocation)
{
	for (int i = 0; i < reading->step; i++) {
		const struct native_invocation *finally = reading->program->steps[i].finally;

		if (finally && native_invocation_equals(finally, invocation))
			return reading_refuse(&reading->reading, token,
				"the 'finally' of step %d makes the same call: what it frees would "
				"be freed twice, so leave one of them out",
				i);
	}
	return 0;
}

static int read_finally(struct program_reading *reading, uint32_t object)
{
	static const char *const keys[] = {"call", "args", "returns", "always", "frees", NULL};
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	uint32_t token = json_find(tape, object, "finally");
	int r;

	if (token == JSON_NONE)
		return 0;
	r = reading_check_keys(&reading->reading, token, "must be a call", keys);
	r = r ? r : new_invocation(&step->finally);
	r = r ? r
	      : native_arguments_read(
			reading, token, json_find(tape, token, "returns"), false, step->finally);
	r = r ? r : reading_bool(&reading->reading, token, "always", &step->is_always);
	r = r ? r : check_process_handles(reading, token, step->finally);
	r = r ? r : check_twice(reading, token, step->finally);
	if (r == 0 && step->is_always && !sets_handle(reading))
		return reading_refuse(&reading->reading, json_find(tape, token, "always"),
			"only a step that sets a handle can end it after its own failure");
	return r;
}

/* ── sizes ───────────────────────────────────────────────────────────────────────────────────── */

static int read_factor(
	struct program_reading *reading, uint32_t token, struct native_factor *factor)
{
	const struct native_parameter *type;
	int r;

	factor->variable = NATIVE_NONE;
	if (json_type_at(reading->reading.tape, token) == JSON_NUMBER &&
		json_number_u64(reading->reading.tape, token, &factor->number) == 0 &&
		factor->number <= NATIVE_ASKED_BYTES_MAX)
		return 0;
	if (json_type_at(reading->reading.tape, token) != JSON_STRING)
		return refuse_step(reading, token,
			"must be a number of at most 8388608, the name of an integer, or a list of "
			"both");
	r = variables_find(reading, token, &factor->variable);
	if (r)
		return r;
	type = variables_type(reading, factor->variable);
	return type && native_is_integer(type->type)
		       ? 0
		       : refuse_step(reading, token, "must be the name of an integer");
}

/* Read the `size` of returned bytes or of a returned array (rules.c asks for it): a factor or a
 * list of factors. */
static int read_size(struct program_reading *reading, uint32_t object)
{
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	uint32_t size = object != JSON_NONE ? json_find(tape, object, "size") : JSON_NONE;

	if (size == JSON_NONE)
		return 0;
	if (json_type_at(tape, size) != JSON_ARRAY) {
		step->n_size = 1;
		return read_factor(reading, size, &step->size[0]);
	}
	if (json_count(tape, size) == 0 || json_count(tape, size) > NATIVE_FACTORS_MAX)
		return reading_refuse(
			&reading->reading, size, "must have 1 to %d factors", NATIVE_FACTORS_MAX);
	json_each(i, tape, size) {
		int r = read_factor(reading, i, &step->size[step->n_size++]);

		if (r)
			return r;
	}
	return 0;
}

/* ── the three kinds of steps ────────────────────────────────────────────────────────────────── */

/* Read the call at @object, with the names that it sets. */
static int read_call(struct program_reading *reading, uint32_t object)
{
	struct native_step *step = current(reading);
	uint32_t returns = json_find(reading->reading.tape, object, "returns");
	int r = native_arguments_read(reading, object, returns, false, &step->call);

	r = r ? r : check_twice(reading, object, &step->call);
	r = r ? r : native_arguments_set(reading, object, returns, &step->call);
	r = r ? r : read_size(reading, returns);
	return r ? r : read_message(reading, returns);
}

static int read_call_step(struct program_reading *reading, uint32_t object)
{
	static const char *const keys[] = {
		"call", "args", "returns", "variadic", "when", "unless", "finally", NULL};
	int r = reading_check_keys(&reading->reading, object, STEP_WORDS, keys);

	r = r ? r : read_call(reading, object);
	return r ? r : read_finally(reading, object);
}

/* Refuse a read of more than the memory that an earlier step has given, if both sizes are known. */
static int check_memory(struct program_reading *reading, uint32_t object)
{
	const struct native_step *step = current(reading);
	const struct native_parameter *memory = variables_type(reading, step->read_from);
	const struct native_parameter *type = &step->call.function.returns;
	uint64_t bytes = native_element_bytes(type);

	if (memory->type != NATIVE_BYTES || native_is_text(type->type))
		return 0;
	for (size_t i = 0; i < step->n_size; i++) {
		if (step->size[i].variable != NATIVE_NONE)
			return 0;
		/* No factor makes it less, but for 0. */
		if (bytes <= memory->capacity || step->size[i].number == 0)
			bytes *= step->size[i].number;
	}
	return bytes <= memory->capacity
		       ? 0
		       : reading_refuse(&reading->reading, object,
				 "'%s' has %llu bytes, and the copy would have more",
				 variables_at(reading, step->read_from)->name,
				 (unsigned long long)memory->capacity);
}

/* Read a step that copies the value that a handle points at: like a function that returns this
 * pointer. */
static int read_read_step(struct program_reading *reading, uint32_t object)
{
	static const char *const keys[] = {"read", "type", "struct", "name", "description", "items",
		"size", "nullable", "schema", "when", "unless", NULL};
	static const char *const own[] = {"read", "when", "unless", "size", NULL};
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	uint32_t handle = json_find(tape, object, "read");
	uint32_t name = json_find(tape, object, "name");
	int r = reading_check_keys(&reading->reading, object, STEP_WORDS, keys);

	r = r ? r : variables_find(reading, handle, &step->read_from);
	if (r)
		return r;
	if (!variables_at(reading, step->read_from)->is_handle)
		return refuse_step(reading, handle, "must be the name of a handle");
	if (name == JSON_NONE)
		return reading_refuse(&reading->reading, object,
			"'name' is missing: how later steps and the result call the copy");
	step->operation = NATIVE_READ;
	r = native_arguments_read_value(reading, object, own, &step->call);
	r = r ? r : native_arguments_set(reading, JSON_NONE, object, &step->call);
	r = r ? r : read_size(reading, object);
	return r ? r : check_memory(reading, object);
}

/* ── repeat ──────────────────────────────────────────────────────────────────────────────────── */

/* Read `while`: the values with which a round begins. */
static int read_while(struct program_reading *reading, uint32_t repeat)
{
	static const char words[] =
		"must be \"not_null\", {\"equals\": NUMBER} or {\"not_equals\": NUMBER}";
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	enum native_type type = step->call.function.returns.type;
	uint32_t token = json_find(tape, repeat, "while");

	if (token == JSON_NONE)
		return reading_refuse(&reading->reading, repeat,
			"'while' is missing: the values with which another round begins: %s",
			words + strlen("must be "));
	if (json_is_text(tape, token, "not_null")) {
		step->fitting = NATIVE_ERRORS_NULL;
		return native_is_pointer(type)
			       ? 0
			       : reading_refuse(&reading->reading, token,
					 "'not_null' needs a handle, str or json, and the function "
					 "returns %s",
					 native_type_name(type));
	}
	if (json_type_at(tape, token) != JSON_OBJECT)
		return refuse_step(reading, token, words);
	return reading_rule(&reading->reading, token, type, &step->fitting, &step->fitting_number);
}

static int read_max(struct program_reading *reading, uint32_t object)
{
	uint32_t token = json_find(reading->reading.tape, object, "max");
	struct native_step *step = current(reading);
	uint64_t most;
	int r;

	step->max = ROUNDS_USUAL;
	if (token != JSON_NONE) {
		if (!json_read_u64(reading->reading.tape, token, &most) || most == 0 ||
			most > NATIVE_ROUNDS_MAX)
			return refuse_step(reading, token,
				"must be an integer from 1 to " STRINGIFY(NATIVE_ROUNDS_MAX));
		step->max = (uint32_t)most;
	}
	r = reading_bool(&reading->reading, object, "cut", &step->is_cut);
	reading->program->may_be_cut |= step->is_cut;
	return r;
}

/* Read `collect`, after the steps of the rounds. */
static int read_collect(struct program_reading *reading, uint32_t object, size_t at)
{
	static const char *const keys[] = {"name", "of", NULL};
	const struct json_tape *tape = reading->reading.tape;
	uint32_t token = json_find(tape, object, "collect");
	cleanup(buffer_deinit) struct buffer schema = {0};
	struct native_step *step = &reading->program->steps[at];
	struct native_variable variable = {
		.frame = (int)at + 1,
		.at = NATIVE_COLLECTED,
		.step = (int)at,
		.round = NATIVE_NONE,
		/* Without a run of the repeat the list is empty. */
		.condition = {.variable = NATIVE_NONE},
		.owner = NATIVE_NONE,
	};
	uint32_t name, of;
	int r;

	if (token == JSON_NONE)
		return 0;
	if (reading->is_init)
		return reading_refuse(&reading->reading, token,
			"what a 'repeat' has collected is only for the result, and 'init' has "
			"none");
	r = reading_check_keys(
		&reading->reading, token, "must be an object with 'name' and 'of'", keys);
	if (r)
		return r;
	name = json_find(tape, token, "name");
	of = json_find(tape, token, "of");
	if (name == JSON_NONE || of == JSON_NONE)
		return reading_refuse(&reading->reading, token, "'%s' is missing: %s",
			name == JSON_NONE ? "name" : "of",
			name == JSON_NONE ? "how the result calls the list"
					  : "what each round adds to the list");
	r = native_template_read(reading, of, &schema, &step->of);
	if (r)
		return r;
	step->of_schema = buffer_take(&schema, NULL);
	if (!step->of_schema)
		return -ENOMEM;
	r = variables_add(reading, name, &variable);
	step->collected = (int)reading->program->n_variables - 1;
	return r;
}

static int read_step_list(struct program_reading *reading, uint32_t steps);

/* Read a repeat at @object, with the steps of its rounds. */
static int read_repeat_step(struct program_reading *reading, uint32_t object)
{
	static const char *const keys[] = {
		"repeat", "max", "cut", "steps", "collect", "when", "unless", NULL};
	static const char *const call_keys[] = {
		"call", "args", "returns", "variadic", "while", NULL};
	const struct json_tape *tape = reading->reading.tape;
	struct native_step *step = current(reading);
	uint32_t repeat = json_find(tape, object, "repeat");
	uint32_t steps = json_find(tape, object, "steps");
	int at = reading->step;
	int r;

	if (reading->round != NATIVE_NONE)
		return reading_refuse(&reading->reading, object,
			"a repeat within a repeat is not possible: write two tools, or one in C");
	r = reading_check_keys(&reading->reading, object, STEP_WORDS, keys);
	r = r ? r
	      : reading_check_keys(
			&reading->reading, repeat, "must be a call with 'while'", call_keys);
	if (r)
		return r;
	step->operation = NATIVE_REPEAT;
	reading->round_condition = reading->condition;
	reading->condition = (struct native_condition){.variable = NATIVE_NONE};
	reading->round = at;
	r = read_call(reading, repeat);
	r = r ? r : read_while(reading, repeat);
	r = r ? r : read_max(reading, object);
	if (r == 0 && steps != JSON_NONE)
		r = read_step_list(reading, steps);
	reading->step = at;
	reading->condition = (struct native_condition){.variable = NATIVE_NONE};
	r = r ? r : read_collect(reading, object, (size_t)at);
	step->end = reading->program->n_steps;
	reading->round = NATIVE_NONE;
	reading->round_condition = (struct native_condition){.variable = NATIVE_NONE};
	return r;
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

static int read_step(struct program_reading *reading, uint32_t object)
{
	static const struct {
		const char *key;
		int (*read)(struct program_reading *reading, uint32_t object);
	} kinds[] = {
		{"call", read_call_step}, {"read", read_read_step}, {"repeat", read_repeat_step}};
	const struct json_tape *tape = reading->reading.tape;
	struct native_program *program = reading->program;
	struct native_step *step;
	int r;

	if (program->n_steps == NATIVE_STEPS_MAX)
		return reading_refuse(&reading->reading, object,
			"must be one of at most %d steps, with the steps of rounds",
			NATIVE_STEPS_MAX);
	reading->step = (int)program->n_steps++;
	step = current(reading);
	step->round = reading->round;
	step->read_from = step->message_variable = step->collected = NATIVE_NONE;
	if (json_type_at(tape, object) != JSON_OBJECT)
		return refuse_step(reading, object, STEP_WORDS);
	reading->condition = (struct native_condition){.variable = NATIVE_NONE};
	r = variables_read_condition(reading, object, &step->condition);
	if (r)
		return r;
	reading->condition = step->condition;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (json_find(tape, object, kinds[i].key) != JSON_NONE)
			return kinds[i].read(reading, object);
	return refuse_step(reading, object, STEP_WORDS);
}

static int read_step_list(struct program_reading *reading, uint32_t steps)
{
	const struct json_tape *tape = reading->reading.tape;

	if (json_type_at(tape, steps) != JSON_ARRAY || json_count(tape, steps) == 0)
		return refuse_step(reading, steps, "must be an array of at least one step");
	json_each(i, tape, steps) {
		int r = read_step(reading, i);

		if (r)
			return r;
	}
	return 0;
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Refuse the keys of a parameter with steps that belong to the arguments of a step. */
static int check_parameter_keys(struct program_reading *reading, uint32_t parameters)
{
	static const char *const keys[] = {"dir", "value", "length_of", "capacity"};
	const struct json_tape *tape = reading->reading.tape;

	if (parameters == JSON_NONE || json_type_at(tape, parameters) != JSON_ARRAY)
		return 0;
	json_each(i, tape, parameters)
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			uint32_t token = json_find(tape, i, keys[k]);

			if (token != JSON_NONE)
				return reading_refuse(&reading->reading, token,
					"in a tool with 'steps' the parameters are what callers "
					"give: '%s' belongs to the arguments of a step",
					keys[k]);
		}
	return 0;
}

/* Find the place in the manifest of a mistake at @pointer of the parameters. */
static uint32_t find_parameter_place(
	const struct json_tape *tape, uint32_t parameters, const char *pointer)
{
	static const char head[] = "/parameters/";
	const char *rest;
	unsigned long number;
	uint32_t at, member;

	if (strncmp(pointer, head, strlen(head)) != 0)
		return parameters;
	number = strtoul(pointer + strlen(head), (char **)&rest, 10);
	at = json_first(tape, parameters);
	for (; number > 0 && at < json_end(tape, parameters); number--)
		at = json_next(tape, at);
	if (at >= json_end(tape, parameters))
		return parameters;
	member = *rest == '/' ? json_find(tape, at, rest + 1) : JSON_NONE;
	return member != JSON_NONE ? member : at;
}

/* Read the parameters for callers: a function of them alone. */
static int read_callers_parameters(
	struct program_reading *reading, uint32_t object, struct native_function *ret_function)
{
	const struct json_tape *tape = reading->reading.tape;
	uint32_t parameters = json_find(tape, object, "parameters");
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	cleanup(json_tape_cleanup) struct json_tape made = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = check_parameter_keys(reading, parameters);

	if (r)
		return r;
	buffer_append_string(&text, "{\"symbol\":\"steps\"");
	if (parameters != JSON_NONE) {
		buffer_append_string(&text, ",\"parameters\":");
		json_write_compact(&text, tape, parameters);
	}
	buffer_append_char(&text, '}');
	r = buffer_status(&text);
	r = r ? r : json_tape_read(&made, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		return reading_refuse(&reading->reading, object, "is nested too deep");
	r = r ? r : native_function_read(&made, 0, reading->reading.types, ret_function, &found);
	for (size_t i = 0; i < found.n_items; i++)
		diagnose(reading->reading.problems, found.items[i].severity, tape,
			find_parameter_place(tape, parameters, found.items[i].pointer), "%s",
			found.items[i].text);
	return r;
}

/* Set a variable for each parameter for callers. */
static int set_parameters(struct program_reading *reading, uint32_t object)
{
	const struct json_tape *tape = reading->reading.tape;
	uint32_t parameters = json_find(tape, object, "parameters");
	int at = 0;

	json_each_found(i, tape, parameters) {
		const struct native_variable variable = {
			.at = at,
			.step = NATIVE_NONE,
			.round = NATIVE_NONE,
			.condition = {.variable = NATIVE_NONE},
			.owner = NATIVE_NONE,
			.is_nullable = reading->function->parameters[at].is_nullable,
		};
		int r = variables_add(reading, json_find(tape, i, "name"), &variable);

		if (r)
			return r;
		at++;
	}
	return 0;
}

/* Read the result at @result (JSON_NONE: the usual one) of the object at @object. */
static int read_result(struct program_reading *reading, uint32_t object, uint32_t result)
{
	static const char head[] = "{\"type\":\"object\",\"properties\":{";
	static const char cut[] = "\"truncated\":{\"type\":\"boolean\"}";
	const struct json_tape *tape = reading->reading.tape;
	struct native_program *program = reading->program;
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};
	int r;

	reading->step = reading->round = NATIVE_NONE;
	reading->condition = (struct native_condition){.variable = NATIVE_NONE};
	if (result != JSON_NONE && json_type_at(tape, result) != JSON_OBJECT)
		return refuse_step(
			reading, result, "must be an object of constants and \"$name\"s");
	if (result != JSON_NONE && program->may_be_cut &&
		json_find(tape, result, "truncated") != JSON_NONE)
		return reading_refuse(&reading->reading, json_find(tape, result, "truncated"),
			"'truncated' is added when a repeat with \"cut\" had more");
	r = result == JSON_NONE ? native_template_of_all(reading, object, &schema, &program->result)
				: native_template_read(reading, result, &schema, &program->result);
	r = r ? r : native_template_nest(reading, result != JSON_NONE ? result : object);
	if (r)
		return r;
	r = buffer_status(&schema);
	if (r == 0 && program->may_be_cut) {
		buffer_append_string(&whole, head);
		buffer_append_string(&whole, cut);
		if (schema.data[strlen(head)] != '}')
			buffer_append_char(&whole, ',');
		buffer_append(&whole, schema.data + strlen(head), schema.size - strlen(head));
	} else
		buffer_append_buffer(&whole, &schema);
	program->schema = buffer_take(&whole, NULL);
	for (size_t i = 0; i < program->n_steps; i++)
		free(take_ptr(program->steps[i].of_schema));
	return program->schema ? 0 : -ENOMEM;
}

/* Write the object for the host, which has the tables from the LOAD frame. */
static int write_program_source(struct program_reading *reading, uint32_t object)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_write_compact(&text, reading->reading.tape, object);
	reading->program->source = buffer_take(&text, NULL);
	return reading->program->source ? 0 : -ENOMEM;
}

/* Read the program at @object, an object or an array of steps, into the reading. */
static int read_program(
	struct program_reading *reading, uint32_t object, struct native_function *ret_function)
{
	static const char *const keys[] = {"parameters", "steps", "result", "output", NULL};
	const struct json_tape *tape = reading->reading.tape;
	bool is_list = json_type_at(tape, object) == JSON_ARRAY;
	int r = is_list ? 0
			: reading_check_keys(&reading->reading, object,
				  "must be an object that describes a C function", keys);

	if (r)
		return r;
	reading->is_init = is_list;
	reading->steps = is_list ? object : json_find(tape, object, "steps");
	reading->program->steps = calloc(NATIVE_STEPS_MAX, sizeof(*reading->program->steps));
	if (!reading->program->steps)
		return -ENOMEM;
	if (!is_list) {
		r = read_callers_parameters(reading, object, ret_function);
		r = r ? r : set_parameters(reading, object);
	}
	r = r ? r : read_step_list(reading, reading->steps);
	if (r == 0 && !is_list)
		r = read_result(reading, object, json_find(tape, object, "result"));
	return r ? r : write_program_source(reading, object);
}

int native_program_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, const struct native_program *process,
	struct native_function *ret_function, struct native_program **ret_program,
	struct diagnostics *problems)
{
	struct native_function function = {0};
	struct program_reading reading = {
		.reading = {.tape = tape, .problems = problems, .types = types, .is_step = true},
		.function = &function,
		.process = process,
		.step = NATIVE_NONE,
		.round = NATIVE_NONE,
		.condition = {.variable = NATIVE_NONE},
		.round_condition = {.variable = NATIVE_NONE},
	};
	int r;

	reading.program = calloc(1, sizeof(*reading.program));
	if (!reading.program)
		return -ENOMEM;
	r = read_program(&reading, object, &function);
	if (r) {
		native_function_deinit(&function);
		native_program_free(reading.program);
		return r;
	}
	*ret_function = function;
	*ret_program = reading.program;
	return 0;
}
