/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status/reasons.h"

#include <string.h>

#include "ctl/status/ask.h"
#include "ctl/status/text.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "util/array.h"

static void append_failed(const struct json_tape *tape, uint32_t failures, struct buffer *out)
{
	static const struct table_column columns[] = {{"FAILED", false}, {"ERROR", false}};
	cleanup(table_deinit) struct table table = TABLE(columns);

	json_each(i, tape, failures) {
		terminal_append_member(table_cell(&table), tape, i, "toolbox_id");
		table_next_styled(&table, TERMINAL_RED);
		table_add_member(&table, tape, i, "error");
	}
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

/* Return whether the members @key of two objects are the same string. */
static bool is_same(const struct json_tape *tape, uint32_t left, uint32_t right, const char *key)
{
	uint32_t first = json_find(tape, left, key);
	uint32_t second = json_find(tape, right, key);

	return first != JSON_NONE && second != JSON_NONE &&
	       json_type_at(tape, first) == JSON_STRING &&
	       json_type_at(tape, second) == JSON_STRING &&
	       json_strings_equal(tape, first, tape, second);
}

/* Add the row of the tools from @first on with the same toolbox and reason. Return the entry after
 * them. */
static uint32_t add_run(
	struct table *table, const struct json_tape *tape, uint32_t first, uint32_t end)
{
	uint32_t next = json_next(tape, first);
	bool is_one;

	while (status_has(tape, first, "name") && next < end &&
		is_same(tape, first, next, "toolbox_id") && is_same(tape, first, next, "why") &&
		status_has(tape, next, "name"))
		next = json_next(tape, next);
	is_one = next == json_next(tape, first);
	terminal_append_member(table_cell(table), tape, first, "toolbox_id");
	if (is_one && status_has(tape, first, "name")) {
		buffer_append_char(table_cell(table), '/');
		terminal_append_member(table_cell(table), tape, first, "name");
	}
	table_next(table);
	terminal_append_member(table_cell(table), tape, first, "why");
	for (uint32_t i = first; !is_one && i < next; i = json_next(tape, i)) {
		buffer_append_string(table_cell(table), i == first ? ": " : ", ");
		terminal_append_member(table_cell(table), tape, i, "name");
	}
	table_next(table);
	return next;
}

void reasons_append_not_offered(const struct ctl_response *response, struct buffer *out)
{
	static const struct table_column columns[] = {{"NOT OFFERED", false}, {"WHY", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t list = ctl_response_find(response, 0, "not_offered", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	if (list == JSON_NONE || json_count(tape, list) == 0)
		return;
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list);)
		i = add_run(&table, tape, i, json_end(tape, list));
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

void reasons_append_skipped(const struct ctl_response *response, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	uint32_t failures = ctl_response_find(response, 0, "failed", JSON_ARRAY);

	if (failures != JSON_NONE && json_count(tape, failures) > 0)
		append_failed(tape, failures, out);
	reasons_append_not_offered(response, out);
}

void reasons_append_states(const struct ctl_response *response, struct buffer *out)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"STATE", false}, {"WHY", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t rows = ctl_response_find(response, 0, "toolboxes", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	json_each_found(row, tape, rows) {
		if (!status_has(tape, row, "why"))
			continue;
		table_add_member(&table, tape, row, "toolbox_id");
		terminal_append_member(table_cell(&table), tape, row, "state");
		table_next_styled(&table, status_style(tape, row));
		table_add_member(&table, tape, row, "why");
	}
	if (table_rows(&table) == 0)
		return;
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

/* Append what stays closed in the paths that an operator opens, as one paragraph. */
static void append_hidden(const struct ctl_response *response, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t list = ctl_response_find(response, 0, "hidden", JSON_ARRAY);

	if (list == JSON_NONE)
		return;
	buffer_append_string(&text, "Hidden in the folders that toolboxes as files may read:");
	json_each(i, &response->tape, list) {
		buffer_append_string(&text, i == json_first(&response->tape, list) ? " " : ", ");
		terminal_append_value(&text, &response->tape, i);
	}
	buffer_append_char(out, '\n');
	terminal_append_paragraph(out, &text, 0, 2);
}

void reasons_print(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	reasons_append_skipped(response, &out);
	reasons_append_states(response, &out);
	append_hidden(response, &out);
	terminal_print(&out);
}

int reasons_ask(struct ctl_session *session, const char *toolbox_id)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_response_judge(status_ask(session, toolbox_id, &response), &response);

	if (r != 0)
		return r;
	reasons_print(&response);
	ctl_response_complain_mistakes(&response, false);
	return 0;
}
