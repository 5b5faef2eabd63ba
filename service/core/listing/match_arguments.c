/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/match_arguments.h"

#include <string.h>

#include "catalogue/arguments.h"
#include "core/request/checks.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/text/text_view.h"

static void append_group(void *data, const char *name, const char *text, size_t size)
{
	struct buffer *out = data;

	if (out->size > 1)
		buffer_append_char(out, ',');
	json_write_key(out, name);
	json_write_string(out, text, size);
}

/* Append the object of the groups. A search that is too costly now has none. */
static void write_groups(
	const struct request_scope *scope, const struct regex *trigger, struct buffer *out)
{
	const struct text_view *utterance = &scope->request.utterance;

	buffer_append_char(out, '{');
	regex_match_groups(
		trigger, scope->scratch, utterance->text, utterance->size, append_group, out);
	buffer_append_char(out, '}');
}

/* Write the names that the schema of @tool requires, and that the object @args does not have. */
static void write_missing(const struct tool *tool, const struct json_tape *args, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer name = {0};
	uint32_t required;
	const char *separator = "";

	buffer_append_char(out, '[');
	if (json_tape_read(&tape, tool->argument_schema, strlen(tool->argument_schema),
		    2 * JSON_DEPTH_DEFAULT, NULL) == 0 &&
		(required = json_find_typed_at(&tape, 0, "required", JSON_ARRAY)) != JSON_NONE) {
		json_each(i, &tape, required) {
			buffer_reset(&name);
			json_string_decode(&tape, i, &name);
			if (!buffer_terminate(&name) || json_find(args, 0, name.data) != JSON_NONE)
				continue;
			buffer_append_string(out, separator);
			json_write_string(out, name.data, name.size);
			separator = ",";
		}
	}
	buffer_append_char(out, ']');
}

uint64_t match_arguments_write(struct request_scope *scope, const struct config_limits *limits,
	const struct tool *tool, size_t trigger, struct answer *answer)
{
	const struct arguments_limits most = {.bytes = limits->args_bytes, .depth = limits->depth};
	struct arguments *arguments = &scope->arguments;
	cleanup(json_tape_cleanup) struct json_tape groups = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	write_groups(scope, &tool->triggers.items[trigger], &text);
	if (!buffer_terminate(&text) ||
		json_tape_read(&groups, text.data, text.size, 1, NULL) != 0) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: out of memory");
		return 0;
	}
	r = arguments_fit(arguments, tool, &groups, 0, scope->context, &most);
	buffer_append(answer_member(answer, "args"), arguments->json, arguments->size);
	answer_member_boolean(answer, "complete", r == 0);
	write_missing(tool, &groups, answer_member(answer, "missing"));
	return arguments->spent_ns;
}
