/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"

/* toolboxctl match: find the tool that an utterance means. */

/* Append the arguments, if there are any, and what they lack. */
static void append_match_arguments(const struct ctl_response *response, struct buffer *line)
{
	uint32_t args = ctl_response_find(response, 0, "args", JSON_OBJECT);
	uint32_t missing = ctl_response_find(response, 0, "missing", JSON_ARRAY);
	const char *separator = "  missing: ";

	if (args != JSON_NONE && json_count(&response->tape, args) > 0) {
		buffer_append_char(line, ' ');
		terminal_append_value(line, &response->tape, args);
	}
	json_each_found(i, &response->tape, missing) {
		buffer_append_string(line, separator);
		terminal_append_value(line, &response->tape, i);
		separator = ", ";
	}
}

/* TOOLBOX/TOOL and its arguments, as `invoke` takes them. */
static void print_match(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t name = ctl_response_find(response, 0, "name", JSON_STRING);
	uint32_t toolbox_id = ctl_response_find(response, 0, "toolbox_id", JSON_STRING);

	if (name == JSON_NONE || toolbox_id == JSON_NONE) {
		terminal_complain("no tool has a trigger that matches it");
		return;
	}
	terminal_append_value(&line, &response->tape, toolbox_id);
	buffer_append_char(&line, '/');
	terminal_append_value(&line, &response->tape, name);
	append_match_arguments(response, &line);
	terminal_print_line(&line);
}

int ctl_match(const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_words(&data, "utterance", options);
	ctl_request_member(&data, "lang", options->lang);
	r = ctl_session_ask_once(options, "ovos.tools.match", &data, &response);
	if (r != 0)
		return r;
	return ctl_response_report(&response, options->json, print_match);
}
