/* SPDX-License-Identifier: Apache-2.0 */
#include "core/arguments.h"

#include <errno.h>
#include <string.h>

#include "json/writer.h"
#include "manifest/marshal.h"
#include "util/log.h"

#define NOT_AN_OBJECT "must be an object, or a string that is the text of one; "

/* The place of the arguments: a token of a tape. */
struct place {
	const struct json_tape *tape;
	uint32_t token;
};

void arguments_deinit(struct arguments *arguments)
{
	json_tape_deinit(&arguments->tape);
	buffer_deinit(&arguments->text);
	json_tape_deinit(&arguments->coerced_tape);
	buffer_deinit(&arguments->coerced);
	buffer_deinit(&arguments->filled);
	schema_report_deinit(&arguments->report);
}

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

/* Read arguments that are the text of an object: models and shells often send that. */
static int take_text(struct arguments *arguments, const struct request *request,
	const struct config_limits *limits)
{
	struct json_error error = {0};
	int r;

	buffer_reset(&arguments->text);
	json_string_decode(request->data, request->args, &arguments->text);
	r = buffer_status(&arguments->text);
	if (r == 0)
		r = json_tape_read(&arguments->tape,
			arguments->text.data ? arguments->text.data : "", arguments->text.size,
			limits->depth, &error);
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

static int find_place(struct arguments *arguments, const struct request *request,
	const struct config_limits *limits, struct place *ret_place)
{
	static const char none[] = "{}";
	int r;

	if (request->args == JSON_NONE) {
		r = json_tape_read(&arguments->tape, none, strlen(none), limits->depth, NULL);
		*ret_place = (struct place){&arguments->tape, 0};
		return r;
	}
	*ret_place = (struct place){request->data, request->args};
	if (json_type_at(request->data, request->args) == JSON_STRING) {
		r = take_text(arguments, request, limits);
		if (r != 0)
			return r;
		*ret_place = (struct place){&arguments->tape, 0};
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

/* Log the strings that were taken as other values, for the author of the caller. */
static void log_changes(
	struct log_rate *rate, const struct tool *tool, const struct schema_report *changes)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	schema_report_write_text(changes, &text);
	if (buffer_terminate(&text))
		log_limited(rate, LOG_LEVEL_INFO, "Arguments of %s/%s were coerced: %s",
			tool->toolbox->id, tool->name, text.data);
}

/* Try the arguments with each string taken as the value that it holds. Returns 0 with @place moved
 * to the copy, SCHEMA_E_INVALID, or -ENOMEM. */
static int coerce_arguments(struct arguments *arguments, const struct tool *tool,
	struct schema_context *context, struct place *place)
{
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	struct buffer *text = &arguments->coerced;
	int r;

	buffer_reset(text);
	r = schema_coerce(tool->arguments, context, place->tape, place->token, text, &changes);
	if (r == 0)
		r = buffer_status(text);
	if (r < 0 || changes.n_violations == 0)
		return r < 0 ? r : SCHEMA_E_INVALID;
	/* A string may hold a deeper value than the request may have: then it is not taken. */
	r = json_tape_read(
		&arguments->coerced_tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	if (r == 0)
		r = schema_validate(tool->arguments, context, &arguments->coerced_tape, 0);
	if (r != 0)
		return r < 0 ? r : SCHEMA_E_INVALID;
	log_changes(&arguments->coercions, tool, &changes);
	*place = (struct place){&arguments->coerced_tape, 0};
	return 0;
}

static int check_or_coerce(struct arguments *arguments, const struct tool *tool,
	struct schema_context *context, struct place *place)
{
	int r = schema_validate(tool->arguments, context, place->tape, place->token);

	if (r > 0 && tool->toolbox->package->coerces)
		r = coerce_arguments(arguments, tool, context, place);
	if (r < 0)
		return r;
	if (r > 0) {
		r = schema_explain(
			tool->arguments, context, place->tape, place->token, &arguments->report);
		return r < 0 ? r : ARGUMENTS_E_INVALID;
	}
	r = marshal_check(tool, context, place->tape, place->token, &arguments->report);
	return r > 0 ? ARGUMENTS_E_INVALID : r;
}

static int refuse_fill(struct arguments *arguments)
{
	int r = schema_report_add(&arguments->report, "",
		"cannot be completed: finding out which defaults apply takes too long");

	return r < 0 ? r : ARGUMENTS_E_INVALID;
}

int arguments_check(struct arguments *arguments, const struct tool *tool,
	const struct request *request, struct schema_context *context,
	const struct config_limits *limits)
{
	struct place place;
	int r;

	if (arguments->report.n_violations > 0 || arguments->report.summary)
		schema_report_deinit(&arguments->report);
	r = find_place(arguments, request, limits, &place);
	if (r != 0)
		return r;
	arguments->json = json_value_text(place.tape, place.token, &arguments->size);
	if (arguments->size > limits->args_bytes)
		return refuse_size(arguments, arguments->size, limits->args_bytes, "bytes");
	r = check_or_coerce(arguments, tool, context, &place);
	arguments->json = json_value_text(place.tape, place.token, &arguments->size);
	if (r != 0 || !schema_has_defaults(tool->arguments) ||
		!kind_facts(tool->toolbox->package->kind)->fills_defaults)
		return r;
	buffer_reset(&arguments->filled);
	r = schema_fill(
		tool->arguments, context, place.tape, place.token, &arguments->filled, NULL);
	if (r > 0)
		return refuse_fill(arguments);
	if (r < 0)
		return r;
	arguments->json = arguments->filled.data;
	arguments->size = arguments->filled.size;
	return buffer_status(&arguments->filled);
}
