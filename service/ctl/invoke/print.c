/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/invoke/arguments.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/base64.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

/* The columns before what a program has printed. */
#define INDENT 4

/* The members that are named where --get means none. */
#define NAMES_MAX 10

/* ── the verdict of --dry-run ────────────────────────────────────────────────────────────────── */

static void print_verdict(const struct ctl_response *response)
{
	static const char valid_line[] = "valid\n";
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t violations = ctl_response_find(response, 0, "violations", JSON_ARRAY);

	if (ctl_response_find(response, 0, "valid", JSON_TRUE) != JSON_NONE) {
		buffer_append_string(&text, valid_line);
		terminal_print(&text);
		return;
	}
	json_each_found(i, tape, violations) {
		buffer_reset(&text);
		terminal_append_text(&text, tape, i, "path");
		buffer_append_string(&text, text.size > 0 ? ": " : "");
		terminal_append_text(&text, tape, i, "message");
		terminal_complain_text(&text);
	}
}

/* ── a failure ───────────────────────────────────────────────────────────────────────────────── */

/* Print the lines of @text, each indented, below @title. */
static void print_lines(const char *title, struct buffer *text)
{
	cleanup(buffer_deinit) struct buffer shown = {0};

	while (text->size > 0 && text->data[text->size - 1] == '\n')
		text->size--;
	if (buffer_status(text) < 0 || text->size == 0)
		return;
	buffer_printf(&shown, "  %s:\n", title);
	for (size_t at = 0; at <= text->size;) {
		const char *end = memchr(text->data + at, '\n', text->size - at);
		size_t size = end ? (size_t)(end - text->data) - at : text->size - at;
		cleanup(buffer_deinit) struct buffer line = {0};

		terminal_append_line(&line, text->data + at, size);
		if (line.size > 0)
			terminal_append_complaint(&shown, &line, INDENT, INDENT);
		else
			buffer_append_char(&shown, '\n');
		at += size + 1;
	}
	if (buffer_status(&shown) == 0)
		fwrite(shown.data, 1, shown.size, stderr);
}

/* Print the text that a program has left in the member @key. */
static void print_printed(const struct ctl_response *response, const char *key)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_read_text(&response->tape, json_find(&response->tape, 0, key), &text))
		print_lines(key, &text);
}

void print_output(const struct ctl_response *status)
{
	const struct json_tape *tape = &status->tape;
	uint32_t lines = ctl_response_find(status, 0, "output", JSON_ARRAY);
	cleanup(buffer_deinit) struct buffer text = {0};

	if (lines == JSON_NONE)
		return;
	json_each(i, tape, lines) {
		uint32_t line = ctl_response_find(status, i, "line", JSON_STRING);

		if (line != JSON_NONE)
			json_string_decode(tape, line, &text);
		buffer_append_char(&text, '\n');
	}
	print_lines("stderr", &text);
}

/* Print how the program of a failed call has ended, and what it printed. */
static void print_failure(const struct ctl_response *response)
{
	static const struct {
		const char *key;
		const char *title;
	} ends[] = {{"exit_code", "exit status"}, {"signal", "signal"}};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		cleanup(buffer_deinit) struct buffer value = {0};

		terminal_append_member(&value, &response->tape, 0, ends[i].key);
		if (value.size > 0 && buffer_terminate(&value))
			fprintf(stderr, "  %s: %s\n", ends[i].title, value.data);
	}
	print_printed(response, "stderr");
	print_printed(response, "output");
}

/* ── one value ───────────────────────────────────────────────────────────────────────────────── */

/* A value of the response, with the schema that the definition has for it (or JSON_NONE). */
struct found {
	uint32_t value;
	uint32_t schema;
};

/* Return the member or element of the value at @value that is called @key of @size bytes, or
 * JSON_NONE. */
