/* SPDX-License-Identifier: Apache-2.0 */
#include "call/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/stringify.h"

_Static_assert(COMMAND_VALUE_BYTES_MAX == 102400 && COMMAND_ENVIRONMENT_BYTES_MAX == 65536,
	"as the mistakes have it");

#define SHELL "/bin/sh"

/* The folders searched for programs when no environment has a PATH. */
#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS  "0123456789"

static const char *const output_names[] = {
	[COMMAND_TEXT] = "text",
	[COMMAND_JSON] = "json",
	[COMMAND_JSON_LINES] = "json_lines",
	[COMMAND_CONTENT] = "content",
	NULL,
};

/* One reading: what is read, and where a mistake is noted. */
struct reading {
	const struct json_tape *tape;
	struct command *command;
	struct command_mistake *mistake;
};

static int refuse_command(struct reading *reading, uint32_t token, const char *expected)
{
	*reading->mistake = (struct command_mistake){token, expected};
	return COMMAND_E_MALFORMED;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

/* The string at @token as a text for a program. */
static int read_command_text(struct reading *reading, uint32_t token, char **ret_text)
{
	cleanup_free char *text = NULL;
	size_t size;

	if (json_type_at(reading->tape, token) != JSON_STRING)
		return refuse_command(reading, token, "must be a string");
	text = json_string_dup(reading->tape, token, &size);
	if (!text)
		return -ENOMEM;
	if (strlen(text) != size)
		return refuse_command(reading, token,
			"must not hold U+0000, which ends every argument of a program");
	if (size > COMMAND_VALUE_BYTES_MAX)
		return refuse_command(reading, token, "must not be longer than 102400 bytes");
	*ret_text = take_ptr(text);
	return 0;
}

/* Append the text at @token to the arguments. */
static int read_argument(struct reading *reading, uint32_t token)
{
	char *text = NULL;
	int r = read_command_text(reading, token, &text);

	return r ? r : text_list_take(&reading->command->arguments, text);
}

/* Append the texts of the group at @group. */
static int read_group(struct reading *reading, uint32_t group)
{
	const struct json_tape *tape = reading->tape;
	struct command *command = reading->command;
	size_t first = command->arguments.n_items;
	int r = 0;

	json_each_while(r == 0, at, tape, group) {
		if (command->arguments.n_items == COMMAND_ARGUMENTS_MAX)
			return refuse_command(reading, at,
				"must not be here: argv has at most " STRINGIFY(
					COMMAND_ARGUMENTS_MAX) " elements, with the elements of "
							       "groups");
		if (command->arguments.n_items > first)
			command_set_add(&command->joined, command->arguments.n_items);
		r = read_argument(reading, at);
	}
	return r;
}

static int read_argv(struct reading *reading, uint32_t argv)
{
	const struct json_tape *tape = reading->tape;
	int r = 0;

	if (json_type_at(tape, argv) != JSON_ARRAY || json_count(tape, argv) == 0 ||
		json_count(tape, argv) > COMMAND_ARGUMENTS_MAX)
		return refuse_command(reading, argv,
			"must be an array of 1 to " STRINGIFY(
				COMMAND_ARGUMENTS_MAX) " strings, the first of which is the "
						       "program");
	json_each_while(r == 0, at, tape, argv) {
		bool is_first = at == json_first(tape, argv);

		r = !is_first && json_type_at(tape, at) == JSON_ARRAY ? read_group(reading, at)
								      : read_argument(reading, at);
	}
	if (r)
		return r;
	check(reading->command->arguments.items);
	if (!*reading->command->arguments.items[0])
		return refuse_command(reading, json_first(tape, argv),
			"must name the program: by its path, or as PATH finds it");
	return 0;
}

static int read_shell(struct reading *reading, uint32_t shell)
{
	struct text_list *arguments = &reading->command->arguments;

	reading->command->is_shell = true;
	if (text_list_add(arguments, SHELL) < 0 || text_list_add(arguments, "-c") < 0)
		return -ENOMEM;
	return read_argument(reading, shell);
}

static int read_output(struct reading *reading, uint32_t token)
{
	int output = json_word_at(reading->tape, token, output_names);

	if (output < 0)
		return refuse_command(reading, token,
			"must be \"text\", \"json\", \"json_lines\" or \"content\"");
	reading->command->output = (enum command_output)output;
	return 0;
}

static int read_success(struct reading *reading, uint32_t list)
{
	const struct json_tape *tape = reading->tape;
	uint64_t status;

	if (json_type_at(tape, list) != JSON_ARRAY || json_count(tape, list) == 0)
		return refuse_command(reading, list, "must be an array of exit statuses");
	json_each(at, tape, list) {
		if (json_type_at(tape, at) != JSON_NUMBER ||
			json_number_u64(tape, at, &status) != 0 || status >= COMMAND_STATUSES)
			return refuse_command(
				reading, at, "must be an exit status, an integer from 0 to 255");
		command_set_add(&reading->command->success, (size_t)status);
	}
	return 0;
}

/* Read which arguments are scripts. Only the daemon writes this member: a manifest has none. */
static int read_scripts(struct reading *reading, uint32_t list)
{
	const struct json_tape *tape = reading->tape;
	uint64_t index;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return refuse_command(reading, list, "must be an array");
	json_each(at, tape, list) {
		if (json_type_at(tape, at) != JSON_NUMBER ||
			json_number_u64(tape, at, &index) != 0 ||
			index >= reading->command->arguments.n_items)
			return refuse_command(reading, at, "must be the index of an argument");
		command_set_add(&reading->command->scripts, (size_t)index);
	}
	return 0;
}

static bool is_variable_name(const char *name)
{
	return *name && !strchr(DIGITS, *name) && !name[strspn(name, LETTERS DIGITS)];
}

static int read_variable(struct reading *reading, uint32_t key, struct buffer *environment)
{
	cleanup_free char *name = NULL;
	cleanup_free char *value = NULL;
	cleanup_free char *entry = NULL;
	int r = read_command_text(reading, key, &name);

	r = r ? r : read_command_text(reading, key + 1, &value);
	if (r)
		return r;
	if (!is_variable_name(name))
		return refuse_command(reading, key,
			"must be the name of a variable: letters, digits and '_', no digit first");
	if (asprintf(&entry, "%s=%s", name, value) < 0) {
		entry = NULL;
		return -ENOMEM;
	}
	if (!environment_names(environment->data, entry))
		buffer_append(environment, entry, strlen(entry) + 1);
	return buffer_terminate(environment) ? 0 : -ENOMEM;
}

static int read_variables(struct reading *reading, uint32_t object, struct buffer *environment)
{
	const struct json_tape *tape = reading->tape;
	int r = 0;

	if (json_type_at(tape, object) != JSON_OBJECT)
		return refuse_command(reading, object, "must be an object of strings");
	json_each_key_while(r == 0, key, tape, object)
		r = read_variable(reading, key, environment);
	if (r == 0 && environment->size > COMMAND_ENVIRONMENT_BYTES_MAX)
		return refuse_command(
			reading, object, "must not hold more than 65536 bytes in all");
	return r;
}

int command_read_environment(const struct json_tape *tape, uint32_t object,
	struct buffer *environment, struct command_mistake *ret_mistake)
{
	struct reading reading = {.tape = tape, .mistake = ret_mistake};

	return read_variables(&reading, object, environment);
}

static int read_command_members(struct reading *reading, uint32_t object)
{
	const struct json_tape *tape = reading->tape;
	uint32_t argv = json_find(tape, object, "argv");
	uint32_t shell = json_find(tape, object, "shell");
	uint32_t output = json_find(tape, object, "output");
	uint32_t scripts = json_find(tape, object, "scripts");
	uint32_t success = json_find(tape, object, "success");
	uint32_t cwd = json_find(tape, object, "cwd");
	uint32_t env = json_find(tape, object, "env");
	cleanup(buffer_deinit) struct buffer environment = {0};
	int r;

	if (!argv == !shell)
		return refuse_command(reading, object,
			"must have either 'argv' (a program and its arguments) or 'shell' (a line "
			"for sh -c)");
	r = argv ? read_argv(reading, argv) : read_shell(reading, shell);
	if (r == 0 && output)
		r = read_output(reading, output);
	if (r == 0 && scripts)
		r = read_scripts(reading, scripts);
	if (r == 0 && success)
		r = read_success(reading, success);
	else
		command_set_add(&reading->command->success, 0);
	if (r == 0 && cwd)
		r = read_command_text(reading, cwd, &reading->command->cwd);
	if (r == 0 && env)
		r = read_variables(reading, env, &environment);
	if (r || environment.size == 0)
		return r;
	reading->command->environment = buffer_take(&environment, NULL);
	return reading->command->environment ? 0 : -ENOMEM;
}

int command_read(const struct json_tape *tape, uint32_t object, struct command *ret_command,
	struct command_mistake *ret_mistake)
{
	struct command command = {0};
	struct reading reading = {tape, &command, ret_mistake};
	int r = object != JSON_NONE && json_type_at(tape, object) == JSON_OBJECT
			? read_command_members(&reading, object)
			: refuse_command(
				  &reading, object, "must be an object with 'argv' or 'shell'");

	if (r)
		command_deinit(&command);
	else
		*ret_command = command;
	return r;
}

void command_deinit(struct command *command)
{
	text_list_deinit(&command->arguments);
	free(command->cwd);
	free(command->environment);
	*command = (struct command){0};
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

static void write_environment(const char *environment, const char *overridden, struct buffer *out)
{
	buffer_append_string(out, ",\"env\":{");
	for (const char *entry = environment; entry && *entry; entry = environment_next(entry)) {
		size_t name_size = strcspn(entry, "=");

		if (environment_names(overridden, entry))
			continue;
		json_write_comma(out);
		json_write_string(out, entry, name_size);
		buffer_append_char(out, ':');
		json_write_text(out, entry + name_size + 1);
	}
	buffer_append_char(out, '}');
}

static void write_argv(const struct command *command, struct buffer *out)
{
	buffer_append_string(out, ",\"argv\":[");
	for (size_t i = 0; i < command->arguments.n_items; i++) {
		bool is_joined = command_set_has(&command->joined, i);
		size_t end = is_joined ? i : command_group_end(command, i);

		buffer_append_string(out, i > 0 ? "," : "");
		buffer_append_string(out, end > i + 1 ? "[" : "");
		json_write_text(out, command->arguments.items[i]);
		if (is_joined && command_group_end(command, i) == i + 1)
			buffer_append_char(out, ']');
	}
	buffer_append_char(out, ']');
}

/* Write the exit statuses of success, unless only 0 means success. */
static void write_success(const struct command_set *success, struct buffer *out)
{
	static const struct command_set usual = {{1}};
	bool is_first = true;

	if (memcmp(success, &usual, sizeof(usual)) == 0)
		return;
	buffer_append_string(out, ",\"success\":[");
	for (unsigned int status = 0; status < COMMAND_STATUSES; status++) {
		if (!command_set_has(success, status))
			continue;
		buffer_printf(out, "%s%u", is_first ? "" : ",", status);
		is_first = false;
	}
	buffer_append_char(out, ']');
}

/* Write which arguments are scripts, if there are any. */
static void write_scripts(const struct command *command, struct buffer *out)
{
	bool is_first = true;

	for (unsigned int i = 0; i < command->arguments.n_items; i++) {
		if (!command_set_has(&command->scripts, i))
			continue;
		buffer_printf(out, "%s%u", is_first ? ",\"scripts\":[" : ",", i);
		is_first = false;
	}
	buffer_append_string(out, is_first ? "" : "]");
}

void command_write(
	const struct command *command, const char *name, const char *overridden, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, name);
	if (command->is_shell)
		json_write_member_text(out, "shell", command->arguments.items[2]);
	else
		write_argv(command, out);
	buffer_printf(out, ",\"output\":\"%s\"", output_names[command->output]);
	write_scripts(command, out);
	write_success(&command->success, out);
	if (command->cwd)
		json_write_member_text(out, "cwd", command->cwd);
	write_environment(command->environment, overridden, out);
	buffer_append_char(out, '}');
}

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

/* Read the placeholder at @at. Return false without one. */
static bool read_placeholder(const char *at, struct command_piece *ret_piece, size_t *ret_size)
{
	static const struct {
		const char *end;
		enum command_piece_kind kind;
	} ends[] = {{"}", COMMAND_VALUE}, {"?}", COMMAND_CONDITION}, {"...}", COMMAND_ELEMENT}};
	size_t size = strspn(at + 1, LETTERS DIGITS "-");

	if (size == 0 || strchr(DIGITS "-", at[1]))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end_size = strlen(ends[i].end);

		if (strncmp(at + 1 + size, ends[i].end, end_size) != 0)
			continue;
		*ret_piece = (struct command_piece){at + 1, size, ends[i].kind};
		*ret_size = 1 + size + end_size;
		return true;
	}
	return false;
}

