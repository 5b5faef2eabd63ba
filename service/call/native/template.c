/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/buffer.h"

/*
 * The result of a program: JSON with the names of values in it, cut into pieces of text.
 *
 *   {"type": "$type", "by": "libmagic"}    {"type":  · $type ·  ,"by":"libmagic"}
 */

/* A template while it is read: the text since the last name. */
struct cutting {
	struct program_reading *reading;
	struct native_template template;
	struct buffer text;
	struct buffer *schema;
	size_t depth; /* the objects and arrays around the text */
	bool is_open; /* inside an array, whose schema leaves the elements open */
};

/* End a piece: @variable follows the text so far. */
static int end_piece(struct cutting *cutting, int variable)
{
	struct native_template *template = &cutting->template;
	char *text;

	if (array_grow(template->pieces, template->n_pieces) < 0)
		return -ENOMEM;
	text = buffer_take(&cutting->text, NULL);
	if (!text)
		return -ENOMEM;
	template->pieces[template->n_pieces++] =
		(struct native_piece){text, variable, cutting->depth};
	return 0;
}

/* Append the schema of the variable. */
static void write_variable_schema(struct cutting *cutting, int variable)
{
	const struct native_variable *shown = variables_at(cutting->reading, variable);
	const struct native_parameter *type = variables_type(cutting->reading, variable);

	/* One that is too long is refused later, where no other is given. */
	if (cutting->is_open || cutting->schema->size > NATIVE_SCHEMA_BYTES_MAX)
		return;
	if (type) {
		struct native_parameter value = *type;

		value.is_nullable |= shown->is_nullable;
		buffer_append_char(cutting->schema, '{');
		native_write_value_schema(&value, false, cutting->schema);
		if (buffer_status(cutting->schema) == 0 &&
			cutting->schema->data[cutting->schema->size - 1] == ',')
			cutting->schema->size--;
		buffer_append_char(cutting->schema, '}');
		return;
	}
	buffer_append_string(cutting->schema, "{\"type\":\"array\",\"items\":");
	buffer_append_string(
		cutting->schema, cutting->reading->program->steps[shown->step].of_schema);
	buffer_append_char(cutting->schema, '}');
}

/* Append the constant at @token, and its schema. */
static int cut_constant(struct cutting *cutting, uint32_t token)
{
	json_write_compact(&cutting->text, cutting->reading->reading.tape, token);
	buffer_append_string(cutting->schema, "{\"const\":");
	json_write_compact(cutting->schema, cutting->reading->reading.tape, token);
	buffer_append_char(cutting->schema, '}');
	return 0;
}

static int cut_text(struct cutting *cutting, uint32_t token)
{
	const struct json_tape *tape = cutting->reading->reading.tape;
	const char *bytes = json_bytes(tape, token);
	size_t size = json_at(tape, token)->length;
	int variable;
	int r;

	if (size == 0 || bytes[0] != '$')
		return cut_constant(cutting, token);
	if (size > 1 && bytes[1] == '$') {
		/* The bytes between the quotes, as they are written. */
		buffer_append_char(&cutting->text, '"');
		buffer_append(&cutting->text, bytes + 1, size - 1);
		buffer_append_char(&cutting->text, '"');
		buffer_append_string(cutting->schema, "{\"type\":\"string\"}");
		return 0;
	}
	r = variables_find_result(cutting->reading, token, &variable);
	if (r)
		return r;
	write_variable_schema(cutting, variable);
	return end_piece(cutting, variable);
}

static int cut_value(struct cutting *cutting, uint32_t token);

/* Append the names of the members of the object at @token as `required`, and end the schema. */
static void write_required_names(struct cutting *cutting, uint32_t token)
{
	const struct json_tape *tape = cutting->reading->reading.tape;
	bool is_first = true;

	buffer_append_char(cutting->schema, '}');
	json_each_key(key, tape, token) {
		buffer_append_string(cutting->schema, is_first ? ",\"required\":[" : ",");
		json_write_compact(cutting->schema, tape, key);
		is_first = false;
	}
	buffer_append_string(cutting->schema, is_first ? "}" : "]}");
}

static int cut_object(struct cutting *cutting, uint32_t token)
{
	const struct json_tape *tape = cutting->reading->reading.tape;
	char before = '{';

	buffer_append_string(cutting->schema, "{\"type\":\"object\",\"properties\":{");
	if (json_count(tape, token) == 0)
		buffer_append_char(&cutting->text, '{');
	json_each_key(key, tape, token) {
		int r;

		buffer_append_char(&cutting->text, before);
		if (before == ',')
			buffer_append_char(cutting->schema, before);
		before = ',';
		json_write_compact(&cutting->text, tape, key);
		buffer_append_char(&cutting->text, ':');
		json_write_compact(cutting->schema, tape, key);
		buffer_append_char(cutting->schema, ':');
		r = cut_value(cutting, key + 1);
		if (r)
			return r;
	}
	buffer_append_char(&cutting->text, '}');
	write_required_names(cutting, token);
	return 0;
}

/* The schema of an array with names in it leaves the elements open. */
static int cut_array(struct cutting *cutting, uint32_t token)
{
	const struct json_tape *tape = cutting->reading->reading.tape;
	size_t start = cutting->schema->size;
	bool was_open = cutting->is_open;
	bool is_first = true;
	int r = 0;

	cutting->is_open = true;
	buffer_append_char(&cutting->text, '[');
	json_each_while(r == 0, i, tape, token) {
		if (!is_first)
			buffer_append_char(&cutting->text, ',');
		is_first = false;
		r = cut_value(cutting, i);
	}
	buffer_append_char(&cutting->text, ']');
	cutting->is_open = was_open;
	cutting->schema->size = start;
	buffer_append_string(cutting->schema, "{\"type\":\"array\"}");
	return r;
}

