/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/arguments.h"

#include <errno.h>
#include <string.h>

#include "catalogue/package.h"
#include "catalogue/tool_schemas.h"
#include "json/document.h"
#include "json/writer.h"
#include "schema/words/describe.h"
#include "util/cleanup.h"
#include "util/log.h"

/* The most memory kept for the next check. */
#define KEPT_TOKENS 65536
#define KEPT_BYTES  (64u << 10)

/* ── an object, or the text of one ───────────────────────────────────────────────────────────── */

#define NOT_AN_OBJECT "must be an object, or a string with the text of an object; "

/* The place of the arguments: a token of a tape. */
struct place {
	const struct json_tape *tape;
	uint32_t token;
};

static int refuse_arguments(struct arguments *arguments, const char *message)
{
	int r = schema_report_add(&arguments->report, "", message);

	return r < 0 ? r : ARGUMENTS_E_INVALID;
}

static int refuse_size(struct arguments *arguments, size_t actual, size_t max, const char *limit)
{
	arguments->actual = actual;
	arguments->max = max;
	arguments->limit = limit;
	return ARGUMENTS_E_TOO_LARGE;
}

/* Read arguments given as the text of an object: models and shells often send texts. */
static int take_text(struct arguments *arguments, const struct json_tape *tape, uint32_t token,
	const struct arguments_limits *limits)
{
	struct json_error error = {0};
	int r;

	buffer_reset(&arguments->text);
	json_string_decode(tape, token, &arguments->text);
	r = buffer_status(&arguments->text);
	if (arguments->text.size > limits->bytes)
		return refuse_size(arguments, arguments->text.size, limits->bytes, "bytes");
	if (r == 0)
		r = json_tape_read(&arguments->tape, buffer_text(&arguments->text),
			arguments->text.size, limits->depth, &error);
	if (r == JSON_E_DEPTH)
		return refuse_size(
			arguments, (size_t)limits->depth + 1, limits->depth, "levels of nesting");
	if (r > 0) {
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&message, NOT_AN_OBJECT "its text is not JSON (byte %zu: %s)",
			error.offset, error.message);
		return buffer_terminate(&message) ? refuse_arguments(arguments, message.data)
						  : -ENOMEM;
	}
	return r;
}

/* Read absent arguments as an empty object. */
static int take_none(
	struct arguments *arguments, const struct arguments_limits *limits, struct place *ret_place)
{
	static const char none[] = "{}";

	*ret_place = (struct place){&arguments->tape, 0};
	return json_tape_read(&arguments->tape, none, strlen(none), limits->depth, NULL);
}

static bool is_empty_text(const struct json_tape *tape, uint32_t token)
{
	return json_type_at(tape, token) == JSON_STRING && json_string_equals(tape, token, "", 0);
}

static int find_place(struct arguments *arguments, const struct json_tape *tape, uint32_t token,
	const struct arguments_limits *limits, struct place *ret_place)
{
	int r;

	if (!tape || is_empty_text(tape, token))
		return take_none(arguments, limits, ret_place);
	*ret_place = (struct place){tape, token};
	if (json_type_at(tape, token) == JSON_STRING) {
		r = take_text(arguments, tape, token, limits);
		if (r != 0)
			return r;
		*ret_place = (struct place){&arguments->tape, 0};
		if (json_type_at(&arguments->tape, 0) == JSON_NULL)
			return take_none(arguments, limits, ret_place);
	}
	if (json_type_at(ret_place->tape, ret_place->token) != JSON_OBJECT) {
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&message, NOT_AN_OBJECT "came: %s",
			json_type_name(json_type_at(ret_place->tape, ret_place->token)));
		return buffer_terminate(&message) ? refuse_arguments(arguments, message.data)
						  : -ENOMEM;
	}
	return 0;
}

/* ── the types of C, the placeholders of a command ───────────────────────────────────────────── */

/* Note that the member called @name cannot be passed, or the element @element of an array (NULL:
 * all). */
static int add_violation(struct schema_report *report, const char *name, size_t size,
	const uint32_t *element, const char *message)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};

	json_pointer_append(&pointer, name, size);
	if (element)
		json_pointer_append_index(&pointer, *element);
	if (!buffer_terminate(&pointer) || schema_report_add(report, pointer.data, message) < 0)
		return -ENOMEM;
	return ARGUMENTS_E_INVALID;
}

