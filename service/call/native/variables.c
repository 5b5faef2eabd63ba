/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/variables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/*
 * Names of a program. The steps are read in the order in which they run, so a name is known here
 * exactly when an earlier step sets it.
 */

static const struct native_condition always = {.variable = NATIVE_NONE};

const struct native_variable *variables_at(const struct program_reading *reading, int variable)
{
	return variable & NATIVE_PROCESS ? &reading->process->variables[variable & ~NATIVE_PROCESS]
					 : &reading->program->variables[variable];
}

const struct native_parameter *variables_type(const struct program_reading *reading, int variable)
{
	return native_variable_type(variable & NATIVE_PROCESS ? reading->process : reading->program,
		reading->function, variables_at(reading, variable));
}

static int find_named_variable(const struct native_program *program, const struct json_tape *tape,
	uint32_t token, size_t dollars)
{
	size_t size = json_at(tape, token)->length - dollars;
	const char *name = json_bytes(tape, token) + dollars;

	for (size_t i = 0; program && i < program->n_variables; i++)
		if (strlen(program->variables[i].name) == size &&
			memcmp(program->variables[i].name, name, size) == 0)
			return (int)i;
	return NATIVE_NONE;
}

/* Return whether a member `name` of the value at @token, at any depth, is the text at @wanted after
 * its first byte. */
static bool sets_name(const struct json_tape *tape, uint32_t token, uint32_t wanted)
{
	const char *bytes = json_bytes(tape, wanted) + 1;
	size_t size = json_at(tape, wanted)->length - 1;

	for (uint32_t i = token; i + 1 < json_end(tape, token); i++)
		if (json_type_at(tape, i) == JSON_STRING &&
			json_string_equals(tape, i, "name", 4) &&
			json_type_at(tape, i + 1) == JSON_STRING &&
			json_string_equals(tape, i + 1, bytes, size))
			return true;
	return false;
}

static int refuse_variable(struct program_reading *reading, uint32_t token)
{
	const struct native_program *program = reading->program;
	const char *names[NATIVE_NAMES_OF_STEPS_MAX + 1] = {NULL};
	const char *written = json_bytes(reading->reading.tape, token);
	int size = (int)json_at(reading->reading.tape, token)->length;
	const char *meant;

	if (size > 2 && written[1] == '$')
		return reading_refuse(&reading->reading, token, "no step of 'init' sets '%.*s'",
			size < 64 ? size - 2 : 62, written + 2);
	if (sets_name(reading->reading.tape, reading->steps, token))
		return reading_refuse(&reading->reading, token,
			"a later step sets '%.*s': a step uses only what earlier steps have set, "
			"so "
			"change their order",
			size < 64 ? size - 1 : 63, written + 1);
	for (size_t i = 0; i < program->n_variables; i++)
		names[i] = program->variables[i].name;
	meant = reading_near(&reading->reading, token, names);
	return reading_refuse(&reading->reading, token,
		"no parameter and no earlier step sets '%.*s'%s%s%s", size < 64 ? size - 1 : 63,
		written + 1, meant ? "; did you mean '$" : "", meant ? meant : "",
		meant ? "'?" : "");
}

static bool is_same_condition(const struct native_condition *a, const struct native_condition *b)
{
	return a->variable == b->variable && a->is_unless == b->is_unless;
}

/* Refuse a name of rounds outside them. */
static int check_round(struct program_reading *reading, uint32_t token, int at)
{
	const struct native_variable *variable = variables_at(reading, at);

	if (variable->round == NATIVE_NONE ||
		(!(at & NATIVE_PROCESS) && variable->round == reading->round))
		return 0;
	return reading_refuse(&reading->reading, token,
		"'%s' ends with each round of its 'repeat': use what 'collect' has collected",
		variable->name);
}

/* Return whether the variable is set on every way to the step being read. */
static bool is_set(const struct program_reading *reading, int at)
{
	const struct native_condition *condition = &variables_at(reading, at)->condition;

	return is_same_condition(condition, &always) ||
	       (!(at & NATIVE_PROCESS) &&
		       (is_same_condition(condition, &reading->condition) ||
			       is_same_condition(condition, &reading->round_condition)));
}

