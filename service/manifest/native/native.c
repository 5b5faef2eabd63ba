/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/native/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "schema/compile/map.h"
#include "util/array.h"

/* The most members that a refusal lists. */
#define NAMES_MAX 10

/* Refuse a schema of @size bytes, the latest one of the toolbox, that is too long. */
static bool is_too_long(const struct manifest_scope *scope, uint32_t place, size_t size)
{
	if (size > NATIVE_SCHEMA_BYTES_MAX) {
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, place,
			"the schema made from this function has more than %u bytes: nest fewer "
			"structs, shorten what describes their fields, or give the schema yourself",
			NATIVE_SCHEMA_BYTES_MAX);
		return true;
	}
	if (scope->toolbox->package->schema_bytes <= NATIVE_SCHEMAS_BYTES_MAX)
		return false;
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, place,
		"the schemas made from the functions of the toolbox have more than %u bytes: give "
		"some tools to another toolbox",
		NATIVE_SCHEMAS_BYTES_MAX);
	return true;
}

/* A schema by the function's types: only a default can be wrong. */
static int compile_derived(const struct manifest_scope *scope, uint32_t place, struct buffer *text,
	struct tool_schema *ret_schema, char **ret_text)
{
	struct schema_options options = {
		.check_defaults = true,
		.is_trusted = true,
		.is_over = scope->schema_options.is_over,
		.data = scope->schema_options.data,
	};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct json_error mistake;
	int r = buffer_status(text);

	scope->toolbox->package->schema_bytes += text->size;
	if (r < 0)
		return r;
	if (is_too_long(scope, place, text->size))
		return 0;
	r = json_tape_read(&tape, text->data, text->size, JSON_DEPTH_DEFAULT, &mistake);
	if (r > 0)
		buffer_append_string(&error.message, mistake.message);
	if (r == 0)
		r = schema_compile(&tape, 0, &options, &ret_schema->compiled, &error);
	if (r < 0)
		return r;
	if (r > 0) {
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, place,
			"the schema of this function cannot be used: %s",
			error.message.data && buffer_terminate(&error.message) ? error.message.data
									       : "no reason");
		return 0;
	}
	*ret_text = buffer_take(text, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

/* The parameters for comparison with a given schema. An author who writes a schema beside the
 * function must mean the same parameters. */
struct meant {
	const struct native_parameter *const *members;
	size_t count;
	const char *what; /* "parameter", "result" */
};

/* The results of a tool with steps: names alone, without types in C (NATIVE_VOID). */
struct step_results {
	struct native_parameter *items; /* owned, with their names */
	const struct native_parameter **members;
	size_t count;
};

static void step_results_deinit(struct step_results *results)
{
	for (size_t i = 0; i < results->count; i++)
		free(results->items[i].name);
	free(results->items);
	free(results->members);
}

/* List the members of the result by @schema, the schema of a program. */
static int list_step_results(const char *schema, struct step_results *results)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, schema, strlen(schema), JSON_DEPTH_DEFAULT, NULL);
	uint32_t properties = r == 0 ? json_find(&tape, 0, "properties") : JSON_NONE;

	if (properties == JSON_NONE)
		return r < 0 ? r : 0;
	json_each_key(key, &tape, properties) {
		cleanup(buffer_deinit) struct buffer name = {0};

		if (array_grow(results->items, results->count) < 0)
			return -ENOMEM;
		json_string_decode(&tape, key, &name);
		results->items[results->count] =
			(struct native_parameter){.name = buffer_take(&name, NULL)};
		if (!results->items[results->count].name)
			return -ENOMEM;
		results->count++;
	}
	results->members = calloc(results->count + 1, sizeof(*results->members));
	for (size_t i = 0; results->members && i < results->count; i++)
		results->members[i] = &results->items[i];
	return results->members ? 0 : -ENOMEM;
}

/* Find the number of the member with the name at @key; MAP_NONE: there is none. 0 or -ENOMEM. */
static int find_meant(const struct manifest_scope *scope, const struct map *by_name, uint32_t key,
	uint32_t *ret_at)
{
	cleanup(buffer_deinit) struct buffer name = {0};

	json_string_decode(scope->tape, key, &name);
	if (buffer_status(&name) < 0)
		return buffer_status(&name);
	*ret_at = map_find(by_name, buffer_text(&name), name.size);
	return 0;
}

/* Whether the schema's `type` at @type, a word or several, lets any value of the parameter pass. */
static bool allows_type(
	const struct json_tape *tape, uint32_t type, const struct native_parameter *parameter)
{
	bool is_list = json_type_at(tape, type) == JSON_ARRAY;

	for (uint32_t i = is_list ? json_first(tape, type) : type; i < json_end(tape, type);
		i = json_next(tape, i))
		if (native_allows_word(parameter, json_bytes(tape, i), json_at(tape, i)->length))
			return true;
	return false;
}

