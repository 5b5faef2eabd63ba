/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "catalogue/toolbox.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "json/member.h"
#include "json/number.h"
#include "schema/words/signature.h"
#include "util/array.h"
#include "util/clock.h"

/* toolboxctl get: show how to call a tool. */

static const struct table_column argument_columns[] = {
	{"ARGUMENT", false}, {"TYPE", false}, {"DEFAULT", false}, {"DESCRIPTION", false}};
static const struct table_column result_columns[] = {
	{"RESULT", false}, {"TYPE", false}, {"DESCRIPTION", false}};
#define N_ARGUMENT_COLUMNS ARRAY_SIZE(argument_columns)
#define N_RESULT_COLUMNS   ARRAY_SIZE(result_columns)

/* Append what the property @key has to be. */
static void append_type(const struct json_tape *tape, const struct schema *compiled, uint32_t key,
	struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer words = {0};

	json_string_decode(tape, key, &name);
	signature_describe_member(compiled, buffer_text(&name), name.size, &words);
	buffer_fail_with(out, &name);
	buffer_fail_with(out, &words);
	if (buffer_status(&words) == 0)
		terminal_append_line(out, words.data, words.size);
}

/* Append the value that the argument @key has when it is absent. */
static void append_default(
	const struct json_tape *tape, uint32_t schema, uint32_t key, struct buffer *out)
{
	uint32_t standard = json_type_at(tape, key + 1) == JSON_OBJECT
				    ? json_find(tape, key + 1, "default")
				    : JSON_NONE;

	if (json_has_string(tape, json_find_typed_at(tape, schema, "required", JSON_ARRAY), key))
		buffer_append_string(out, "required");
	else if (standard != JSON_NONE && json_type_at(tape, standard) == JSON_NULL)
		buffer_append_string(out, "null");
	else if (standard != JSON_NONE)
		terminal_append_value(out, tape, standard);
}

/* A row: name, type, default (of arguments), description. */
static void add_property(struct table *table, const struct json_tape *tape, uint32_t schema,
	const struct schema *compiled, uint32_t key)
{
	terminal_append_value(table_cell(table), tape, key);
	table_next(table);
	append_type(tape, compiled, key, table_cell(table));
	table_next(table);
	if (table->n_columns == N_ARGUMENT_COLUMNS) {
		append_default(tape, schema, key, table_cell(table));
		table_next(table);
	}
	terminal_append_member_words(table_cell(table), tape, key + 1, "description");
	table_next(table);
}

/* Print a table of the properties of the schema in the member @member, or the schema itself when it
 * is not a plain object. */
static void print_schema(const struct json_tape *tape, const char *member,
	const struct table_column *columns, size_t n_columns)
{
	const char *title = columns[0].title;
	cleanup(table_deinit) struct table table = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(schema_cleanup) struct schema *compiled = tool_schema_compile(tape, 0, member);
	uint32_t schema = json_find(tape, 0, member);
	uint32_t properties = JSON_NONE;

	if (schema == JSON_NONE)
		return;
	if (json_type_at(tape, schema) == JSON_OBJECT)
		properties = json_find(tape, schema, "properties");
	if (!compiled || properties == JSON_NONE || json_type_at(tape, properties) != JSON_OBJECT) {
		buffer_printf(&line, "\n%s\n", title);
		terminal_print(&line);
		terminal_print_json(tape, schema);
		return;
	}
	if (json_count(tape, properties) == 0)
		return;
	terminal_print_line(&line);
	table_init(&table, columns, n_columns);
	json_each_key(key, tape, properties)
		add_property(&table, tape, schema, compiled, key);
	table_print(&table);
}

static void append_definition_member(const struct ctl_response *response, const char *key,
	const char *before, const char *after, struct buffer *out)
{
	uint32_t value = json_find(&response->tape, 0, key);

	if (value == JSON_NONE)
		return;
	buffer_append_string(out, before);
	terminal_append_value(out, &response->tape, value);
	buffer_append_string(out, after);
}