bool command_next_piece(const char **template, struct command_piece *ret_piece)
{
	const char *at = *template;
	size_t size;

	if (!*at)
		return false;
	if (at[0] == '{' && at[1] == '{') {
		*ret_piece = (struct command_piece){at, 1, COMMAND_LITERAL};
		*template = at + 2;
		return true;
	}
	if (*at == '{' && read_placeholder(at, ret_piece, &size)) {
		*template = at + size;
		return true;
	}
	/* Literal text up to the next brace. The character at its start is literal even if it is a
	 * brace. */
	size = 1 + strcspn(at + 1, "{");
	*ret_piece = (struct command_piece){at, size, COMMAND_LITERAL};
	*template = at + size;
	return true;
}

size_t command_group_end(const struct command *command, size_t first)
{
	do
		first++;
	while (first < command->arguments.n_items && command_set_has(&command->joined, first));
	return first;
}

bool command_is_absent(const struct json_tape *tape, uint32_t value)
{
	return value == JSON_NONE || json_type_at(tape, value) == JSON_NULL;
}

const char *command_refusal(const struct json_tape *tape, uint32_t value)
{
	static const char too_long[] =
		"must not be longer than 102400 bytes, the most that is passed to a program as an "
		"argument";
	const struct json_token *token = json_at(tape, value);
	cleanup(buffer_deinit) struct buffer text = {0};

	/* A string without escapes has no U+0000, and is no longer than its token. */
	if (token->type == JSON_STRING && !(token->flags & JSON_ESCAPED))
		return token->length > COMMAND_VALUE_BYTES_MAX ? too_long : NULL;
	command_write_value(tape, value, &text);
	if (buffer_status(&text))
		return "cannot be passed to the program: memory is short";
	if (text.size > COMMAND_VALUE_BYTES_MAX)
		return too_long;
	if (text.size > 0 && memchr(text.data, '\0', text.size))
		return "must not hold U+0000, which no argument of a program can";
	return NULL;
}