/* Parameter @at of the function. */
static int check_parameter(const struct native_function *function, size_t at,
	const struct native_arguments *arguments, struct schema_report *report)
{
	const struct native_parameter *parameter = &function->parameters[at];
	cleanup(buffer_deinit) struct buffer words = {0};
	uint32_t value = json_find(arguments->tape, arguments->object, parameter->name);
	struct native_element element;
	int r;

	if (value == JSON_NONE || !native_is_argument(parameter))
		return 0;
	r = native_check_value(function, at, arguments, arguments->tape, value, &words);
	if (r <= 0)
		return r;
	if (parameter->type == NATIVE_ARRAY && json_type_at(arguments->tape, value) == JSON_ARRAY &&
		native_find_refused(parameter, arguments->tape, value, &element))
		return add_violation(report, parameter->name, strlen(parameter->name),
			&element.index, element.refusal);
	return buffer_terminate(&words) ? add_violation(report, parameter->name,
						  strlen(parameter->name), NULL, words.data)
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

bool arguments_need(const struct native_parameter *parameter)
{
	return native_is_argument(parameter) && !parameter->is_nullable && !parameter->default_json;
}

int arguments_fill(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct buffer *text,
	struct json_tape *ret_tape)
{
	int r = schema_fill(tool->schemas->arguments.compiled, context, tape, object, text, NULL);

	if (r > 0)
		return ARGUMENTS_E_UNCHECKED;
	r = r ? r : json_tape_read(ret_tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	return r ? -ENOMEM : 0;
}

/* Report required arguments without a default in the schema. */
static int check_missing(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape filled = {0};
	int r = arguments_fill(tool, context, tape, object, &text, &filled);

	if (r != 0)
		return r;
	for (size_t i = 0; i < tool->native.n_parameters; i++) {
		const struct native_parameter *parameter = &tool->native.parameters[i];
		cleanup(buffer_deinit) struct buffer message = {0};

		if (!arguments_need(parameter) ||
			json_find(&filled, 0, parameter->name) != JSON_NONE)
			continue;
		buffer_printf(&message, "missing required property '%s'", parameter->name);
		if (!buffer_terminate(&message) || schema_report_add(report, "", message.data) < 0)
			return -ENOMEM;
		r = ARGUMENTS_E_INVALID;
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
	if (r < 0 || missing < 0)
		return -ENOMEM;
	return missing == 0 ? r : missing;
}

static int check_factors(const struct bus_call *call, const struct json_tape *tape, uint32_t object,
	struct schema_report *report)
{
	uint32_t key = json_first(tape, object);
	int status = 0;

	while ((key = bus_call_next_refused(call, tape, object, key)) < json_end(tape, object)) {
		cleanup(buffer_deinit) struct buffer name = {0};

		json_string_decode(tape, key, &name);
		status = buffer_status(&name);
		status = status ? status
				: add_violation(report, name.data, name.size, NULL,
					  "must have fewer digits: it is multiplied");
		if (status < 0)
			return status;
		key = json_next_key(tape, key);
	}
	return status;
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
		status = status ? status
				: add_violation(report, name.data, name.size, NULL, message);
		if (status < 0)
			return status;
		key = json_next_key(tape, key);
	}
	return status;
}

int arguments_marshal_check(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report)
{
	switch (tool->toolbox->package->kind) {
	case KIND_NATIVE:
		return check_native(tool, context, tape, object, report);
	case KIND_COMMAND:
		return check_placeholders(&tool->command, tape, object, report);
	case KIND_BUS:
		return check_factors(tool->bus, tape, object, report);
	case KIND_PLUGIN:
	case KIND_PYTHON:
	case KIND_PYTHON_FILE:
	case KIND_MCP:
	case KIND_GUEST:
		break;
	}
	return 0;
}

/* ── the flag run_llm ────────────────────────────────────────────────────────────────────────── */

/* Take the flag run_llm out of the object at @place, which then is a copy without it. */
static int take_run_llm(struct arguments *arguments, const struct tool *tool, struct place *place)
{
	uint32_t value = tool->run_llm == RUN_LLM_ARGUMENT
				 ? JSON_NONE
				 : json_find(place->tape, place->token, RUN_LLM_KEY);
	cleanup(buffer_deinit) struct buffer message = {0};
	int r;

	if (value == JSON_NONE)
		return 0;
	if (json_type_at(place->tape, value) != JSON_TRUE &&
		json_type_at(place->tape, value) != JSON_FALSE) {
		buffer_append_string(&message, "must be true or false; came: ");
		describe_value(place->tape, value, &message);
		return buffer_terminate(&message) ? add_violation(&arguments->report, RUN_LLM_KEY,
							    strlen(RUN_LLM_KEY), NULL, message.data)
						  : -ENOMEM;
	}
	arguments->run_llm = run_llm_at(place->tape, value);
	buffer_reset(&arguments->rest);
	run_llm_write_rest(place->tape, place->token, &arguments->rest);
	r = buffer_status(&arguments->rest);
	r = r ? r
	      : json_tape_read(&arguments->rest_tape, arguments->rest.data, arguments->rest.size,
			JSON_DOCUMENT_DEPTH_MAX, NULL);
	*place = (struct place){&arguments->rest_tape, 0};
	return r > 0 ? -EINVAL : r;
}

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

static void forget_report(struct schema_report *report)
{
	if (report->n_violations > 0 || report->summary)
		schema_report_deinit(report);
}

void arguments_log_coercion(struct arguments *arguments, const struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	schema_report_write_text(&arguments->changes, "Parameters", &text);
	if (buffer_terminate(&text))
		log_limited(&arguments->coercions, LOG_LEVEL_INFO,
			"Arguments of %s/%s were coerced: %s", tool->toolbox->id, tool->name,
			text.data);
	forget_report(&arguments->changes);
}

/* Whether strings are taken as the values inside, and which words, too (NULL: none). */
struct coercing {
	bool is_wanted;
	const struct schema_words *words;
};

/* Try the arguments with each string taken as the value inside. Returns 0 with @place moved to the
 * copy, a schema_status, or -ENOMEM. */
static int coerce_arguments(struct arguments *arguments, const struct tool *tool,
	struct schema_context *context, const struct coercing *coercing, struct place *place)
{
	struct schema_report *changes = &arguments->changes;
	struct buffer *text = &arguments->coerced;
	int r;

	buffer_reset(text);
	r = schema_coerce(tool->schemas->arguments.compiled, context, place->tape, place->token,
		coercing->words, text, changes);
	if (r != 0 || changes->n_violations == 0)
		return r != 0 ? r : SCHEMA_E_INVALID;
	/* A string may hold a deeper value than the request may have: then it is not taken. */
	r = json_tape_read(
		&arguments->coerced_tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	if (r != 0)
		return r < 0 ? r : SCHEMA_E_INVALID;
	r = schema_validate_again(
		tool->schemas->arguments.compiled, context, &arguments->coerced_tape, 0);
	if (r != 0)
		return r;
	*place = (struct place){&arguments->coerced_tape, 0};
	return 0;
}

/* Return the verdict on a call after @status of the schema, any but "invalid". */
static int unchecked(int status)
{
	return status < 0 ? status : ARGUMENTS_E_UNCHECKED;
}

/* Return whether the host of @tool decides about arguments refused by its schema. `writeOnly`
 * values are found by the schema, so the arguments of a tool with such values must satisfy the
 * schema. */
static bool is_judged_by_host(const struct tool *tool)
{
	return kind_facts(tool->toolbox->package->kind)->judges &&
	       !schema_has_write_only(tool->schemas->arguments.compiled);
}

static int check_or_coerce(struct arguments *arguments, const struct tool *tool,
	struct schema_context *context, const struct coercing *coercing, struct place *place)
{
	int r = schema_validate(
		tool->schemas->arguments.compiled, context, place->tape, place->token);

	if (r == SCHEMA_E_INVALID && coercing->is_wanted)
		r = coerce_arguments(arguments, tool, context, coercing, place);
	if (r > 0 && is_judged_by_host(tool)) {
		forget_report(&arguments->changes);
		return 0;
	}
	if (r == SCHEMA_E_INVALID) {
		r = schema_explain(tool->schemas->arguments.compiled, context, place->tape,
			place->token, &arguments->report);
		return r != 0 ? unchecked(r) : ARGUMENTS_E_INVALID;
	}
	if (r != 0)
		return unchecked(r);
	return arguments_marshal_check(
		tool, context, place->tape, place->token, &arguments->report);
}

/* Set the text for the tool from the value at @place, with defaults, and integers as digits, if its
 * kind takes them. Returns as arguments_check(). */
static int fill_arguments(struct arguments *arguments, const struct tool *tool,
	struct schema_context *context, const struct place *place,
	const struct arguments_limits *limits)
{
	int r;

	arguments->json = json_value_text(place->tape, place->token, &arguments->size);
	if (!schema_fills(tool->schemas->arguments.compiled, context) ||
		!kind_facts(tool->toolbox->package->kind)->fills_defaults)
		return 0;
	buffer_reset(&arguments->filled);
	r = schema_fill(tool->schemas->arguments.compiled, context, place->tape, place->token,
		&arguments->filled, NULL);
	if (r != 0)
		return unchecked(r);
	if (arguments->filled.size > limits->bytes)
		return refuse_size(arguments, arguments->filled.size, limits->bytes, "bytes");
	arguments->json = arguments->filled.data;
	arguments->size = arguments->filled.size;
	return 0;
}

static int check_arguments(struct arguments *arguments, const struct tool *tool,
	const struct json_tape *tape, uint32_t token, struct schema_context *context,
	const struct arguments_limits *limits, const struct coercing *coercing)
{
	struct place place;
	int r;

	forget_report(&arguments->report);
	forget_report(&arguments->changes);
	arguments->run_llm = tool->run_llm == RUN_LLM_ARGUMENT ? RUN_LLM_UNSAID : tool->run_llm;
	r = find_place(arguments, tape, token, limits, &place);
	r = r ? r : take_run_llm(arguments, tool, &place);
	arguments->spent_ns = 0;
	if (r != 0)
		return r;
	arguments->json = json_value_text(place.tape, place.token, &arguments->size);
	if (arguments->size > limits->bytes)
		return refuse_size(arguments, arguments->size, limits->bytes, "bytes");
	r = tool_schemas_wake(tool);
	if (r != 0)
		return r;
	r = check_or_coerce(arguments, tool, context, coercing, &place);
	if (r == 0)
		r = fill_arguments(arguments, tool, context, &place, limits);
	if (r != 0)
		forget_report(&arguments->changes);
	arguments->spent_ns = schema_spent_ns(context);
	arguments->stop = schema_stop_text(context);
	return r;
}

int arguments_check(struct arguments *arguments, const struct tool *tool,
	const struct json_tape *tape, uint32_t token, struct schema_context *context,
	const struct arguments_limits *limits)
{
	const struct coercing coercing = {tool->toolbox->package->coerces, NULL};

	return check_arguments(arguments, tool, tape, token, context, limits, &coercing);
}

int arguments_fit(struct arguments *arguments, const struct tool *tool,
	const struct json_tape *tape, uint32_t token, struct schema_context *context,
	const struct arguments_limits *limits, const struct schema_words *words)
{
	const struct coercing coercing = {true, words};
	int r;

	buffer_reset(&arguments->coerced);
	r = check_arguments(arguments, tool, tape, token, context, limits, &coercing);
	forget_report(&arguments->changes);
	if (r == ARGUMENTS_E_INVALID && arguments->coerced.size > 0) {
		arguments->json = arguments->coerced.data;
		arguments->size = arguments->coerced.size;
	}
	return r;
}

void arguments_recycle(struct arguments *arguments)
{
	json_tape_recycle(&arguments->tape, KEPT_TOKENS);
	json_tape_recycle(&arguments->rest_tape, KEPT_TOKENS);
	json_tape_recycle(&arguments->coerced_tape, KEPT_TOKENS);
	buffer_recycle(&arguments->text, KEPT_BYTES);
	buffer_recycle(&arguments->rest, KEPT_BYTES);
	buffer_recycle(&arguments->coerced, KEPT_BYTES);
	buffer_recycle(&arguments->filled, KEPT_BYTES);
	forget_report(&arguments->report);
	forget_report(&arguments->changes);
}

void arguments_deinit(struct arguments *arguments)
{
	json_tape_deinit(&arguments->tape);
	buffer_deinit(&arguments->text);
	json_tape_deinit(&arguments->rest_tape);
	buffer_deinit(&arguments->rest);
	json_tape_deinit(&arguments->coerced_tape);
	buffer_deinit(&arguments->coerced);
	buffer_deinit(&arguments->filled);
	schema_report_deinit(&arguments->report);
	schema_report_deinit(&arguments->changes);
}
