/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "catalogue/package.h"
#include "util/array.h"
#include "util/environment.h"

/* The output schema of a tool without one of its own (contract.md, Command). */
static const char text_output[] =
	"{\"type\":\"object\",\"properties\":{\"output\":{\"type\":\"string\"}},"
	"\"required\":[\"output\"]}";
static const char json_output[] = "{\"type\":\"object\"}";
static const char lines_output[] =
	"{\"type\":\"object\",\"properties\":{\"output\":{\"type\":\"array\"}},"
	"\"required\":[\"output\"]}";

static const char *const usual_outputs[] = {
	[COMMAND_TEXT] = text_output,
	[COMMAND_JSON] = json_output,
	[COMMAND_JSON_LINES] = lines_output,
	[COMMAND_CONTENT] = json_output,
};

/* The characters of a variable's name. */
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static int note_mistake(
	const struct manifest_scope *scope, int status, struct command_mistake mistake)
{
	if (status == COMMAND_E_MALFORMED)
		diagnose_found(scope->problems, scope->tape, mistake.token, mistake.expected);
	return status < 0 ? status : 0;
}

/* ── what is found from the manifest's folder ────────────────────────────────────────────────── */

/* Make the owned *path absolute. */
static int join(const struct manifest_scope *scope, char **path)
{
	char *joined;

	if (**path == '/')
		return 0;
	if (asprintf(&joined, "%s/%s", scope->folder, *path) < 0)
		return -ENOMEM;
	free(*path);
	*path = joined;
	return 0;
}

/* The tool's own folder, else the toolbox's, else the manifest's. */
static int place_cwd(const struct manifest_scope *scope, uint32_t given, struct command *command)
{
	uint32_t common = json_find(scope->tape, 0, "cwd");
	uint32_t own = json_find(scope->tape, given, "cwd");
	struct stat status;

	if (!command->cwd)
		command->cwd = common != JSON_NONE ? json_string_dup(scope->tape, common, NULL)
						   : strdup(scope->folder);
	if (!command->cwd || join(scope, &command->cwd) < 0)
		return -ENOMEM;
	if ((own || common) && (stat(command->cwd, &status) < 0 || !S_ISDIR(status.st_mode)))
		diagnose(scope->problems, DIAGNOSTIC_WARNING, scope->tape, own ? own : common,
			"the folder '%s' does not exist: no call can run without it", command->cwd);
	return 0;
}

/* Return advice for a program not runnable for the reason @error (a negative errno). */
static const char *help_for(const char *program, int error)
{
	if (error == -EACCES)
		return " (chmod +x makes it a program)";
	if (error == -ENOENT && !strchr(program, '/'))
		return " (in none of the folders of PATH)";
	return error == -ENOENT ? " (a relative path begins at the manifest's folder)" : "";
}

static int place_program(const struct manifest_scope *scope, uint32_t argv, struct tool *tool)
{
	struct command *command = &tool->command;
	char **program = &command->arguments.items[0];
	char path[PATH_MAX];
	int r;

	if (strchr(*program, '/') && join(scope, program) < 0)
		return -ENOMEM;
	r = command_find_program(command, path);
	/* A path is watched, whatever is wrong with it: the file may become a program. */
	if (r < 0)
		snprintf(path, sizeof(path), "%s", strchr(*program, '/') ? *program : "");
	if (origins_add(&scope->toolbox->package->programs, path, &tool->program) < 0)
		return -ENOMEM;
	tool->beside = ORIGIN_NONE;
	if (r < 0)
		diagnose(scope->problems, DIAGNOSTIC_WARNING, scope->tape,
			argv ? json_first(scope->tape, argv) : argv,
			"the program '%s' cannot be run at present: %s%s", *program, strerror(-r),
			help_for(*program, r));
	return 0;
}

/* Programs that run a given file. A version may follow the name. */
static const char *const interpreters[] = {"sh", "ash", "bash", "dash", "fish", "ksh", "zsh",
	"python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit",
	"tclsh", "guile", "Rscript", "julia", "java"};

