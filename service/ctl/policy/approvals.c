/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/approvals.h"

#include <string.h>

#include "ctl/policy/allowed.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/number.h"
#include "util/cleanup.h"

/* toolboxctl approvals: list the questions that wait. */

/* Append whole seconds: the rest of the time that is left helps no reader. */
static void append_seconds(struct buffer *cell, const struct json_tape *tape, uint32_t token)
{
	double seconds = 0;

	if (token != JSON_NONE && json_type_at(tape, token) == JSON_NUMBER)
		json_number_f64(tape, token, &seconds);
	buffer_printf(cell, "%.0f", seconds);
}

static void print_questions(const struct ctl_response *response)
{
	static const struct table_column columns[] = {{"ID", false}, {"TOOL", false},
		{"RISK", false}, {"FROM", false}, {"SECONDS", true}, {"QUESTION", false}};
	static const char *const keys[] = {"id", NULL, "risk", "source", "expires_s", "question"};
	const struct json_tape *tape = &response->tape;
	uint32_t list = ctl_response_find(response, 0, "pending", JSON_ARRAY);
	cleanup(table_deinit) struct table table = {0};

	if (list == JSON_NONE || json_count(tape, list) == 0) {
		terminal_complain("no call waits for approval");
		return;
	}
	table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list);
		i = json_next(tape, i)) {
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
			struct buffer *cell = table_cell(&table);

			if (keys[k] && strcmp(keys[k], "expires_s") == 0) {
				append_seconds(cell, tape, json_find(tape, i, keys[k]));
			} else if (keys[k]) {
				terminal_append_member(cell, tape, i, keys[k]);
			} else {
				terminal_append_member(cell, tape, i, "toolbox_id");
				buffer_append_char(cell, '/');
				terminal_append_member(cell, tape, i, "name");
			}
			table_next(&table);
		}
	}
	table_print(&table);
}

int ctl_approvals(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	if (options->allowed)
		return allowed_list(options);
	if (options->watch)
		return approvals_watch(options);
	r = ctl_session_open(options, &session);
	ctl_request_begin(&data);
	ctl_request_end(&data);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.approval.list", &data, &response);
	return r != 0 ? r : ctl_response_report(&response, options->json, print_questions);
}
