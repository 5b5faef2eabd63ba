/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/arguments.h"

#include <ctype.h>
#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "util/buffer.h"

/* The arguments whose names are compared with each other. */
#define NAMES_MAX 100

struct advising {
	const struct tool *tool;
	struct json_tape schema; /* the argument schema */
	uint32_t properties;
	void (*advise)(void *data, const char *pointer, const char *text);
	void *data;
};

/* Advise with the formatted text. */
__attribute__((format(printf, 3, 4))) static void advise_at(
	const struct advising *advising, const char *pointer, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	advising->advise(
		advising->data, pointer, buffer_terminate(&text) ? text.data : "out of memory");
}

/* ── options ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether a call may lack the argument called @name of @size bytes. */
static bool may_lack(const struct advising *advising, const char *name, size_t size)
{
	const struct json_tape *tape = &advising->schema;
	uint32_t property = json_find_sized(tape, advising->properties, name, size);
	uint32_t required = json_find_typed_at(tape, 0, "required", JSON_ARRAY);

	if (property == JSON_NONE || json_type_at(tape, property) != JSON_OBJECT ||
		json_find(tape, property, "default") != JSON_NONE)
		return false;
	json_each_found(at, tape, required)
		if (json_string_equals(tape, at, name, size))
			return false;
	return true;
}

static bool is_option(const char *template)
{
	struct command_piece piece;
	const char *rest = template;

	return template[0] == '-' && template[1] && strcmp(template, "--") != 0 &&
	       !strchr(template, '=') && command_next_piece(&rest, &piece) &&
	       piece.kind == COMMAND_LITERAL && !*rest;
}

/* Advise about an option before a value that may be left out without it. */
static void advise_of_options(const struct advising *advising)
{
	const struct command *command = &advising->tool->command;

	for (size_t i = 1; i + 1 < command->arguments.n_items; i++) {
		const char *option = command->arguments.items[i];
		const char *value = command->arguments.items[i + 1];
		const char *rest = value;
		struct command_piece piece;

		if (command_set_has(&command->joined, i) ||
			command_group_end(command, i) != i + 1 ||
			command_group_end(command, i + 1) != i + 2 || !is_option(option) ||
			!command_next_piece(&rest, &piece) || piece.kind != COMMAND_VALUE ||
			*rest || !may_lack(advising, piece.text, piece.size))
			continue;
		advise_at(advising, "/command/argv",
			"without '%.*s' the option '%s' takes the word after it: if '%s' is its "
			"value, write the group [\"%s\", \"%s\"], which is left out whole",
			(int)piece.size, piece.text, option, value, option, value);
	}
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

/* Append the name of the variable that an argument has. Return false if it has none. */
static bool write_variable(const struct buffer *name, struct buffer *out)
{
	buffer_append_string(out, "TOOL_ARG_");
	for (size_t i = 0; i < name->size; i++) {
		unsigned char c = (unsigned char)name->data[i];

		if (!isascii(c) || (!isalnum(c) && c != '_' && c != '-'))
			return false;
		buffer_append_char(out, (char)(c == '-' ? '_' : toupper(c)));
	}
	return name->size > 0 && buffer_terminate(out);
}

/* Return whether an earlier argument than the one at @key has the variable @variable. */
static bool is_taken(const struct advising *advising, uint32_t key, const char *variable)
{
	const struct json_tape *tape = &advising->schema;
	unsigned int n = 0;

	for (uint32_t at = json_first(tape, advising->properties); at < key && n++ < NAMES_MAX;
		at = json_next_key(tape, at)) {
		cleanup(buffer_deinit) struct buffer name = {0};
		cleanup(buffer_deinit) struct buffer other = {0};

		json_string_decode(tape, at, &name);
		if (write_variable(&name, &other) && strcmp(other.data, variable) == 0)
			return true;
	}
	return false;
}

static void advise_of_names(const struct advising *advising)
{
	const struct json_tape *tape = &advising->schema;

	json_each_key(key, tape, advising->properties) {
		cleanup(buffer_deinit) struct buffer name = {0};
		cleanup(buffer_deinit) struct buffer variable = {0};

		json_string_decode(tape, key, &name);
		if (buffer_status(&name))
			continue;
		if (!write_variable(&name, &variable))
			advise_at(advising, "/argument_schema",
				"the argument '%.*s' is on stdin only: placeholders and variables "
				"have names of letters without accents, digits, '_' and '-'",
				(int)name.size, name.data);
		else if (is_taken(advising, key, variable.data))
			advise_at(advising, "/argument_schema",
				"the argument '%.*s' and an earlier one have the same variable, "
				"$%s",
				(int)name.size, name.data, variable.data);
	}
}

void arguments_advise(const struct tool *tool,
	void (*advise)(void *data, const char *pointer, const char *text), void *data)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	const char *text = tool->argument_schema;
	struct advising advising = {.tool = tool, .advise = advise, .data = data};

	if (!text || json_tape_read(&schema, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(&schema, 0) != JSON_OBJECT)
		return;
	advising.schema = schema;
	advising.properties = json_find(&schema, 0, "properties");
	if (advising.properties == JSON_NONE)
		return;
	advise_of_names(&advising);
	if (!tool->command.is_shell)
		advise_of_options(&advising);
}
