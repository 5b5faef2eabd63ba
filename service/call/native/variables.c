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

bool variables_is_process(const struct program_reading *reading, int variable)
{
	int owner = variables_at(reading, variable)->owner;

	return (variable & NATIVE_PROCESS) || (owner != NATIVE_NONE && (owner & NATIVE_PROCESS));
}

/* Return the string at @token after @dollars. */
static struct text_view written_at(
	const struct program_reading *reading, uint32_t token, size_t dollars)
{
	return (struct text_view){json_bytes(reading->reading.tape, token) + dollars,
		json_at(reading->reading.tape, token)->length - dollars};
}

/* Cut the name at its first dot. Return what follows the dot; without one, an empty text. */
static struct text_view cut_at_dot(struct text_view *name)
{
	const char *dot = memchr(name->text, '.', name->size);
	struct text_view rest = {name->text + name->size, 0};

	if (!dot)
		return rest;
	rest.size = name->size - (size_t)(dot + 1 - name->text);
	rest.text = dot + 1;
	name->size = (size_t)(dot - name->text);
	return rest;
}

static int find_named_variable(const struct native_program *program, struct text_view wanted)
{
	size_t size = wanted.size;
	const char *name = wanted.text;

	for (size_t i = 0; program && i < program->n_variables; i++)
		if (text_is(name, size, program->variables[i].name))
			return (int)i;
	return NATIVE_NONE;
}

/* Find the field @wanted of the struct @owner that is already in use. */
static int find_named_field(
	const struct native_program *program, struct text_view wanted, int owner)
{
	for (size_t i = 0; i < program->n_variables; i++)
		if (program->variables[i].owner == owner &&
			text_view_is(wanted, program->variables[i].name))
			return (int)i;
	return NATIVE_NONE;
}

/* Return whether a member `name` of the value at @token, at any depth, is @wanted. */
static bool sets_name(const struct json_tape *tape, uint32_t token, const struct text_view *wanted)
{
	for (uint32_t i = token; i + 1 < json_end(tape, token); i++)
		if (json_type_at(tape, i) == JSON_STRING &&
			json_string_equals(tape, i, "name", 4) &&
			json_type_at(tape, i + 1) == JSON_STRING &&
			json_string_equals(tape, i + 1, wanted->text, wanted->size))
			return true;
	return false;
}

