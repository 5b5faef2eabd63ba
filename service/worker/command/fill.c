/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/fill.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/environment.h"
#include "worker/command/progress.h"

/* Memory grown larger for one call is freed after it. */
#define KEEP_BYTES (256u << 10)

#define VARIABLE_PREFIX "TOOL_ARG_"

/* ── argv ────────────────────────────────────────────────────────────────────────────────────── */

/* The arguments of a call, while groups are filled in. */
struct filling {
	const struct command *command;
	const struct json_tape *tape;
	uint32_t object;
	struct buffer *out;
};

/* Return the value to fill in at @piece, or JSON_NONE. @element is the element of the group's
 * array, or JSON_NONE. */
static uint32_t find_value(
	const struct filling *filling, const struct command_piece *piece, uint32_t element)
{
	uint32_t value = json_find_sized(filling->tape, filling->object, piece->text, piece->size);

	if (piece->kind == COMMAND_ELEMENT && value != JSON_NONE &&
		json_type_at(filling->tape, value) == JSON_ARRAY)
		return element;
	return command_is_absent(filling->tape, value) ? JSON_NONE : value;
}

/* Append the filled template as one argument; nothing if it is only a condition. Return false if
 * its group is left out. */
static bool fill_template(const struct filling *filling, const char *template, uint32_t element)
{
	bool is_argument = !*template;
	struct command_piece piece;

	while (command_next_piece(&template, &piece)) {
		uint32_t value;

		is_argument |= piece.kind != COMMAND_CONDITION;
		if (piece.kind == COMMAND_LITERAL) {
			buffer_append(filling->out, piece.text, piece.size);
			continue;
		}
		value = find_value(filling, &piece, element);
		if (value == JSON_NONE)
			return false;
		if (piece.kind != COMMAND_CONDITION)
			command_write_value(filling->tape, value, filling->out);
		else if (json_type_at(filling->tape, value) == JSON_FALSE)
			return false;
	}
	if (is_argument)
		buffer_append_char(filling->out, '\0');
	return true;
}

/* Append the arguments from @first to before @end, or nothing. */
static void fill_group(const struct filling *filling, size_t first, size_t end, uint32_t element)
{
	size_t start = filling->out->size;

	for (size_t i = first; i < end; i++)
		if (!fill_template(filling, filling->command->arguments.items[i], element)) {
			filling->out->size = start;
			return;
		}
}

/* Return the array of the group from @first to before @end, or JSON_NONE. */
static uint32_t find_elements(const struct filling *filling, size_t first, size_t end)
{
	struct command_piece piece;

	for (size_t i = first; i < end; i++) {
		const char *template = filling->command->arguments.items[i];

		while (command_next_piece(&template, &piece)) {
			uint32_t value = piece.kind == COMMAND_ELEMENT
						 ? json_find_sized(filling->tape, filling->object,
							   piece.text, piece.size)
						 : JSON_NONE;

			if (value != JSON_NONE && json_type_at(filling->tape, value) == JSON_ARRAY)
				return value;
		}
	}
	return JSON_NONE;
}

static void fill_arguments(const struct filling *filling)
{
	const struct json_tape *tape = filling->tape;
	const struct text_list *arguments = &filling->command->arguments;
	size_t end;

	for (size_t i = 0; i < arguments->n_items; i = end) {
		uint32_t array;

		end = command_group_end(filling->command, i);
		if (i == 0 || filling->command->is_shell) {
			buffer_append(
				filling->out, arguments->items[i], strlen(arguments->items[i]) + 1);
			continue;
		}
		array = find_elements(filling, i, end);
		if (array == JSON_NONE) {
			fill_group(filling, i, end, JSON_NONE);
			continue;
		}
		json_each(at, tape, array)
			fill_group(filling, i, end, at);
	}
}

/* ── environment ─────────────────────────────────────────────────────────────────────────────── */

/* Append @entry to @out, unless @out has such a variable. */
static void append_new(struct buffer *out, const char *entry)
{
	if (buffer_terminate(out) && !environment_names(out->data, entry))
		buffer_append(out, entry, strlen(entry) + 1);
}

char *command_fill_fixed(const struct command *command, const char *name)
{
	const char *folder = getenv("TMPDIR");
	const char *entry = command->environment;
	struct buffer out = {0};

	if (folder) {
		buffer_printf(&out, "TMPDIR=%s", folder);
		buffer_append_char(&out, '\0');
	}
	for (; entry && *entry; entry = environment_next(entry))
		append_new(&out, entry);
	for (char **own = environ; *own; own++)
		append_new(&out, *own);
	if (buffer_terminate(&out) && !environment_names(out.data, "TOOL_NAME=")) {
		buffer_printf(&out, "TOOL_NAME=%s", name);
		buffer_append_char(&out, '\0');
	}
	append_new(&out, COMMAND_PROGRESS_VARIABLE);
	return buffer_take(&out, NULL);
}

/* Append the variable's name: "from-city" becomes TOOL_ARG_FROM_CITY. Return false if the key
 * cannot be part of one. */