static bool is_interpreter(const char *argument)
{
	const char *name = basename(argument);

	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		size_t size = strlen(interpreters[i]);

		if (strncmp(name, interpreters[i], size) == 0 &&
			!name[size + strspn(name + size, "0123456789.")])
			return true;
	}
	return false;
}

/* Return whether @option gives the @interpreter its program as text: `-c`, `-lc`, or `-ne` (no text
 * for a shell). A following file is data. */
static bool takes_text(const char *interpreter, const char *option)
{
	size_t name_size = strlen(interpreter);
	size_t size = strlen(option);
	bool is_shell = name_size > 1 && strcmp(interpreter + name_size - 2, "sh") == 0;

	if (size < 2 || option[0] != '-' || option[1] == '-')
		return strcmp(option, "--eval") == 0;
	return option[size - 1] == 'c' || (!is_shell && strchr("em", option[size - 1]));
}

/* Return whether the file at @path exists, and is run: because an interpreter @takes it, or by
 * itself. Any other file is data, which may change at any time. */
static bool is_script(const char *path, bool takes)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       (takes || (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0);
}

/* Have the scripts among the arguments belong to the program: the first file after an interpreter,
 * and other programs. */
static int place_scripts(const struct manifest_scope *scope, struct tool *tool)
{
	struct command *command = &tool->command;
	const struct text_list *arguments = &command->arguments;
	const char *interpreter = is_interpreter(arguments->items[0]) ? arguments->items[0] : NULL;
	char path[PATH_MAX];

	command->scripts = (struct command_set){0};
	tool->n_scripts = 0;
	for (size_t i = 1; i < arguments->n_items && tool->n_scripts < COMMAND_SCRIPTS_MAX; i++) {
		const char *argument = arguments->items[i];
		bool is_taken = command_script_path(command, i, path) &&
				is_script(path, interpreter != NULL);

		if (is_interpreter(argument))
			interpreter = argument;
		else if (is_taken || (interpreter && takes_text(interpreter, argument)))
			interpreter = NULL;
		if (!is_taken)
			continue;
		if (origins_add(&scope->toolbox->package->programs, path,
			    &tool->scripts[tool->n_scripts]) < 0)
			return -ENOMEM;
		command_set_add(&command->scripts, i);
		tool->n_scripts++;
	}
	return 0;
}

/* Merge the tool's variables, then the toolbox's, then XDG_RUNTIME_DIR, which hosts do not get. */
static int merge_environment(const struct manifest_scope *scope, struct command *command)
{
	uint32_t common = json_find(scope->tape, 0, "env");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	cleanup(buffer_deinit) struct buffer merged = {0};
	struct command_mistake mistake;
	int r = 0;

	for (const char *entry = command->environment; entry && *entry;
		entry = environment_next(entry))
		buffer_append(&merged, entry, strlen(entry) + 1);
	if (!buffer_terminate(&merged))
		return -ENOMEM;
	if (common)
		r = note_mistake(scope,
			command_read_environment(scope->tape, common, &merged, &mistake), mistake);
	if (runtime && !environment_names(merged.data, "XDG_RUNTIME_DIR=")) {
		buffer_printf(&merged, "XDG_RUNTIME_DIR=%s", runtime);
		buffer_append_char(&merged, '\0');
	}
	if (r || merged.size == 0)
		return r;
	free(command->environment);
	command->environment = buffer_take(&merged, NULL);
	return command->environment ? 0 : -ENOMEM;
}

/* ── placeholders ────────────────────────────────────────────────────────────────────────────── */

/* Append 'a', 'b', 'c': what the arguments are called. */
static void write_names(const struct manifest_scope *scope, uint32_t properties, struct buffer *out)
{
	const struct json_tape *tape = scope->tape;

	json_each_key(key, tape, properties) {
		buffer_append_string(out, out->size > 0 ? ", '" : "'");
		json_string_decode(tape, key, out);
		buffer_append_char(out, '\'');
	}
}

