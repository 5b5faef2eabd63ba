/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/status.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"

/* toolboxctl list: what tools there are. */

static void add_member(
	struct table *table, const struct ctl_response *response, uint32_t object, const char *key)
{
	uint32_t value = json_find(&response->tape, object, key);

	if (value != JSON_NONE)
		terminal_append_value(table_cell(table), &response->tape, value);
	table_next(table);
}

static void print_tools(const struct ctl_response *response, uint32_t tools)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"TOOL", false}, {"RISK", false}, {"DESCRIPTION", false}};
	const struct json_tape *tape = &response->tape;
	cleanup(table_deinit) struct table table = {0};

	table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t i = json_first(tape, tools); i < json_end(tape, tools);
		i = json_next(tape, i)) {
		add_member(&table, response, i, "toolbox_id");
		add_member(&table, response, i, "name");
		add_member(&table, response, i, "risk");
		add_member(&table, response, i, "description");
	}
	table_print(&table);
}

static void print_list(const struct ctl_options *options, const struct ctl_response *response)
{
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);

	if (options->json)
		ctl_response_print(response);
	else if (options->format)
		terminal_print_json(&response->tape, 0);
	else if (tools != JSON_NONE && json_count(&response->tape, tools) > 0)
		print_tools(response, tools);
	else
		terminal_complain("no tool is offered%s",
			options->why ? "" : "; `toolboxctl list --why` tells what was found");
}

static int check_options(const struct ctl_options *options)
{
	if (!options->json || !options->why)
		return 0;
	terminal_complain("--why is for people; a program asks `toolboxctl status --json`");
	return CTL_USAGE;
}

int ctl_list(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = check_options(options);

	ctl_request_begin(&data);
	ctl_request_member(&data, "toolbox_id", options->toolbox_id);
	ctl_request_member(&data, "profile", options->profile);
	ctl_request_member(&data, "format", options->format);
	ctl_request_end(&data);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.list", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (r != CTL_DONE && !options->json) {
		ctl_response_complain(&response);
		return r;
	}
	print_list(options, &response);
	return r == CTL_DONE && options->why ? ctl_print_absences(session) : r;
}