static int check_use(struct program_reading *reading, uint32_t token, int at)
{
	const struct native_variable *variable = variables_at(reading, at);
	int r = check_round(reading, token, at);

	if (r || is_set(reading, at))
		return r;
	return reading_refuse(&reading->reading, token,
		"'%s' is set only under a condition: give this step the same '%s'", variable->name,
		variable->condition.is_unless ? "unless" : "when");
}

/* Find the variable at @token after @dollars. */
static int find_variable(
	struct program_reading *reading, uint32_t token, size_t dollars, int *ret_variable)
{
	bool is_process = dollars > 1;
	int at = find_named_variable(is_process ? reading->process : reading->program,
		reading->reading.tape, token, dollars);

	if (at == NATIVE_NONE)
		return refuse_variable(reading, token);
	*ret_variable = is_process ? at | NATIVE_PROCESS : at;
	return 0;
}

int variables_find(struct program_reading *reading, uint32_t token, int *ret_variable)
{
	const struct json_tape *tape = reading->reading.tape;
	size_t size = json_type_at(tape, token) == JSON_STRING ? json_at(tape, token)->length : 0;
	const char *text = size > 0 ? json_bytes(tape, token) : "";
	int r;

	if (size < 2 || text[0] != '$')
		return reading_refuse_value(&reading->reading, token,
			"must be the name of a value, as \"$name\" (\"$$name\" for one of 'init')");
	r = find_variable(reading, token, text[1] == '$' ? 2 : 1, ret_variable);
	return r ? r : check_use(reading, token, *ret_variable);
}

int variables_find_result(struct program_reading *reading, uint32_t token, int *ret_variable)
{
	const struct native_variable *variable;
	int r = find_variable(reading, token, 1, ret_variable);

	if (r)
		return r;
	variable = variables_at(reading, *ret_variable);
	if (variable->is_handle)
		return reading_refuse(&reading->reading, token,
			"'%s' is a handle, and a handle never leaves a tool", variable->name);
	r = check_round(reading, token, *ret_variable);
	if (r || variable->is_nullable || is_set(reading, *ret_variable))
		return r;
	return reading_refuse(&reading->reading, token,
		"'%s' is set only under a condition: say that it may be null, by \"nullable\": "
		"true "
		"where it is set",
		variable->name);
}

int variables_add(
	struct program_reading *reading, uint32_t token, const struct native_variable *variable)
{
	struct native_program *program = reading->program;
	struct native_variable added = *variable;
	int r = reading_name(&reading->reading, token, &added.name);

	if (r)
		goto out;
	for (size_t i = 0; i < program->n_variables; i++) {
		if (strcmp(program->variables[i].name, added.name) != 0)
			continue;
		r = reading_refuse(&reading->reading, token,
			"'%s' is set twice: a name is set once", added.name);
		goto out;
	}
	if (program->n_variables == NATIVE_NAMES_OF_STEPS_MAX) {
		r = reading_refuse(&reading->reading, token, "must be one of at most %d names",
			NATIVE_NAMES_OF_STEPS_MAX);
		goto out;
	}
	r = array_grow(program->variables, program->n_variables);
	if (r)
		goto out;
	program->variables[program->n_variables++] = added;
	return 0;
out:
	free(added.name);
	return r;
}

int variables_read_condition(
	struct program_reading *reading, uint32_t object, struct native_condition *ret_condition)
{
	uint32_t when = json_find(reading->reading.tape, object, "when");
	uint32_t unless = json_find(reading->reading.tape, object, "unless");
	int variable;
	int r;

	*ret_condition = always;
	if (when != JSON_NONE && unless != JSON_NONE)
		return reading_refuse(
			&reading->reading, unless, "a step has 'when' or 'unless', not both");
	if (when == JSON_NONE && unless == JSON_NONE)
		return 0;
	r = variables_find(reading, when != JSON_NONE ? when : unless, &variable);
	if (r)
		return r;
	if (!variables_type(reading, variable))
		return reading_refuse(&reading->reading, when != JSON_NONE ? when : unless,
			"what a 'repeat' has collected is only for the result");
	*ret_condition = (struct native_condition){variable, when == JSON_NONE};
	return 0;
}