/* Return how the argument named by the string at @key is filled in; COMMAND_LITERAL: not at all. */
static enum command_piece_kind find_use(
	const struct command *command, const struct json_tape *tape, uint32_t key)
{
	struct command_piece piece;

	for (size_t i = 1; i < command->arguments.n_items && !command->is_shell; i++) {
		const char *template = command->arguments.items[i];

		while (command_next_piece(&template, &piece))
			if ((piece.kind == COMMAND_VALUE || piece.kind == COMMAND_ELEMENT) &&
				json_string_equals(tape, key, piece.text, piece.size))
				return piece.kind;
	}
	return COMMAND_LITERAL;
}

/* Return the reason why the value at @value cannot be filled in for @use; NULL when it can. */
static const char *refuse_use(
	enum command_piece_kind use, const struct json_tape *tape, uint32_t value)
{
	const char *message = NULL;

	if (use == COMMAND_LITERAL)
		return NULL;
	if (use != COMMAND_ELEMENT || json_type_at(tape, value) != JSON_ARRAY)
		return command_refusal(tape, value);
	json_each_while(!message, at, tape, value)
		message = command_refusal(tape, at);
	return message;
}

uint32_t command_next_refused(const struct command *command, const struct json_tape *tape,
	uint32_t object, uint32_t key, const char **ret_message)
{
	for (; key < json_end(tape, object); key = json_next_key(tape, key)) {
		const char *message = refuse_use(find_use(command, tape, key), tape, key + 1);

		if (message) {
			*ret_message = message;
			break;
		}
	}
	return key;
}