static uint32_t find_part(
	const struct json_tape *tape, uint32_t value, const char *key, size_t size)
{
	char *end;
	unsigned long index;

	if (json_type_at(tape, value) == JSON_OBJECT)
		return json_find_sized(tape, value, key, size);
	if (json_type_at(tape, value) != JSON_ARRAY || strspn(key, "0123456789") < size ||
		size == 0)
		return JSON_NONE;
	index = strtoul(key, &end, 10);
	if (index >= json_count(tape, value))
		return JSON_NONE;
	value = json_first(tape, value);
	while (index-- > 0)
		value = json_next(tape, value);
	return value;
}

/* Find the value at the dotted @path below @from. Return it, or JSON_NONE with the value that lacks
 * the next part, and where that part ends. */
static uint32_t find_dotted(const struct json_tape *tape, uint32_t from, const char *path,
	uint32_t *ret_last, const char **ret_end)
{
	const char *at = path;

	for (;;) {
		size_t size = strcspn(at, ".");

		*ret_last = from;
		*ret_end = at + size;
		from = find_part(tape, from, at, size);
		if (from == JSON_NONE || at[size] == '\0')
			return from;
		at += size + 1;
	}
}

/* Append the names of the members of @object. */
static void append_names(struct buffer *text, const struct json_tape *tape, uint32_t object)
{
	uint32_t key = json_first(tape, object);

	for (size_t i = 0; i < NAMES_MAX && key < json_end(tape, object); i++) {
		buffer_append_string(text, i > 0 ? ", '" : "'");
		json_string_decode(tape, key, text);
		buffer_append_char(text, '\'');
		key = json_next_key(tape, key);
	}
	if (key < json_end(tape, object))
		buffer_append_string(text, ", ...");
}

/* Complain that @last has no part of @path that ends at @end, with what was meant or what it
 * has. */
static void complain_path(
	const struct ctl_response *response, const char *path, uint32_t last, const char *end)
{
	const struct json_tape *tape = &response->tape;
	uint32_t result = json_find(tape, 0, "result");
	const char *dot = memrchr(path, '.', (size_t)(end - path));
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t unused_last;
	const char *unused_end;

	buffer_printf(&text, "the response has no '%.*s'", (int)(end - path), path);
	if (result != JSON_NONE &&
		find_dotted(tape, result, path, &unused_last, &unused_end) != JSON_NONE) {
		buffer_printf(&text, "; did you mean 'result.%s'?", path);
	} else if (json_type_at(tape, last) == JSON_OBJECT && json_count(tape, last) > 0) {
		if (dot)
			buffer_printf(&text, "; '%.*s' has ", (int)(dot - path), path);
		else
			buffer_append_string(&text, "; it has ");
		append_names(&text, tape, last);
	}
	terminal_complain_text(&text);
}

/* Find the value at the dotted @path. Return 0 or CTL_ERROR after a complaint. */
static int find_result_path(
	const struct ctl_response *response, const char *path, uint32_t *ret_value)
{
	uint32_t last;
	const char *end;

	*ret_value = find_dotted(&response->tape, 0, path, &last, &end);
	if (*ret_value != JSON_NONE)
		return 0;
	complain_path(response, path, last, end);
	return CTL_ERROR;
}

/* Find the one text or other single value of the result. Return 0 or CTL_ERROR after a
 * complaint. */
static int find_single(const struct ctl_response *response, const struct ctl_response *definition,
	struct found *ret_found)
{
	const struct json_tape *tape = &response->tape;
	uint32_t value = json_find(tape, 0, "result");
	uint32_t root = json_find(&definition->tape, 0, "output_schema");

	*ret_found = (struct found){value, root};
	if (value != JSON_NONE && json_type_at(tape, value) == JSON_OBJECT &&
		json_count(tape, value) == 1) {
		uint32_t key = json_first(tape, value);
		cleanup(buffer_deinit) struct buffer name = {0};

		json_string_decode(tape, key, &name);
		ret_found->value = key + 1;
		ret_found->schema = root == JSON_NONE
					    ? JSON_NONE
					    : ctl_arguments_find_property(&definition->tape, root,
						      root, buffer_text(&name), name.size);
	}
	value = ret_found->value;
	if (value != JSON_NONE && json_type_at(tape, value) != JSON_OBJECT &&
		json_type_at(tape, value) != JSON_ARRAY)
		return 0;
	terminal_complain(
		"the result is not one text, as --raw needs it; --get result.NAME prints a part, "
		"--json all of it");
	return CTL_ERROR;
}