static int refuse_depth(struct program_reading *reading, uint32_t token)
{
	return reading_refuse(&reading->reading, token,
		"is nested too deep: at most %d objects and arrays in one another, with what a "
		"'repeat' collects",
		NATIVE_RESULT_DEPTH_MAX);
}

static int cut_nested(struct cutting *cutting, uint32_t token)
{
	int r;

	if (cutting->depth == NATIVE_RESULT_DEPTH_MAX)
		return refuse_depth(cutting->reading, token);
	if (++cutting->depth > cutting->template.depth)
		cutting->template.depth = cutting->depth;
	r = json_type_at(cutting->reading->reading.tape, token) == JSON_OBJECT
		    ? cut_object(cutting, token)
		    : cut_array(cutting, token);
	cutting->depth--;
	return r;
}

/* Cut the value at @token, NATIVE_RESULT_DEPTH_MAX deep at most. */
static int cut_value(struct cutting *cutting, uint32_t token)
{
	switch (json_type_at(cutting->reading->reading.tape, token)) {
	case JSON_STRING:
		return cut_text(cutting, token);
	case JSON_OBJECT:
	case JSON_ARRAY:
		return cut_nested(cutting, token);
	default:
		return cut_constant(cutting, token);
	}
}

/* Hand the whole template over after @r. */
static int end_template(struct cutting *cutting, int r, struct native_template *ret_template)
{
	r = r ? r : buffer_status(&cutting->text);
	r = r ? r : end_piece(cutting, NATIVE_NONE);
	buffer_deinit(&cutting->text);
	if (r)
		native_template_deinit(&cutting->template);
	else
		*ret_template = cutting->template;
	return r;
}

int native_template_read(struct program_reading *reading, uint32_t token, struct buffer *schema,
	struct native_template *ret_template)
{
	struct cutting cutting = {.reading = reading, .schema = schema};

	return end_template(&cutting, cut_value(&cutting, token), ret_template);
}

/* Return whether the usual result has the variable. */
static bool is_shown(const struct native_variable *variable)
{
	return variable->step != NATIVE_NONE && variable->owner == NATIVE_NONE &&
	       !variable->is_handle && variable->round == NATIVE_NONE;
}

/* Refuse a variable of the usual result that may not be set. */
static int refuse_unset(
	struct program_reading *reading, uint32_t place, const struct native_variable *variable)
{
	return reading_refuse(&reading->reading, place,
		"'%s' is set only under a condition: say that it may be null, by \"nullable\": "
		"true where it is set, or write a 'result' without it",
		variable->name);
}

int native_template_of_all(struct program_reading *reading, uint32_t place, struct buffer *schema,
	struct native_template *ret_template)
{
	const struct native_program *program = reading->program;
	cleanup(buffer_deinit) struct buffer required = {0};
	struct cutting cutting = {.reading = reading, .schema = schema, .depth = 1};
	char before = '{';
	int r = 0;

	buffer_append_string(schema, "{\"type\":\"object\",\"properties\":");
	for (size_t i = 0; r == 0 && i < program->n_variables; i++) {
		const struct native_variable *variable = &program->variables[i];

		if (!is_shown(variable))
			continue;
		if (variable->condition.variable != NATIVE_NONE && !variable->is_nullable)
			r = refuse_unset(reading, place, variable);
		else if (program->may_be_cut && strcmp(variable->name, "truncated") == 0)
			r = reading_refuse(&reading->reading, place,
				"'truncated' is added when a repeat with \"cut\" had more: give "
				"the value another name");
		buffer_append_char(&cutting.text, before);
		buffer_append_char(schema, before);
		buffer_append_string(&required, before == '{' ? ",\"required\":[" : ",");
		before = ',';
		json_write_key(&cutting.text, variable->name);
		json_write_key(schema, variable->name);
		json_write_text(&required, variable->name);
		write_variable_schema(&cutting, (int)i);
		r = r ? r : end_piece(&cutting, (int)i);
	}
	buffer_append_string(&cutting.text, before == '{' ? "{}" : "}");
	buffer_append_string(schema, before == '{' ? "{}" : "}");
	if (before == ',')
		buffer_append_char(&required, ']');
	buffer_append_buffer(schema, &required);
	buffer_append_char(schema, '}');
	return end_template(&cutting, r, ret_template);
}

/* Return the most objects and arrays around the variable in @template. 0: it is not there. */
static size_t depth_of(const struct native_template *template, int variable)
{
	size_t depth = 0;

	for (size_t i = 0; i < template->n_pieces; i++)
		if (template->pieces[i].variable == variable && template->pieces[i].depth > depth)
			depth = template->pieces[i].depth;
	return depth;
}

int native_template_nest(struct program_reading *reading, uint32_t place)
{
	struct native_program *program = reading->program;

	/* Only later lists and the result have a list in them. */
	for (size_t at = program->n_steps; at-- > 0;) {
		struct native_template *of = &program->steps[at].of;
		int list = program->steps[at].collected;
		size_t around = list == NATIVE_NONE ? 0 : depth_of(&program->result, list);

		for (size_t i = at + 1; list != NATIVE_NONE && i < program->n_steps; i++) {
			size_t later = depth_of(&program->steps[i].of, list);

			around = later > around ? later : around;
		}
		if (around + 1 + of->depth > NATIVE_RESULT_DEPTH_MAX)
			return refuse_depth(reading, place);
		for (size_t i = 0; i < of->n_pieces; i++)
			of->pieces[i].depth += around + 1;
	}
	return 0;
}
