/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"

/* toolboxctl reload: have the service read the configuration and the registration folders again. */

/* 3 tools of 2 toolboxes: libm, math_tools */
static void print_loaded(const struct ctl_response *response)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t loaded = ctl_response_find(response, 0, "loaded", JSON_ARRAY);
	uint32_t total = ctl_response_find(response, 0, "total_tools", JSON_NUMBER);

	if (loaded == JSON_NONE || total == JSON_NONE)
		return;
	terminal_append_value(&line, tape, total);
	buffer_printf(&line, " tools of %u toolboxes", json_count(tape, loaded));
	for (uint32_t i = json_first(tape, loaded); i < json_end(tape, loaded);
		i = json_next(tape, i)) {
		buffer_append_string(&line, i == json_first(tape, loaded) ? ": " : ", ");
		terminal_append_value(&line, tape, i);
	}
	terminal_append_paragraph(&out, &line, 0, 2);
	terminal_print(&out);
}

static void complain_failed(const struct ctl_response *response, uint32_t failure)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t toolbox_id = ctl_response_find(response, failure, "toolbox_id", JSON_STRING);
	uint32_t error = ctl_response_find(response, failure, "error", JSON_STRING);

	if (toolbox_id != JSON_NONE)
		terminal_append_value(&line, tape, toolbox_id);
	buffer_append_string(&line, " failed: ");
	if (error != JSON_NONE)
		terminal_append_value(&line, tape, error);
	if (buffer_terminate(&line))
		terminal_complain("%s", line.data);
}

int ctl_reload(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = ctl_session_open(options, &session);

	ctl_request_begin(&data);
	ctl_request_end(&data);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.reload", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, print_loaded);
	if (ctl_response_complain_each(&response, "failed", complain_failed, options->json) > 0)
		r = CTL_ERROR;
	if (ctl_response_complain_mistakes(&response, options->json) > 0)
		r = CTL_ERROR;
	return r;
}
