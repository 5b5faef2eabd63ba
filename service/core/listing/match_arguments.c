/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/match_arguments.h"

#include <string.h>

#include "catalogue/arguments.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/text/text_view.h"

static void append_group(void *data, const char *name, const char *text, size_t size)
{
	struct buffer *out = data;

	json_write_member(out, name);
	json_write_string(out, text, size);
}

/* Append the object of the groups. A search that is too costly now has none. */
static void write_groups(struct regex_scratch *scratch, const struct regex *trigger,
	const struct text_view *text, struct buffer *out)
{
	buffer_append_char(out, '{');
	regex_match_groups(trigger, scratch, text->text, text->size, append_group, out);
	buffer_append_char(out, '}');
}

bool match_arguments_fit(struct request_scope *scope, const struct config_limits *limits,
	const struct tool *tool, size_t trigger, const struct text_view *text,
	const struct number_language *language, struct buffer *ret_args)
{
	const struct arguments_limits most = {.bytes = limits->args_bytes, .depth = limits->depth};
	const struct schema_words words = {number_words_read, language};
	struct arguments *arguments = &scope->arguments;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer groups = {0};
	int r;

	buffer_reset(ret_args);
	write_groups(scope->scratch, &tool->triggers.items[trigger], text, &groups);
	buffer_fail_with(ret_args, &groups);
	if (buffer_status(&groups) < 0 ||
		json_tape_read(&tape, groups.data, groups.size, 1, NULL) != 0)
		return false;
	r = arguments_fit(
		arguments, tool, &tape, 0, scope->context, &most, language ? &words : NULL);
	buffer_append(ret_args, arguments->json, arguments->size);
	return r == 0;
}

/* Append the elements of @required, names that @args does not have. */
static void write_absent(const struct json_tape *schema, uint32_t required,
	const struct json_tape *args, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer name = {0};
	const char *separator = "";

	json_each(i, schema, required) {
		buffer_reset(&name);
		json_string_decode(schema, i, &name);
		if (!buffer_terminate(&name) || json_find(args, 0, name.data) != JSON_NONE)
			continue;
		buffer_append_string(out, separator);
		json_write_string(out, name.data, name.size);
		separator = ",";
	}
}

void match_arguments_write_missing(
	const struct tool *tool, const struct buffer *args, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t required;

	buffer_append_char(out, '[');
	if (json_tape_read(&schema, tool->argument_schema, strlen(tool->argument_schema),
		    2 * JSON_DEPTH_DEFAULT, NULL) == 0 &&
		json_tape_read(&tape, args->data, args->size, JSON_DEPTH_DEFAULT, NULL) == 0 &&
		(required = json_find_typed_at(&schema, 0, "required", JSON_ARRAY)) != JSON_NONE)
		write_absent(&schema, required, &tape, out);
	buffer_append_char(out, ']');
}
