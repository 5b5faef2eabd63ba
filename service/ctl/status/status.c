/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status/status.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/status/ask.h"
#include "ctl/status/text.h"
#include "ctl/terminal.h"
#include "json/member.h"

/* Complain about a key without which no one can answer questions. */
static void complain_key(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	uint32_t approval = ctl_response_find(response, 0, "approval", JSON_OBJECT);
	uint32_t why =
		approval != JSON_NONE ? json_find(&response->tape, approval, "why") : JSON_NONE;

	if (why == JSON_NONE || json_type_at(&response->tape, why) != JSON_STRING)
		return;
	terminal_append_value(&reason, &response->tape, why);
	if (buffer_terminate(&reason))
		terminal_complain("no one can approve calls: approval.key_file %s", reason.data);
}

/* Complain of lines that the audit log lacks. */
static void complain_audit(const struct ctl_response *response)
{
	const struct json_tape *tape = &response->tape;
	uint32_t audit = ctl_response_find(response, 0, "audit", JSON_OBJECT);
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t lost;
	uint32_t error;

	if (audit == JSON_NONE)
		return;
	lost = json_find(tape, audit, "lost");
	error = json_find_typed_at(tape, audit, "error", JSON_STRING);
	if (status_number_at(tape, lost) == 0 && error == JSON_NONE)
		return;
	buffer_append_string(&text, "the audit log ");
	terminal_append_member(&text, tape, audit, "file");
	buffer_append_string(&text, " lacks ");
	terminal_append_member(&text, tape, audit, "lost");
	buffer_append_string(&text, " lines");
	if (error != JSON_NONE) {
		buffer_append_string(&text, ": ");
		terminal_append_value(&text, tape, error);
	}
	terminal_complain_text(&text);
}

/* Complain of one other service on the bus. */
static void complain_other(const struct ctl_response *response, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	bool has_process = json_find(&response->tape, index, "pid") != JSON_NONE;

	buffer_append_string(&text, "another tool service answers on this bus: ");
	terminal_append_member(&text, &response->tape, index, "service");
	if (has_process) {
		buffer_append_string(&text, ", process ");
		terminal_append_member(&text, &response->tape, index, "pid");
		buffer_append_string(&text, " of ");
		terminal_append_member(&text, &response->tape, index, "host");
	}
	buffer_append_string(&text, "; stop one of them");
	terminal_complain_text(&text);
}

/* Print @response for a person. */
static int print_status(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	if (!status_append(options, response, &out)) {
		int r = status_expect_toolbox(session, status_toolbox(options));

		/* It came meanwhile: the next look shows it. */
		return r != 0 ? r : CTL_DONE;
	}
	terminal_print(&out);
	ctl_response_complain_mistakes(response, false);
	complain_audit(response);
	complain_key(response);
	ctl_response_complain_each(response, "other_services", complain_other, false);
	return CTL_DONE;
}

int ctl_status(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_session_open(options, &session);

	if (r == 0 && options->watch)
		return status_watch(session, options);
	if (r == 0)
		r = status_ask(session, status_toolbox(options), &response);
	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, NULL);
	if (r == CTL_DONE && !options->json)
		r = print_status(session, options, &response);
	return r;
}
