/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/manifest_native.h"

#include <errno.h>
#include <string.h>

static int read_function(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	struct native_error error = {0};
	int r = native_function_read(
		scope->tape, json_find(scope->tape, object, "native"), &tool->native, &error);

	if (r > 0)
		problems_add(scope->problems, PROBLEM_ERROR, scope->tape, error.token, "%s",
			error.message.data ? error.message.data : "cannot be used");
	buffer_deinit(&error.message);
	return r;
}

/* A schema that follows from the function's types: what can be wrong with it is a default. */
static int compile_derived(const struct manifest_scope *scope, uint32_t place, struct buffer *text,
	struct schema **ret_schema, char **ret_text)
{
	struct schema_options options = {.check_defaults = true, .is_trusted = true};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	int r = buffer_status(text);

	if (r == 0)
		r = json_tape_read(&tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	if (r == 0)
		r = schema_compile(&tape, 0, &options, ret_schema, &error);
	if (r < 0)
		return r;
	if (r > 0) {
		problems_add(scope->problems, PROBLEM_ERROR, scope->tape, place,
			"the schema of this function cannot be used: %s",
			error.message.data && buffer_terminate(&error.message) ? error.message.data
									       : "no reason");
		return 0;
	}
	*ret_text = buffer_take(text, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

/* Whether the names that @has says yes to are the given schema's properties: an author who writes
 * a schema beside the function must mean the same parameters. */
static void compare_names(const struct manifest_scope *scope, uint32_t given,
	const char *const *names, size_t n_names, const char *what)
{
	const struct json_tape *tape = scope->tape;
	uint32_t properties = json_find(tape, given, "properties");

	/* What is no object is for the schema's compiler to refuse. */
	if (properties != JSON_NONE && json_type_at(tape, properties) != JSON_OBJECT)
		return;
	for (size_t i = 0; i < n_names; i++)
		if (properties == JSON_NONE || !json_find(tape, properties, names[i]))
			problems_add(scope->problems, PROBLEM_ERROR, tape,
				properties ? properties : given,
				"the %s '%s' of the function is missing in the schema's properties",
				what, names[i]);
	if (properties == JSON_NONE)
		return;
	for (uint32_t key = json_first(tape, properties); key < json_end(tape, properties);
		key = json_next_key(tape, key)) {
		size_t i = 0;

		while (i < n_names && !json_string_equals(tape, key, names[i], strlen(names[i])))
			i++;
		if (i == n_names)
			problems_add(scope->problems, PROBLEM_ERROR, tape, key,
				"the function has no %s of this name", what);
	}
}

static int read_argument_schema(
	const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "argument_schema");
	const char *names[NATIVE_PARAMETERS_MAX];
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t n_names = 0;

	if (given) {
		for (size_t i = 0; i < tool->native.n_parameters; i++)
			if (!tool->native.parameters[i].value_json)
				names[n_names++] = tool->native.parameters[i].name;
		compare_names(scope, given, names, n_names, "parameter");
		return manifest_compile_given(
			scope, given, &tool->arguments, &tool->argument_schema);
	}
	native_write_argument_schema(&tool->native, &text);
	return compile_derived(scope, json_find(scope->tape, object, "native"), &text,
		&tool->arguments, &tool->argument_schema);
}

static int read_output_schema(
	const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "output_schema");
	const char *name = tool->native.return_name;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (given) {
		compare_names(
			scope, given, &name, tool->native.return_type != NATIVE_VOID, "result");
		return manifest_compile_given(scope, given, &tool->output, &tool->output_schema);
	}
	native_write_output_schema(&tool->native, &text);
	return compile_derived(scope, json_find(scope->tape, object, "native"), &text,
		&tool->output, &tool->output_schema);
}

int manifest_native_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	int r = read_function(scope, object, tool);

	if (r != 0)
		return r < 0 ? r : 0;
	r = read_argument_schema(scope, object, tool);
	return r == 0 ? read_output_schema(scope, object, tool) : r;
}