static int refuse_unknown(const struct manifest_scope *scope, uint32_t place,
	const struct command_piece *piece, uint32_t properties)
{
	cleanup(buffer_deinit) struct buffer names = {0};

	if (properties != JSON_NONE)
		write_names(scope, properties, &names);
	if (!buffer_terminate(&names))
		return -ENOMEM;
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, place,
		"'{%.*s}' is not an argument (%s%s); write '{{%.*s}' for the text itself",
		(int)piece->size, piece->text,
		names.size > 0 ? "they are " : "'argument_schema' names none", names.data,
		(int)piece->size, piece->text);
	return 0;
}

/* The arguments for the elements of an argv to name. */
struct template_check {
	const struct manifest_scope *scope;
	const struct command *command;
	uint32_t properties;
};

/* Every placeholder of the template is a property of the arguments, and none chooses the program.
 */
static int check_template(
	const struct template_check *check, uint32_t place, const char *template, bool is_program)
{
	const struct manifest_scope *scope = check->scope;
	uint32_t properties = check->properties;
	struct command_piece piece;
	int r = 0;

	while (r == 0 && command_next_piece(&template, &piece)) {
		if (piece.kind == COMMAND_LITERAL)
			continue;
		if (is_program)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, place,
				"must name the program itself: '{%.*s}' would let a caller choose "
				"it",
				(int)piece.size, piece.text);
		else if (properties == JSON_NONE ||
			 !json_find_sized(scope->tape, properties, piece.text, piece.size))
			r = refuse_unknown(scope, place, &piece, properties);
	}
	return r;
}

/* A group is there for the elements of one array. */
static void check_group(const struct template_check *check, uint32_t place, size_t first)
{
	const struct command *command = check->command;
	struct command_piece known = {0};
	struct command_piece piece;

	for (size_t i = first; i < command_group_end(command, first); i++) {
		const char *template = command->arguments.items[i];

		while (command_next_piece(&template, &piece)) {
			if (piece.kind != COMMAND_ELEMENT)
				continue;
			if (known.size > 0 &&
				(known.size != piece.size ||
					memcmp(known.text, piece.text, piece.size) != 0))
				diagnose(check->scope->problems, DIAGNOSTIC_ERROR,
					check->scope->tape, place,
					"can be there for the elements of one array, not of '%.*s' "
					"and '%.*s'",
					(int)known.size, known.text, (int)piece.size, piece.text);
			known = piece;
		}
	}
}

/* The variables of the arguments are no text of a template: no shell sees it, but for a line after
 * -c. */
static void warn_of_variable(const struct template_check *check, uint32_t place, size_t index)
{
	const char *at = strstr(check->command->arguments.items[index], "$TOOL_ARG_");

	for (size_t i = 1; i < index; i++)
		if (strcmp(check->command->arguments.items[i], "-c") == 0)
			return;
	if (at)
		diagnose(check->scope->problems, DIAGNOSTIC_WARNING, check->scope->tape, place,
			"'%.*s' is passed as it is, since no shell reads it: write {NAME}, with "
			"the argument's name",
			(int)(1 + strspn(at + 1, CAPITALS)), at);
}

static int check_argv(const struct template_check *check, uint32_t argv)
{
	const struct json_tape *tape = check->scope->tape;
	const struct text_list *arguments = &check->command->arguments;
	uint32_t place = json_first(tape, argv);
	int r = 0;

	for (size_t i = 0; r == 0 && i < arguments->n_items; place = json_next(tape, place)) {
		bool is_group = json_type_at(tape, place) == JSON_ARRAY;
		size_t end = command_group_end(check->command, i);
		uint32_t at = is_group ? json_first(tape, place) : place;

		check_group(check, place, i);
		for (; r == 0 && i < end; at = json_next(tape, at), i++) {
			r = check_template(check, at, arguments->items[i], i == 0);
			warn_of_variable(check, at, i);
		}
	}
	return r;
}

/* Return whether the placeholder at @piece of the shell line @line is there for the shell:
 * `${NAME}`, `HEAD@{NAME}` and the text in single quotes are. */