/* Append the value as it is: a text without quotes, bytes decoded. */
static void append_raw(const struct ctl_response *response, const struct ctl_response *definition,
	const struct found *found, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t root = json_find(&definition->tape, 0, "output_schema");

	if (json_type_at(&response->tape, found->value) != JSON_STRING) {
		json_write_compact(out, &response->tape, found->value);
		return;
	}
	json_string_decode(&response->tape, found->value, &text);
	buffer_fail_with(out, &text);
	if (buffer_status(out) < 0 || text.size == 0)
		return;
	if (found->schema != JSON_NONE &&
		ctl_arguments_are_bytes(&definition->tape, root, found->schema) &&
		base64_is_valid(text.data, text.size)) {
		cleanup_free char *bytes = malloc(base64_decoded_size(text.data, text.size) + 1);

		if (!bytes) {
			out->error = -ENOMEM;
			return;
		}
		base64_decode(text.data, text.size, bytes);
		buffer_append(out, bytes, base64_decoded_size(text.data, text.size));
		return;
	}
	buffer_append_buffer(out, &text);
}

/* Print @raw: as it is to a file or a pipe; on a terminal what that shows, and a newline. */
static int print_raw(struct buffer *raw, bool ends_line)
{
	cleanup(buffer_deinit) struct buffer shown = {.error = buffer_status(raw)};

	if (!isatty(STDOUT_FILENO)) {
		if (ends_line)
			buffer_append_char(raw, '\n');
		terminal_print(raw);
		return CTL_DONE;
	}
	if (raw->size > 0 && !utf8_is_valid(raw->data, raw->size)) {
		terminal_complain("the result is %zu bytes that are no text: send them to a file, "
				  "with > FILE",
			raw->size);
		return CTL_ERROR;
	}
	if (raw->size > 0)
		visible_append_lines(&shown, raw->data, raw->size);
	if (shown.size == 0 || shown.data[shown.size - 1] != '\n')
		buffer_append_char(&shown, '\n');
	terminal_print(&shown);
	return CTL_DONE;
}

static int print_part(const struct ctl_options *options, const struct ctl_response *response,
	const struct ctl_response *definition)
{
	cleanup(buffer_deinit) struct buffer raw = {0};
	struct found found = {JSON_NONE, JSON_NONE};
	int r = options->get ? find_result_path(response, options->get, &found.value)
			     : find_single(response, definition, &found);

	if (r != 0)
		return r;
	append_raw(response, definition, &found, &raw);
	return print_raw(&raw, !options->raw);
}

/* Print the id of the job that has begun. */
static void print_job(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer id = {0};

	terminal_append_member(&id, &response->tape, 0, "job_id");
	if (buffer_terminate(&id))
		puts(id.data);
}

/* ── the response ────────────────────────────────────────────────────────────────────────────── */

int print_response(const struct ctl_options *options, const struct ctl_response *response,
	const struct ctl_response *definition)
{
	int status = ctl_response_status(response);
	uint32_t result = json_find(&response->tape, 0, "result");

	if (options->dry_run && status == CTL_DONE &&
		ctl_response_find(response, 0, "valid", JSON_TRUE) == JSON_NONE)
		status = CTL_ERROR;
	if (options->json) {
		ctl_response_print(response);
	} else if (json_find(&response->tape, 0, "error") != JSON_NONE) {
		/* The error has the call_id, which this program has made up. */
		if (ctl_response_has_code(response, "cancelled"))
			terminal_complain("the call was cancelled");
		else
			tool_error_complain(response, options);
		print_failure(response);
	} else if (options->dry_run) {
		print_verdict(response);
	} else if (options->background) {
		print_job(response);
	} else if (options->raw || options->get) {
		return print_part(options, response, definition);
	} else if (result != JSON_NONE) {
		terminal_print_json(&response->tape, result);
	}
	return status;
}