/* Hold the given schema of one property against the type in C. */
static void compare_type(const struct manifest_scope *scope, uint32_t schema,
	const struct native_parameter *parameter, const char *what)
{
	const struct json_tape *tape = scope->tape;
	uint32_t type = json_type_at(tape, schema) == JSON_OBJECT ? json_find(tape, schema, "type")
								  : JSON_NONE;
	const char *found;
	size_t size;

	if (type == JSON_NONE || parameter->type == NATIVE_VOID ||
		allows_type(tape, type, parameter))
		return;
	found = json_value_text(tape, type, &size);
	diagnose(scope->problems, DIAGNOSTIC_ERROR, tape, type,
		"the %s '%s' is of type %s in C: its schema must allow \"%s\", not only %.*s", what,
		parameter->name, native_parameter_word(parameter), native_schema_word(parameter),
		(int)(size < 64 ? size : 64), found);
}

/* Report the property at @key: the function has no such part. */
static void refuse_property(
	const struct manifest_scope *scope, uint32_t key, const struct meant *meant)
{
	cleanup(buffer_deinit) struct buffer names = {0};

	for (size_t i = 0; i < meant->count && i < NAMES_MAX; i++)
		buffer_printf(&names, "%s'%s'", i > 0 ? ", " : "", meant->members[i]->name);
	if (meant->count > NAMES_MAX)
		buffer_append_string(&names, ", …");
	if (meant->count == 0)
		buffer_append_string(&names, "none");
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, key,
		"the function has no %s of this name; expected %s", meant->what,
		buffer_terminate(&names) ? names.data : "others");
}

/* Report the members that the properties at @properties (JSON_NONE: there are none) lack. */
static int refuse_missing(const struct manifest_scope *scope, uint32_t given, uint32_t properties,
	const struct meant *meant, const struct map *by_name)
{
	cleanup_free bool *is_there = calloc(meant->count + 1, sizeof(*is_there));

	if (!is_there)
		return -ENOMEM;
	json_each_key_found(key, scope->tape, properties) {
		uint32_t at;

		if (find_meant(scope, by_name, key, &at) < 0)
			return -ENOMEM;
		is_there[at != MAP_NONE ? at : meant->count] = true;
	}
	for (size_t i = 0; i < meant->count; i++)
		if (!is_there[i])
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape,
				properties != JSON_NONE ? properties : given,
				"the %s '%s' of the function is missing in the schema's properties",
				meant->what, meant->members[i]->name);
	return 0;
}

/* Compare the properties of the given schema with the function's parameters, both ways, in time
 * proportional to both. */
static int compare_properties(
	const struct manifest_scope *scope, uint32_t given, const struct meant *meant)
{
	uint32_t properties = json_find(scope->tape, given, "properties");
	cleanup(map_deinit) struct map by_name = {0};

	for (uint32_t i = 0; i < meant->count; i++)
		if (map_add(&by_name, meant->members[i]->name, strlen(meant->members[i]->name),
			    i) == -ENOMEM)
			return -ENOMEM;
	if (refuse_missing(scope, given, properties, meant, &by_name) < 0)
		return -ENOMEM;
	json_each_key_found(key, scope->tape, properties) {
		uint32_t at;

		if (find_meant(scope, &by_name, key, &at) < 0)
			return -ENOMEM;
		if (at < meant->count)
			compare_type(scope, key + 1, meant->members[at], meant->what);
		else
			refuse_property(scope, key, meant);
	}
	return 0;
}

static int read_argument_schema(
	const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "argument_schema");
	const struct native_parameter *members[NATIVE_PARAMETERS_MAX];
	const struct meant meant = {
		members, native_list_arguments(&tool->native, members), "parameter"};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (given != JSON_NONE) {
		r = manifest_scope_compile(
			scope, given, &tool->schemas->arguments, &tool->argument_schema);
		if (r == 0 && tool->schemas->arguments.compiled)
			r = compare_properties(scope, given, &meant);
		return r;
	}
	native_write_argument_schema(&tool->native, &text);
	return compile_derived(scope, json_find(scope->tape, object, "native"), &text,
		&tool->schemas->arguments, &tool->argument_schema);
}

/* Report results that rich content has not: it is `content` and `structured`. */
static void refuse_other_results(
	const struct manifest_scope *scope, uint32_t object, const struct meant *meant)
{
	uint32_t native = json_find(scope->tape, object, "native");
	bool has_blocks = false;
	bool has_other = false;

	for (size_t i = 0; i < meant->count; i++) {
		const struct native_parameter *member = meant->members[i];
		bool is_blocks = strcmp(member->name, "content") == 0 &&
				 (member->type == NATIVE_JSON || member->type == NATIVE_VOID);

		has_blocks |= is_blocks;
		has_other |= !is_blocks && strcmp(member->name, "structured") != 0;
	}
	if (!has_blocks || has_other)
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape,
			json_find(scope->tape, native, "output"),
			"rich content is a json called 'content' and, if there is one, a value "
			"called 'structured': name the results so, and leave others out by "
			"\"name\": null");
}