/* Append `Deadline 2.5 s.`, where the definition has it. */
static void append_deadline(const struct ctl_response *response, struct buffer *out)
{
	double ms;

	if (json_read_f64(&response->tape, json_find(&response->tape, 0, "timeout_ms"), &ms))
		buffer_printf(out, "Deadline %g s.\n", ms / MS_PER_S);
}

/* Append where the tool comes from: `From FILE, kind native.` @status: the response of
 * ovos.tools.status. */
static void append_origin(
	const struct ctl_response *response, const struct ctl_response *status, struct buffer *out)
{
	const struct json_tape *tape = &status->tape;
	uint32_t id = ctl_response_find(response, 0, "toolbox_id", JSON_STRING);
	uint32_t toolboxes = ctl_response_find(status, 0, "toolboxes", JSON_ARRAY);
	cleanup(buffer_deinit) struct buffer line = {0};

	if (id == JSON_NONE || toolboxes == JSON_NONE)
		return;
	json_each(i, tape, toolboxes) {
		uint32_t other = ctl_response_find(status, i, "toolbox_id", JSON_STRING);

		if (other == JSON_NONE || !json_strings_equal(tape, other, &response->tape, id))
			continue;
		buffer_append_string(&line, "From ");
		terminal_append_member(&line, tape, i, "file");
		buffer_append_string(&line, ", kind ");
		terminal_append_member(&line, tape, i, "kind");
		buffer_append_char(&line, '.');
	}
	terminal_append_paragraph(out, &line, 0, 0);
}

/* Print the command that calls the tool, on a line of its own. */
static void append_command(const struct ctl_response *response, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer command = {0};
	bool fits = tool_command_append(&response->tape, 0, &command);

	buffer_append_string(
		out, fits ? "\nTo call it:\n  " : "\nTo call it, with values of your own:\n  ");
	buffer_append_buffer(out, &command);
	buffer_append_char(out, '\n');
}

static void print_definition(const struct ctl_response *response, const struct ctl_response *status)
{
	cleanup(buffer_deinit) struct buffer head = {0};
	cleanup(buffer_deinit) struct buffer title = {0};
	cleanup(buffer_deinit) struct buffer description = {0};
	cleanup(buffer_deinit) struct buffer tail = {0};

	append_definition_member(response, "toolbox_id", "", "/", &title);
	append_definition_member(response, "name", "", "", &title);
	if (json_find(&response->tape, 0, "risk") != JSON_NONE)
		append_definition_member(response, "risk", " (risk: ", ")", &title);
	else
		buffer_printf(&title, " (risk: %s)", tool_risk_names[TOOL_UNRATED]);
	terminal_append_member_words(&description, &response->tape, 0, "description");
	buffer_append_string(&head, terminal_bold());
	terminal_append_paragraph(&head, &title, 0, 0);
	buffer_append_string(&head, terminal_plain());
	terminal_append_paragraph(&head, &description, 0, 0);
	append_origin(response, status, &head);
	append_deadline(response, &head);
	terminal_print(&head);
	print_schema(&response->tape, "argument_schema", argument_columns, N_ARGUMENT_COLUMNS);
	print_schema(&response->tape, "output_schema", result_columns, N_RESULT_COLUMNS);
	append_command(response, &tail);
	terminal_print(&tail);
}

int ctl_get(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(ctl_response_deinit) struct ctl_response status = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	r = ctl_request_tool(&data, options->positional[1], options);
	ctl_request_flag(&data, "deadline");
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.get", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (options->json) {
		ctl_response_print(&response);
		return r;
	}
	if (r != CTL_DONE) {
		tool_error_complain(&response, options);
		return r;
	}
	r = ctl_session_ask(session, "ovos.tools.status", NULL, &status);
	if (r == 0)
		print_definition(&response, &status);
	return r;
}