static bool is_for_shell(const char *line, const struct command_piece *piece)
{
	const char *brace = piece->text - 1;
	bool is_quoted = false;

	for (const char *at = line; at < brace; at++)
		is_quoted ^= *at == '\'';
	return is_quoted || (brace > line && strchr("$@", brace[-1]));
}

/* Nothing is filled into a shell's line: an author who writes {name} there will want to know. */
static void warn_of_line(
	const struct manifest_scope *scope, uint32_t place, const char *line, uint32_t properties)
{
	const char *rest = line;
	struct command_piece piece;

	while (command_next_piece(&rest, &piece)) {
		if (piece.kind == COMMAND_LITERAL)
			continue;
		if (properties == JSON_NONE && !is_for_shell(line, &piece))
			diagnose(scope->problems, DIAGNOSTIC_WARNING, scope->tape, place,
				"'{%.*s}' is not replaced in a shell line, and this tool has no "
				"arguments",
				(int)piece.size, piece.text);
		else if (properties != JSON_NONE &&
			 json_find_sized(scope->tape, properties, piece.text, piece.size))
			diagnose(scope->problems, DIAGNOSTIC_WARNING, scope->tape, place,
				"'{%.*s}' is not replaced in a shell line: use "
				"\"$TOOL_ARG_NAME\", with the argument's name in capitals",
				(int)piece.size, piece.text);
	}
}

static int check_placeholders(
	const struct manifest_scope *scope, uint32_t entry, const struct command *command)
{
	const struct json_tape *tape = scope->tape;
	uint32_t object = json_find(tape, entry, "command");
	uint32_t schema = json_find(tape, entry, "argument_schema");
	uint32_t properties = schema ? json_find(tape, schema, "properties") : JSON_NONE;
	struct template_check check = {scope, command, properties};

	/* The schema's compiler refuses `properties` other than an object. */
	if (properties != JSON_NONE && json_type_at(tape, properties) != JSON_OBJECT)
		return 0;
	if (!command->is_shell)
		return check_argv(&check, json_find(tape, object, "argv"));
	warn_of_line(
		scope, json_find(tape, object, "shell"), command->arguments.items[2], properties);
	return 0;
}

/* The values of variables are passed as they are. */
static void warn_of_values(const struct manifest_scope *scope, uint32_t env)
{
	const struct json_tape *tape = scope->tape;

	if (env == JSON_NONE || json_type_at(tape, env) != JSON_OBJECT)
		return;
	json_each_key(key, tape, env) {
		size_t size = json_type_at(tape, key + 1) == JSON_STRING
				      ? json_at(tape, key + 1)->length
				      : 0;
		const char *value = json_bytes(tape, key + 1);
		const char *at = memchr(value, '$', size);
		size_t rest = at ? (size_t)(value + size - at) : 0;
		size_t brace = rest > 1 && at[1] == '{';
		size_t name = rest > 1 + brace ? strspn(at + 1 + brace, CAPITALS) : 0;

		if (name > 1)
			diagnose(scope->problems, DIAGNOSTIC_WARNING, tape, key + 1,
				"'%.*s' is passed as it is: variables are not replaced in 'env'",
				(int)(1 + brace + name + brace), at);
	}
}

int manifest_command_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "command");
	struct command *command = &tool->command;
	struct command_mistake mistake;
	size_t n_errors = scope->problems->n_errors;
	int r = command_read(scope->tape, given, command, &mistake);

	if (r)
		return note_mistake(scope, r, mistake);
	r = check_placeholders(scope, object, command);
	warn_of_values(scope, json_find(scope->tape, given, "env"));
	warn_of_values(scope, json_find(scope->tape, 0, "env"));
	r = r ? r : place_cwd(scope, given, command);
	r = r ? r : merge_environment(scope, command);
	if (r || scope->problems->n_errors > n_errors)
		return r;
	r = place_program(scope, json_find(scope->tape, given, "argv"), tool);
	r = r ? r : place_scripts(scope, tool);
	tool->has_content = command->output == COMMAND_CONTENT;
	return r ? r
		 : manifest_scope_read_schemas(scope, object, usual_outputs[command->output], tool);
}
