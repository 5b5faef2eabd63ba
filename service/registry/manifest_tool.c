/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/manifest_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"
#include "json/writer.h"
#include "registry/definition.h"

enum tool_risk manifest_risk(const struct json_tape *tape, uint32_t token)
{
	for (int risk = TOOL_READ; risk <= TOOL_EXECUTE; risk++)
		if (json_string_equals(tape, token, tool_risk_name((enum tool_risk)risk),
			    strlen(tool_risk_name((enum tool_risk)risk))))
			return (enum tool_risk)risk;
	return TOOL_UNRATED;
}

/* DESIGN §3: [A-Za-z_][A-Za-z0-9_-]{0,63} */
static bool is_tool_name(const char *name, size_t size)
{
	if (size == 0 || size > TOOL_NAME_BYTES || strchr("0123456789-", name[0]))
		return false;
	return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
	       size;
}

static int read_name(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t token = json_find(scope->tape, object, "name");
	size_t size;

	tool->name = json_string_dup(scope->tape, token, &size);
	if (!tool->name)
		return -ENOMEM;
	if (!is_tool_name(tool->name, size))
		problems_add(scope->problems, PROBLEM_ERROR, scope->tape, token,
			"the tool name '%.64s' must begin with a letter or '_' and hold at most %d "
			"letters, digits, '_' or '-'",
			tool->name, TOOL_NAME_BYTES);
	return 0;
}

/* What may not do yet: cooldown and time are numbers that the shape has bounded. */
static void read_numbers(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	const struct json_tape *tape = scope->tape;
	uint32_t parallel = json_find(tape, object, "parallel");
	uint32_t timeout = json_find(tape, object, "timeout_ms");
	uint32_t cooldown = json_find(tape, object, "cooldown_s");
	uint32_t risk = json_find(tape, object, "risk");

	tool->is_parallel = parallel == JSON_NONE || json_is_true(tape, parallel);
	tool->risk = risk ? manifest_risk(tape, risk) : scope->risk;
	if (timeout)
		json_number_u64(tape, timeout, &tool->timeout_ms);
	if (cooldown)
		json_number_f64(tape, cooldown, &tool->cooldown_s);
}

static int read_native(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
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

/* A schema that the manifest gives: compiled where it stands, so that mistakes have their line. */
static int compile_given(const struct manifest_scope *scope, uint32_t token,
	struct schema **ret_schema, char **ret_text)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer pointer = {0};
	int r = schema_compile(scope->tape, token, &scope->schema_options, ret_schema, &error);

	if (r < 0)
		return r;
	if (r > 0) {
		json_pointer_write(scope->tape, token, &pointer);
		buffer_append(&pointer, error.pointer.data, error.pointer.size);
		if (!buffer_terminate(&pointer) || !buffer_terminate(&error.message))
			return -ENOMEM;
		problems_add_at(scope->problems, PROBLEM_ERROR, scope->tape, pointer.data,
			error.message.data);
		return 0;
	}
	json_write_compact(&text, scope->tape, token);
	*ret_text = buffer_take(&text, NULL);
	return *ret_text ? 0 : -ENOMEM;
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
		return compile_given(scope, given, &tool->arguments, &tool->argument_schema);
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
		return compile_given(scope, given, &tool->output, &tool->output_schema);
	}
	native_write_output_schema(&tool->native, &text);
	return compile_derived(scope, json_find(scope->tape, object, "native"), &text,
		&tool->output, &tool->output_schema);
}

static int check_example(const struct manifest_scope *scope, const struct schema *schema,
	uint32_t value, const char *what)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (value == JSON_NONE)
		return 0;
	r = schema_validate(schema, scope->context, scope->tape, value);
	if (r <= 0)
		return r;
	r = schema_explain(schema, scope->context, scope->tape, value, &report);
	if (r < 0)
		return r;
	schema_report_write_text(&report, &text);
	if (!buffer_terminate(&text))
		return -ENOMEM;
	problems_add(scope->problems, PROBLEM_ERROR, scope->tape, value,
		"the example's %s must satisfy the schema: %s", what, text.data);
	return 0;
}

static int check_examples(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	const struct json_tape *tape = scope->tape;
	uint32_t examples = json_find(tape, object, "examples");
	int r = 0;

	if (examples == JSON_NONE)
		return 0;
	for (uint32_t at = json_first(tape, examples); r == 0 && at < json_end(tape, examples);
		at = json_next(tape, at)) {
		r = check_example(scope, tool->arguments, json_find(tape, at, "args"), "arguments");
		if (r == 0)
			r = check_example(
				scope, tool->output, json_find(tape, at, "result"), "result");
	}
	return r;
}

/* The members of a definition that only stand in it when the manifest gives them. */
static void write_extra(const struct manifest_scope *scope, uint32_t object,
	const struct tool *tool, struct buffer *out)
{
	static const char *const keys[] = {"parallel", "triggers", "examples"};

	if (scope->has_risk || json_find(scope->tape, object, "risk"))
		buffer_printf(out, ",\"risk\":\"%s\"", tool_risk_name(tool->risk));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		uint32_t token = json_find(scope->tape, object, keys[i]);

		if (token == JSON_NONE)
			continue;
		buffer_printf(out, ",\"%s\":", keys[i]);
		json_write_compact(out, scope->tape, token);
	}
}

static int write_definition(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer extra = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	write_extra(scope, object, tool, &extra);
	if (!buffer_terminate(&extra))
		return -ENOMEM;
	definition_write_full(tool, extra.data, &out);
	tool->definition = buffer_take(&out, &tool->definition_size);
	return tool->definition ? 0 : -ENOMEM;
}

int manifest_tool_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t description = json_find(scope->tape, object, "description");
	size_t errors = scope->problems->n_errors;
	int r;

	tool->description =
		description ? json_string_dup(scope->tape, description, NULL) : strdup("");
	if (!tool->description)
		return -ENOMEM;
	read_numbers(scope, object, tool);
	r = read_name(scope, object, tool);
	if (r == 0)
		r = read_native(scope, object, tool);
	if (r != 0)
		return r < 0 ? r : 0;
	r = read_argument_schema(scope, object, tool);
	if (r == 0)
		r = read_output_schema(scope, object, tool);
	if (r < 0 || scope->problems->n_errors > errors)
		return r;
	r = check_examples(scope, object, tool);
	return r == 0 ? write_definition(scope, object, tool) : r;
}
