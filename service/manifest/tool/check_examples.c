/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/tool/check_examples.h"

#include <errno.h>
#include <string.h>

#include "catalogue/arguments.h"
#include "catalogue/package.h"
#include "json/member.h"
#include "json/pointer.h"
#include "schema/words/describe.h"

/* Report that @value of @tape, at @pointer of the manifest, cannot be passed. */
static int refuse_value(const struct manifest_scope *scope, const char *pointer, const char *what,
	const char *expected, const struct json_tape *tape, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "the %s cannot be passed: %s; came: ", what, expected);
	describe_value(tape, value, &text);
	if (!buffer_terminate(&text))
		return -ENOMEM;
	diagnose_at(scope->problems, DIAGNOSTIC_ERROR, scope->tape, pointer, text.data);
	return 0;
}

/* Report that the check of @what at @token could not be finished. 0. */
static int refuse_check(const struct manifest_scope *scope, uint32_t token, const char *what)
{
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token, "the %s %s", what,
		schema_stop_text(scope->context));
	return 0;
}

/* ── examples ────────────────────────────────────────────────────────────────────────────────── */

static int check_schema(const struct manifest_scope *scope, const struct schema *schema,
	uint32_t value, const char *what)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = schema_validate(schema, scope->context, scope->tape, value);

	if (r <= 0)
		return r;
	r = schema_explain(schema, scope->context, scope->tape, value, &report);
	if (r < 0)
		return r;
	schema_report_write_text(&report, "Parameters", &text);
	if (!buffer_terminate(&text))
		return -ENOMEM;
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, value,
		"the example's %s must satisfy the schema: %s", what, text.data);
	return 0;
}

/* Check whether the arguments at @arguments, which satisfy the schema, can be passed. */
static int check_passing(
	const struct manifest_scope *scope, uint32_t arguments, const struct tool *tool)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = arguments_marshal_check(tool, scope->context, scope->tape, arguments, &report);

	if (r == ARGUMENTS_E_UNCHECKED)
		return refuse_check(scope, arguments, "example");
	for (size_t i = 0; r > 0 && i < report.n_violations; i++) {
		cleanup(buffer_deinit) struct buffer pointer = {0};
		uint32_t value;

		json_pointer_write(scope->tape, arguments, &pointer);
		buffer_append_string(&pointer, report.violations[i].path);
		if (!buffer_terminate(&pointer))
			return -ENOMEM;
		value = json_pointer_nearest(scope->tape, pointer.data);
		if (refuse_value(scope, pointer.data, "example's argument",
			    report.violations[i].message, scope->tape, value) < 0)
			return -ENOMEM;
	}
	return r < 0 ? r : 0;
}

static int check_examples(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	const struct json_tape *tape = scope->tape;
	uint32_t examples = json_find(tape, object, "examples");
	int r = 0;

	json_each_found_while(r == 0, at, tape, examples) {
		uint32_t arguments = json_find(tape, at, "args");
		uint32_t result = json_find(tape, at, "result");
		size_t n_errors = scope->problems->n_errors;

		r = check_schema(scope, tool->schemas->arguments.compiled, arguments, "arguments");
		if (r == 0 && scope->problems->n_errors == n_errors)
			r = check_passing(scope, arguments, tool);
		if (result == JSON_NONE && json_find(tape, at, "tolerance") != JSON_NONE)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, tape, at,
				"the example's tolerance needs a result");
		if (r == 0 && result != JSON_NONE)
			r = check_schema(scope, tool->schemas->output.compiled, result, "result");
	}
	return r;
}

/* ── a call without arguments ────────────────────────────────────────────────────────────────── */

/* Find the place of the default of the argument at @path ("/name") in the schema at @given: the
 * default itself, or the schema if the property is a reference. */
static void find_default(const struct manifest_scope *scope, uint32_t given, const char *path,
	struct buffer *ret_pointer)
{
	size_t size;
	uint32_t token;

	json_pointer_write(scope->tape, given, ret_pointer);
	size = ret_pointer->size;
	buffer_printf(ret_pointer, "/properties%s/default", path);
	if (!buffer_terminate(ret_pointer) ||
		json_pointer_find(scope->tape, ret_pointer->data, NULL, &token))
		return;
	ret_pointer->size = size;
	buffer_terminate(ret_pointer);
}

static int check_defaults(const struct manifest_scope *scope, uint32_t given,
	const struct tool *tool, const struct json_tape *filled)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = arguments_marshal_check(tool, scope->context, filled, 0, &report);

	if (r == ARGUMENTS_E_UNCHECKED)
		return refuse_check(scope, given, "defaults");
	for (size_t i = 0; r > 0 && i < report.n_violations; i++) {
		const struct schema_violation *violation = &report.violations[i];
		cleanup(buffer_deinit) struct buffer pointer = {0};

		find_default(scope, given, violation->path, &pointer);
		if (buffer_status(&pointer) ||
			refuse_value(scope, pointer.data, "default", violation->message, filled,
				json_pointer_nearest(filled, violation->path)) < 0)
			return -ENOMEM;
	}
	return r < 0 ? r : 0;
}

/* A function cannot be called without an argument, whatever a schema lets pass. */
static void warn_of_left_out(const struct manifest_scope *scope, uint32_t given, struct tool *tool,
	const struct json_tape *filled)
{
	const struct json_tape *tape = scope->tape;
	uint32_t properties = json_find(tape, given, "properties");

	for (size_t i = 0; i < tool->native.n_parameters; i++) {
		const struct native_parameter *parameter = &tool->native.parameters[i];

		if (!arguments_need(parameter) ||
			json_find(filled, 0, parameter->name) != JSON_NONE ||
			json_has_text(tape, json_find(tape, given, "required"), parameter->name))
			continue;
		tool->may_lack = true;
		diagnose(scope->problems, DIAGNOSTIC_WARNING, tape,
			json_find(tape, properties, parameter->name),
			"the function needs the parameter '%s', and the schema lets callers leave "
			"it out: name it in \"required\", or give it a \"default\"%s",
			parameter->name,
			native_is_buffer(parameter->type) ? " or \"nullable\"" : "");
	}
}

/* Try a given schema with a call without arguments, so its defaults are passed. */
static int check_empty(const struct manifest_scope *scope, uint32_t given, struct tool *tool)
{
	static const char nothing[] = "{}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(json_tape_cleanup) struct json_tape filled = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = json_tape_read(&tape, nothing, strlen(nothing), JSON_DEPTH_DEFAULT, NULL);

	/* The defaults are a check of their own, and an empty object satisfies it or not at
	 * once. */
	if (r == 0)
		r = schema_validate(tool->schemas->arguments.compiled, scope->context, &tape, 0);
	if (r >= 0)
		r = arguments_fill(tool, scope->context, &tape, 0, &text, &filled);
	if (r > 0)
		return refuse_check(scope, given, "defaults");
	r = r ? r : check_defaults(scope, given, tool, &filled);
	if (r == 0 && scope->toolbox->package->kind == KIND_NATIVE)
		warn_of_left_out(scope, given, tool, &filled);
	return r;
}

int manifest_check_examples(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t given = json_find(scope->tape, object, "argument_schema");
	int r = given != JSON_NONE ? check_empty(scope, given, tool) : 0;

	return r ? r : check_examples(scope, object, tool);
}