void command_write_value(const struct json_tape *tape, uint32_t value, struct buffer *out)
{
	if (json_type_at(tape, value) == JSON_STRING)
		json_string_decode(tape, value, out);
	else
		json_write_compact(out, tape, value);
}

/* ── the program ─────────────────────────────────────────────────────────────────────────────── */

/* Whether @path can be run: 0 or a negative errno. */
static int try_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

/* The PATH for the program. */
static const char *search_path(const char *environment)
{
	const char *path = getenv("PATH");

	for (const char *entry = environment; entry && *entry; entry = environment_next(entry))
		if (strncmp(entry, "PATH=", strlen("PATH=")) == 0)
			return entry + strlen("PATH=");
	return path && *path ? path : PATH_DEFAULT;
}

bool command_script_path(const struct command *command, size_t index, char ret_path[PATH_MAX])
{
	const char *name = command->arguments.items[index];
	bool is_absolute = *name == '/';
	int length;

	if (command->is_shell || !*name || strchr(name, '{'))
		return false;
	length = snprintf(ret_path, PATH_MAX, "%s%s%s",
		is_absolute || !command->cwd ? "" : command->cwd, is_absolute ? "" : "/", name);
	return length < PATH_MAX;
}

int command_find_program(const struct command *command, char ret_path[PATH_MAX])
{
	const char *name = command->arguments.items[0];
	int best = -ENOENT;

	if (strchr(name, '/'))
		return snprintf(ret_path, PATH_MAX, "%s", name) < PATH_MAX ? try_program(ret_path)
									   : -ENAMETOOLONG;
	for (const char *at = search_path(command->environment); *at; at += *at == ':') {
		int size = (int)strcspn(at, ":");
		int r;

		/* Skip a relative folder: it would depend on the current folder. */
		if (*at == '/' &&
			snprintf(ret_path, PATH_MAX, "%.*s/%s", size, at, name) < PATH_MAX) {
			r = try_program(ret_path);
			if (r == 0)
				return 0;
			best = r == -ENOENT || r == -ENOTDIR ? best : r;
		}
		at += size;
	}
	return best;
}