static bool append_name(struct buffer *out, const struct json_tape *tape, uint32_t key)
{
	const struct json_token *token = json_at(tape, key);
	const char *bytes = json_bytes(tape, key);

	if (token->length == 0 || token->length > COMMAND_VALUE_BYTES_MAX)
		return false;
	buffer_append_string(out, VARIABLE_PREFIX);
	for (uint32_t i = 0; i < token->length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (!isascii(c) || (!isalnum(c) && c != '_' && c != '-'))
			return false;
		buffer_append_char(out, (char)(c == '-' ? '_' : toupper(c)));
	}
	return true;
}

/* Append NAME=value for one argument, or nothing. */
static void append_variable(
	struct command_fill *fill, const char *fixed, const struct json_tape *tape, uint32_t key)
{
	struct buffer *entry = &fill->scratch;

	buffer_reset(entry);
	if (command_is_absent(tape, key + 1) || !append_name(entry, tape, key) ||
		command_refusal(tape, key + 1))
		return;
	buffer_append_char(entry, '=');
	command_write_value(tape, key + 1, entry);
	if (!buffer_terminate(entry))
		buffer_fail_with(&fill->environment_text, entry);
	else if (!environment_names(fixed, entry->data))
		buffer_append(&fill->environment_text, entry->data, entry->size + 1);
}

static void append_arguments(
	struct command_fill *fill, const char *fixed, const struct json_tape *tape, uint32_t object)
{
	size_t most = fill->environment_text.size + COMMAND_VARIABLES_BYTES_MAX;

	json_each_key(key, tape, object) {
		size_t before = fill->environment_text.size;

		append_variable(fill, fixed, tape, key);
		/* Each variable also takes a pointer. */
		most -= sizeof(char *);
		if (fill->environment_text.size <= most)
			continue;
		fill->environment_text.size = before;
		return;
	}
}

/* Append the caller's variables. Unknown values are empty. */
static void append_caller(struct command_fill *fill, const char *fixed)
{
	static const char *const members[][2] = {
		{"call_id", "TOOL_CALL_ID="},
		{"session_id", "TOOL_SESSION_ID="},
		{"lang", "TOOL_LANG="},
		{"traceparent", "TRACEPARENT="},
		{"tracestate", "TRACESTATE="},
	};
	const struct json_tape *tape = &fill->caller;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		uint32_t value = tape->count > 0 ? json_find(tape, 0, members[i][0]) : JSON_NONE;
		struct buffer *out = &fill->environment_text;

		if (environment_names(fixed, members[i][1]))
			continue;
		buffer_append_string(out, members[i][1]);
		if (value != JSON_NONE && json_type_at(tape, value) == JSON_STRING &&
			!command_refusal(tape, value))
			command_write_value(tape, value, out);
		buffer_append_char(out, '\0');
	}
}

/* ── both ────────────────────────────────────────────────────────────────────────────────────── */

/* Append pointers to the texts in @text, and a NULL. */
static void append_pointers(struct buffer *pointers, const struct buffer *text)
{
	static char *const none = NULL;

	for (size_t at = 0; at < text->size; at += strlen(text->data + at) + 1) {
		char *entry = text->data + at;

		buffer_append(pointers, &entry, sizeof(entry));
	}
	buffer_append(pointers, &none, sizeof(none));
}

static int point(struct command_fill *fill)
{
	size_t arguments_size;

	if (buffer_status(&fill->argument_text) || buffer_status(&fill->environment_text))
		return -ENOMEM;
	append_pointers(&fill->pointers, &fill->argument_text);
	arguments_size = fill->pointers.size;
	append_pointers(&fill->pointers, &fill->environment_text);
	if (buffer_status(&fill->pointers))
		return -ENOMEM;
	fill->arguments = (char **)(void *)fill->pointers.data;
	fill->environment = (char **)(void *)(fill->pointers.data + arguments_size);
	return 0;
}

int command_fill(struct command_fill *fill, const struct command *command, const char *fixed,
	const char *caller, size_t caller_size, const struct json_tape *tape, uint32_t object)
{
	int r;

	buffer_reset(&fill->argument_text);
	buffer_reset(&fill->environment_text);
	buffer_reset(&fill->pointers);
	buffer_reset(&fill->scratch);
	fill->caller.count = 0;
	r = caller_size > 0
		    ? json_tape_read(&fill->caller, caller, caller_size, JSON_DEPTH_DEFAULT, NULL)
		    : 0;
	if (r < 0)
		return r;
	fill_arguments(&(struct filling){command, tape, object, &fill->argument_text});
	buffer_append(&fill->environment_text, fixed, environment_size(fixed) - 1);
	append_caller(fill, fixed);
	append_arguments(fill, fixed, tape, object);
	return point(fill);
}

void command_fill_trim(struct command_fill *fill)
{
	buffer_recycle(&fill->argument_text, KEEP_BYTES);
	buffer_recycle(&fill->environment_text, KEEP_BYTES);
	buffer_recycle(&fill->pointers, KEEP_BYTES);
	buffer_recycle(&fill->scratch, KEEP_BYTES);
}

void command_fill_deinit(struct command_fill *fill)
{
	buffer_deinit(&fill->argument_text);
	buffer_deinit(&fill->environment_text);
	buffer_deinit(&fill->pointers);
	buffer_deinit(&fill->scratch);
	json_tape_deinit(&fill->caller);
}
