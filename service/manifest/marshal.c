/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/marshal.h"

#include <errno.h>
#include <string.h>

#include "catalogue/package.h"
#include "json/writer.h"
#include "util/cleanup.h"

/* Note that the member called @name cannot be passed. */
static int add_violation(
	struct schema_report *report, const char *name, size_t size, const char *message)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};

	json_pointer_append(&pointer, name, size);
	if (!buffer_terminate(&pointer) || schema_report_add(report, pointer.data, message) < 0)
		return -ENOMEM;
	return MARSHAL_E_REFUSED;
}

/* Parameter @at of the function. */
static int check_parameter(const struct native_function *function, size_t at,
	const struct native_arguments *arguments, struct schema_report *report)
{
	const struct native_parameter *parameter = &function->parameters[at];
	cleanup(buffer_deinit) struct buffer words = {0};
	uint32_t value = json_find(arguments->tape, arguments->object, parameter->name);
	int r;

	if (value == JSON_NONE || !native_is_argument(parameter))
		return 0;
	r = native_check_value(function, at, arguments, arguments->tape, value, &words);
	if (r <= 0)
		return r;
	return buffer_terminate(&words)
		       ? add_violation(report, parameter->name, strlen(parameter->name), words.data)
		       : -ENOMEM;
}

static int check_types(const struct native_function *function, const struct json_tape *tape,
	uint32_t object, struct schema_report *report)
{
	const struct native_arguments arguments = {tape, object};
	int status = 0;

	for (size_t i = 0; i < function->n_parameters; i++) {
		int r = check_parameter(function, i, &arguments, report);

		if (r < 0)
			return r;
		status = status ? status : r;
	}
	return status;
}

bool marshal_needs(const struct native_parameter *parameter)
{
	return native_is_argument(parameter) && !parameter->is_nullable && !parameter->default_json;
}

int marshal_fill(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct buffer *text,
	struct json_tape *ret_tape)
{
	int r = schema_fill(tool->arguments, context, tape, object, text, NULL);

	r = r ? r : buffer_status(text);
	r = r ? r : json_tape_read(ret_tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	return r ? -ENOMEM : 0;
}

/* Report required arguments that the schema's defaults do not fill in. */
static int check_missing(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape filled = {0};
	int r = marshal_fill(tool, context, tape, object, &text, &filled);

	for (size_t i = 0; r >= 0 && i < tool->native.n_parameters; i++) {
		const struct native_parameter *parameter = &tool->native.parameters[i];
		cleanup(buffer_deinit) struct buffer message = {0};

		if (!marshal_needs(parameter) ||
			json_find(&filled, 0, parameter->name) != JSON_NONE)
			continue;
		buffer_printf(&message, "missing required property '%s'", parameter->name);
		if (!buffer_terminate(&message) || schema_report_add(report, "", message.data) < 0)
			return -ENOMEM;
		r = MARSHAL_E_REFUSED;
	}
	return r;
}

static int check_native(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report)
{
	int r = check_types(&tool->native, tape, object, report);
	int missing = 0;

	if (r >= 0 && tool->may_lack)
		missing = check_missing(tool, context, tape, object, report);
	return r < 0 || missing < 0 ? -ENOMEM : r | missing;
}

static int check_placeholders(const struct command *command, const struct json_tape *tape,
	uint32_t object, struct schema_report *report)
{
	uint32_t key = json_first(tape, object);
	const char *message;
	int status = 0;

	while ((key = command_next_refused(command, tape, object, key, &message)) <
		json_end(tape, object)) {
		cleanup(buffer_deinit) struct buffer name = {0};

		json_string_decode(tape, key, &name);
		status = buffer_status(&name);
		status = status ? status : add_violation(report, name.data, name.size, message);
		if (status < 0)
			return status;
		key = json_next_key(tape, key);
	}
	return status;
}

int marshal_check(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report)
{
	switch (tool->toolbox->package->kind) {
	case KIND_NATIVE:
		return check_native(tool, context, tape, object, report);
	case KIND_COMMAND:
		return check_placeholders(&tool->command, tape, object, report);
	case KIND_PLUGIN:
	case KIND_PYTHON:
		break;
	}
	return 0;
}
