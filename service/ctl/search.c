/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "util/array.h"

/* toolboxctl search: find the tools that fit words best. */

static void print_found(const struct ctl_response *response)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"TOOL", false}, {"DESCRIPTION", false}};
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	if (tools == JSON_NONE || json_count(&response->tape, tools) == 0) {
		terminal_complain("no tool has one of these words");
		return;
	}
	json_each(tool, &response->tape, tools) {
		table_add_member(&table, &response->tape, tool, "toolbox_id");
		table_add_member(&table, &response->tape, tool, "name");
		terminal_append_member_words(
			table_cell(&table), &response->tape, tool, "description");
		table_next(&table);
	}
	table_print(&table);
}

int ctl_search(const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_words(&data, "query", options);
	ctl_request_member(&data, "toolbox_id", options->toolbox_id);
	ctl_request_member(&data, "profile", options->profile);
	r = ctl_session_ask_once(options, "ovos.tools.search", &data, &response);
	if (r != 0)
		return r;
	return ctl_response_report(&response, options->json, print_found);
}