static int read_output_schema(
	const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "output_schema");
	const struct native_parameter *members[NATIVE_RESULTS_MAX];
	struct meant meant = {members, native_list_results(&tool->native, members), "result"};
	cleanup(step_results_deinit) struct step_results results = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	/* One that is too long is cut, and has no list. */
	bool is_whole = !tool->steps || strlen(tool->steps->schema) <= NATIVE_SCHEMA_BYTES_MAX;
	int r = tool->steps && is_whole ? list_step_results(tool->steps->schema, &results) : 0;

	if (r)
		return r;
	if (tool->steps)
		meant = (struct meant){results.members, results.count, "result"};
	if (tool->has_content) {
		if (is_whole)
			refuse_other_results(scope, object, &meant);
		return manifest_scope_read_content(scope, given, tool);
	}
	if (given != JSON_NONE) {
		r = manifest_scope_compile(
			scope, given, &tool->schemas->output, &tool->output_schema);
		if (r == 0 && tool->schemas->output.compiled && is_whole)
			r = compare_properties(scope, given, &meant);
		return r;
	}
	if (tool->steps)
		buffer_append_string(&text, tool->steps->schema);
	else
		native_write_output_schema(&tool->native, &text);
	return compile_derived(scope, json_find(scope->tape, object, "native"), &text,
		&tool->schemas->output, &tool->output_schema);
}

/* Compile the schema of a json at @token, used as a part of another schema. Its mistakes are
 * reported at its own place. */
static int check_part(const struct manifest_scope *scope, uint32_t token)
{
	struct tool_schema schema = {0};
	cleanup_free char *text = NULL;
	int r = token ? manifest_scope_compile(scope, token, &schema, &text) : 0;

	schema_free(schema.compiled);
	return r;
}

static int check_parts(const struct manifest_scope *scope, uint32_t object)
{
	const struct json_tape *tape = scope->tape;
	uint32_t native = json_find(tape, object, "native");
	uint32_t parameters = json_find(tape, native, "parameters");
	uint32_t returns = json_find(tape, native, "returns");
	int r = returns ? check_part(scope, json_find(tape, returns, "schema")) : 0;

	json_each_found_while(r == 0, i, tape, parameters)
		r = check_part(scope, json_find(tape, i, "schema"));
	return r;
}

/* Return the variable of `init` that the string `$$name` at @token names, or NULL. */
static const struct native_variable *find_process_variable(
	const struct manifest_scope *scope, uint32_t token)
{
	const struct native_program *init = scope->toolbox->package->init;
	const char *text = json_bytes(scope->tape, token);
	uint32_t size = json_at(scope->tape, token)->length;

	if (!init || size < 2 || memcmp(text, "$$", 2) != 0)
		return NULL;
	for (size_t i = 0; i < init->n_variables; i++)
		if (strlen(init->variables[i].name) == size - 2 &&
			memcmp(init->variables[i].name, text + 2, size - 2) == 0)
			return &init->variables[i];
	return NULL;
}

/* Check `exclusive` of the tool at @object. A process of this kind runs one call at a time, so no
 * two calls use a handle of `init` at once, and nothing is kept of the list. */
static void check_exclusive(const struct manifest_scope *scope, uint32_t object)
{
	uint32_t list = json_find(scope->tape, object, "exclusive");

	json_each_found(at, scope->tape, list) {
		const struct native_variable *variable = find_process_variable(scope, at);

		if (!variable)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, at,
				"must be the name of a handle that 'init' sets, as \"$$db\"");
		else if (!variable->is_handle)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, at,
				"'%s' of 'init' is no handle, and no call changes it",
				variable->name);
	}
}

int manifest_native_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	const struct native_types *types = scope->toolbox->package->types;
	size_t n_errors = scope->problems->n_errors;
	uint32_t native = json_find(scope->tape, object, "native");
	int r = json_find(scope->tape, native, "steps") == JSON_NONE
			? native_function_read(
				  scope->tape, native, types, &tool->native, scope->problems)
			: native_program_read(scope->tape, native, types,
				  scope->toolbox->package->init, &tool->native, &tool->steps,
				  scope->problems);

	check_exclusive(scope, object);
	if (r == 0)
		r = check_parts(scope, object);
	if (r != 0 || scope->problems->n_errors > n_errors)
		return r < 0 ? r : 0;
	tool->has_content = json_find(scope->tape, json_find(scope->tape, object, "native"),
				    "output") != JSON_NONE;
	r = read_argument_schema(scope, object, tool);
	r = r ? r : read_output_schema(scope, object, tool);
	if (tool->steps)
		free(take_ptr(tool->steps->schema));
	return r;
}