static int refuse_variable(struct program_reading *reading, uint32_t token, size_t dollars)
{
	const struct native_program *program = reading->program;
	const char *names[NATIVE_NAMES_OF_STEPS_MAX + 1] = {NULL};
	struct text_view name = written_at(reading, token, dollars);
	const char *meant;
	int size;

	cut_at_dot(&name);
	size = name.size < 63 ? (int)name.size : 63;
	if (dollars > 1)
		return reading_refuse(
			&reading->reading, token, "no step of 'init' sets '%.*s'", size, name.text);
	if (sets_name(reading->reading.tape, reading->steps, &name))
		return reading_refuse(&reading->reading, token,
			"a later step sets '%.*s': a step uses only what earlier steps have set, "
			"so change their order",
			size, name.text);
	for (size_t i = 0; i < program->n_variables; i++)
		names[i] = program->variables[i].name;
	meant = reading_near(&reading->reading, token, names);
	return reading_refuse(&reading->reading, token,
		"no parameter and no earlier step sets '%.*s'%s%s%s", size, name.text,
		meant ? "; did you mean '$" : "", meant ? meant : "", meant ? "'?" : "");
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

/* ── fields ──────────────────────────────────────────────────────────────────────────────────── */

/* Let the variable have the type and the place of the element of @field that @index names. */
static int set_element_type(struct program_reading *reading, uint32_t token,
	const struct native_field *field, struct text_view index, struct native_variable *variable)
{
	size_t n = 0;

	for (size_t i = 0; i < index.size && n < field->count; i++)
		n = index.text[i] >= '0' && index.text[i] <= '9'
			    ? n * 10 + (size_t)(index.text[i] - '0')
			    : field->count;
	/* One element has one name: what two finallys free is compared by it. */
	if (index.size == 0 || n >= field->count || (index.size > 1 && index.text[0] == '0'))
		return reading_refuse(&reading->reading, token,
			"'%s' has the elements 0 to %zu, not '%.*s'", field->value.name,
			field->count - 1, (int)(index.size < 64 ? index.size : 64), index.text);
	variable->part = field->value;
	variable->offset += field->offset + n * native_element_bytes(&field->value);
	variable->count = 0;
	return 0;
}

/* Let the variable have the type and the place of @field. */
static int set_field_type(struct program_reading *reading, uint32_t token,
	const struct native_field *field, struct native_variable *variable)
{
	enum native_type type = field->value.type;
	bool is_counted = type == NATIVE_STR || type == NATIVE_BYTES;

	variable->part = field->value;
	variable->offset += field->offset;
	variable->count = field->count;
	if (field->count == 0 || is_counted)
		return 0;
	if (field->value.enumeration || type == NATIVE_BOOL || type == NATIVE_STRUCT ||
		type == NATIVE_HANDLE)
		return reading_refuse(&reading->reading, token,
			"'%s' is an array of %s: only an array of numbers is a value of its own, "
			"so name an element, as \"%s.0\"",
			field->value.name, native_parameter_word(&field->value), field->value.name);
	variable->part.type = NATIVE_ARRAY;
	variable->part.items = type;
	return 0;
}

/* Follow @path, the names after the first dot and indices of arrays, from the struct of @type to a
 * field. */
static int follow_path(struct program_reading *reading, uint32_t token, struct text_view path,
	const struct native_parameter *type, struct native_variable *variable)
{
	struct text_view name = path;
	struct text_view rest = cut_at_dot(&name);
	const struct native_field *field;
	int r;

	if (!type || type->type != NATIVE_STRUCT)
		return reading_refuse(&reading->reading, token,
			"only a struct has fields: read one from the handle, by {\"read\": "
			"\"$handle\", \"struct\": …}");
	field = native_struct_field(type->structure, name.text, name.size);
	if (!field)
		return reading_refuse(&reading->reading, token, "'%s' has no field '%.*s'",
			type->structure->name, (int)(name.size < 64 ? name.size : 64), name.text);
	if (rest.size > 0 && field->count > 0 && !native_is_buffer(field->value.type)) {
		name = rest;
		rest = cut_at_dot(&name);
		r = set_element_type(reading, token, field, name, variable);
	} else {
		r = set_field_type(reading, token, field, variable);
	}
	if (r || rest.size == 0)
		return r;
	return follow_path(reading, token, rest, &field->value, variable);
}

static int add_variable(
	struct program_reading *reading, uint32_t token, struct native_variable *added);

/* Add the variable for the field that the string at @token names after @dollars, of the struct
 * @owner. */
static int set_field(struct program_reading *reading, uint32_t token, size_t dollars, int owner,
	int *ret_variable)
{
	const struct native_parameter *type = variables_type(reading, owner);
	struct text_view whole = written_at(reading, token, dollars);
	struct native_variable variable = *variables_at(reading, owner);
	struct text_view head = whole;
	int r;

	if (variable.is_handle)
		type = NULL;
	if (owner & NATIVE_PROCESS) {
		r = check_use(reading, token, owner);
		if (r)
			return r;
		variable.condition = always;
		variable.step = NATIVE_NONE;
	}
	variable.offset = 0;
	variable.owner = owner;
	r = follow_path(reading, token, cut_at_dot(&head), type, &variable);
	if (r == 0 && whole.text[whole.size - 1] == '.')
		r = reading_refuse(&reading->reading, token, "must not end with a dot");
	if (r)
		return r;
	variable.is_handle = variable.part.type == NATIVE_HANDLE;
	if (variable.is_handle && type && type->free_symbol)
		return reading_refuse(&reading->reading, token,
			"'%.*s' would outlive its struct, which \"transfer\": \"full\" frees at "
			"once: let the call return a handle, with a 'finally', and read the struct "
			"from it",
			(int)(whole.size < 64 ? whole.size : 64), whole.text);
	variable.name = strndup(whole.text, whole.size);
	if (!variable.name)
		return -ENOMEM;
	*ret_variable = (int)reading->program->n_variables;
	return add_variable(reading, token, &variable);
}

/* Find the variable at @token after @dollars. */
static int find_variable(
	struct program_reading *reading, uint32_t token, size_t dollars, int *ret_variable)
{
	bool is_process = dollars > 1;
	struct text_view name = written_at(reading, token, dollars);
	struct text_view head = name;
	int at;

	cut_at_dot(&head);
	at = find_named_variable(is_process ? reading->process : reading->program, head);
	if (at == NATIVE_NONE)
		return refuse_variable(reading, token, dollars);
	at = is_process ? at | NATIVE_PROCESS : at;
	*ret_variable = head.size < name.size ? find_named_field(reading->program, name, at) : at;
	return *ret_variable != NATIVE_NONE ? 0
					    : set_field(reading, token, dollars, at, ret_variable);
}

int variables_find(struct program_reading *reading, uint32_t token, int *ret_variable)
{
	const struct json_tape *tape = reading->reading.tape;
	size_t size = json_type_at(tape, token) == JSON_STRING ? json_at(tape, token)->length : 0;
	const char *text = size > 0 ? json_bytes(tape, token) : "";
	int variable = NATIVE_NONE;
	int r;

	if (size < 2 || text[0] != '$')
		return reading_refuse_value(&reading->reading, token,
			"must be the name of a value, as \"$name\" (\"$$name\" for one of 'init')");
	r = find_variable(reading, token, text[1] == '$' ? 2 : 1, &variable);
	r = r ? r : check_use(reading, token, variable);
	if (r == 0)
		*ret_variable = variable;
	return r;
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
		"true where it is set",
		variable->name);
}

/* Add @added and take its name over, whatever is returned. */
static int add_variable(
	struct program_reading *reading, uint32_t token, struct native_variable *added)
{
	struct native_program *program = reading->program;
	int r = 0;

	if (program->n_variables == NATIVE_NAMES_OF_STEPS_MAX)
		r = reading_refuse(&reading->reading, token,
			"must be one of at most %d names, with the fields in use",
			NATIVE_NAMES_OF_STEPS_MAX);
	r = r ? r : array_grow(program->variables, program->n_variables);
	if (r)
		free(added->name);
	else
		program->variables[program->n_variables++] = *added;
	return r;
}

int variables_add(
	struct program_reading *reading, uint32_t token, const struct native_variable *variable)
{
	const struct native_program *program = reading->program;
	struct native_variable added = *variable;
	int r = reading_name(&reading->reading, token, &added.name);

	for (size_t i = 0; r == 0 && i < program->n_variables; i++)
		if (strcmp(program->variables[i].name, added.name) == 0)
			r = reading_refuse(&reading->reading, token,
				"'%s' is set twice: a name is set once", added.name);
	if (r) {
		free(added.name);
		return r;
	}
	return add_variable(reading, token, &added);
}

int variables_read_condition(
	struct program_reading *reading, uint32_t object, struct native_condition *ret_condition)
{
	uint32_t when = json_find(reading->reading.tape, object, "when");
	uint32_t unless = json_find(reading->reading.tape, object, "unless");
	int variable = NATIVE_NONE;
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
