/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "catalogue/toolbox.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "util/cleanup.h"

/* toolboxctl get: show how to call a tool. */

static void append_values(const struct json_tape *tape, uint32_t list, struct buffer *out)
{
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list);
		i = json_next(tape, i)) {
		buffer_append_string(out, i == json_first(tape, list) ? "" : "|");
		terminal_append_value(out, tape, i);
	}
}

/* Append the type of a property's schema in a few words. */
static void append_type(const struct json_tape *tape, uint32_t schema, struct buffer *out)
{
	bool is_object = json_type_at(tape, schema) == JSON_OBJECT;
	uint32_t words = is_object ? json_find(tape, schema, "enum") : JSON_NONE;
	uint32_t type = is_object ? json_find(tape, schema, "type") : JSON_NONE;

	if (words != JSON_NONE && json_type_at(tape, words) == JSON_ARRAY)
		append_values(tape, words, out);
	else if (type != JSON_NONE && json_type_at(tape, type) == JSON_ARRAY)
		append_values(tape, type, out);
	else if (type != JSON_NONE)
		terminal_append_value(out, tape, type);
	else
		buffer_append_string(out, "any");
}

static bool is_required(const struct json_tape *tape, uint32_t schema, uint32_t key)
{
	uint32_t required = json_find(tape, schema, "required");

	if (required == JSON_NONE || json_type_at(tape, required) != JSON_ARRAY)
		return false;
	for (uint32_t i = json_first(tape, required); i < json_end(tape, required);
		i = json_next(tape, i))
		if (json_type_at(tape, i) == JSON_STRING && json_strings_equal(tape, i, tape, key))
			return true;
	return false;
}

/* A row: name, type, default, description. */
static void add_property(
	struct table *table, const struct json_tape *tape, uint32_t schema, uint32_t key)
{
	bool is_object = json_type_at(tape, key + 1) == JSON_OBJECT;
	uint32_t standard = is_object ? json_find(tape, key + 1, "default") : JSON_NONE;
	uint32_t description = is_object ? json_find(tape, key + 1, "description") : JSON_NONE;

	terminal_append_value(table_cell(table), tape, key);
	table_next(table);
	append_type(tape, key + 1, table_cell(table));
	table_next(table);
	if (is_required(tape, schema, key))
		buffer_append_string(table_cell(table), "required");
	else if (standard != JSON_NONE && json_type_at(tape, standard) == JSON_NULL)
		buffer_append_string(table_cell(table), "null");
	else if (standard != JSON_NONE)
		terminal_append_value(table_cell(table), tape, standard);
	table_next(table);
	if (description != JSON_NONE)
		terminal_append_value(table_cell(table), tape, description);
	table_next(table);
}

/* Print a table of the schema's properties, or the schema itself when it is not a plain object. */
static void print_schema(const struct json_tape *tape, uint32_t schema, const char *title)
{
	const struct table_column columns[] = {
		{title, false}, {"TYPE", false}, {"DEFAULT", false}, {"DESCRIPTION", false}};
	cleanup(table_deinit) struct table table = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t properties = JSON_NONE;

	if (json_type_at(tape, schema) == JSON_OBJECT)
		properties = json_find(tape, schema, "properties");
	if (properties == JSON_NONE || json_type_at(tape, properties) != JSON_OBJECT) {
		buffer_printf(&line, "\n%s\n", title);
		terminal_print(&line);
		terminal_print_json(tape, schema);
		return;
	}
	buffer_append_char(&line, '\n');
	terminal_print(&line);
	table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t key = json_first(tape, properties); key < json_end(tape, properties);
		key = json_next_key(tape, key))
		add_property(&table, tape, schema, key);
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

/* Print the first example as a command. */
static void append_example(const struct ctl_response *response, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	uint32_t examples = ctl_response_find(response, 0, "examples", JSON_ARRAY);
	uint32_t args = JSON_NONE;
	const char *text;
	size_t size;

	if (examples != JSON_NONE && json_count(tape, examples) > 0 &&
		json_type_at(tape, json_first(tape, examples)) == JSON_OBJECT)
		args = json_find(tape, json_first(tape, examples), "args");
	/* A quote inside would end the shell's quotation. */
	if (args == JSON_NONE)
		return;
	text = json_value_text(tape, args, &size);
	if (memchr(text, '\'', size))
		return;
	append_definition_member(response, "toolbox_id", "\nExample: toolboxctl invoke ", "/", out);
	append_definition_member(response, "name", "", " --args '", out);
	terminal_append_value(out, tape, args);
	buffer_append_string(out, "'\n");
}

static void print_definition(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer head = {0};
	cleanup(buffer_deinit) struct buffer description = {0};
	cleanup(buffer_deinit) struct buffer tail = {0};
	uint32_t arguments = json_find(&response->tape, 0, "argument_schema");
	uint32_t output = json_find(&response->tape, 0, "output_schema");

	buffer_append_string(&head, terminal_bold());
	append_definition_member(response, "toolbox_id", "", "/", &head);
	append_definition_member(response, "name", "", "", &head);
	buffer_append_string(&head, terminal_plain());
	if (json_find(&response->tape, 0, "risk") != JSON_NONE)
		append_definition_member(response, "risk", " (risk: ", ")", &head);
	else
		buffer_printf(&head, " (risk: %s)", tool_risk_name(TOOL_UNRATED));
	append_definition_member(response, "description", "", "\n", &description);
	buffer_append_char(&head, '\n');
	terminal_append_wrapped(&head, description.data ? description.data : "", description.size,
		terminal_width(), 0);
	terminal_print(&head);
	if (arguments != JSON_NONE)
		print_schema(&response->tape, arguments, "ARGUMENT");
	if (output != JSON_NONE)
		print_schema(&response->tape, output, "RESULT");
	append_example(response, &tail);
	terminal_print(&tail);
}

int ctl_get(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_begin(&data);
	r = ctl_request_tool(&data, options->positional[1], options);
	ctl_request_end(&data);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.get", &data, &response);
	if (r != 0)
		return r;
	return ctl_response_report(&response, options->json, print_definition);
}
