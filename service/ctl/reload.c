/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "ctl/command.h"
#include "ctl/response.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "util/array.h"

/*
 * toolboxctl reload: have the service read the configuration and the registration folders again.
 *
 * The response has what there is, and ovos.tools.changed, which comes before it, what the reload
 * has changed:
 *
 *   3 tools of 2 toolboxes: libm, math_tools
 *   changed  libm/cos, libm/sin
 *
 * Over HTTP there are no broadcasts.
 */

/* The columns of the word before names. */
#define HANGING 9

static const char *const topics[] = {"ovos.tools.changed"};

/* Append a line for each way in which tools have changed to @data, a buffer. A
 * ctl_event_function. */
static void take_changes(void *data, const char *topic, const struct json_tape *event)
{
	static const char *const ways[] = {"added", "changed", "removed"};
	struct buffer *out = data;

	(void)topic;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup(buffer_deinit) struct buffer line = {0};
		uint32_t names = json_find_typed_at(event, 0, ways[i], JSON_ARRAY);

		if (names == JSON_NONE || json_count(event, names) == 0)
			continue;
		buffer_printf(&line, "%-*s", HANGING, ways[i]);
		json_each(name, event, names) {
			buffer_append_string(&line, name == json_first(event, names) ? "" : ", ");
			terminal_append_value(&line, event, name);
		}
		terminal_append_paragraph(out, &line, 0, HANGING);
	}
}

static void print_loaded(const struct ctl_response *response)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t loaded = ctl_response_find(response, 0, "loaded", JSON_ARRAY);
	uint32_t total = ctl_response_find(response, 0, "total_tools", JSON_NUMBER);
	uint64_t n_tools;

	if (loaded == JSON_NONE || total == JSON_NONE)
		return;
	terminal_append_value(&line, tape, total);
	buffer_printf(&line, " tool%s of %u toolbox%s",
		json_number_u64(tape, total, &n_tools) == 0 && n_tools == 1 ? "" : "s",
		json_count(tape, loaded), json_count(tape, loaded) == 1 ? "" : "es");
	json_each(i, tape, loaded) {
		buffer_append_string(&line, i == json_first(tape, loaded) ? ": " : ", ");
		terminal_append_value(&line, tape, i);
	}
	terminal_print_paragraph(&line, 0, 2);
}

static void complain_failed(const struct ctl_response *response, uint32_t failure)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};

	terminal_append_text(&line, tape, failure, "toolbox_id");
	buffer_append_string(&line, " failed: ");
	terminal_append_text(&line, tape, failure, "error");
	terminal_complain_text(&line);
}

/* Print the toolboxes whose servers have not answered yet. */
static void print_asked(const struct ctl_response *response)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t asked = ctl_response_find(response, 0, "asked", JSON_ARRAY);

	json_each_found(i, tape, asked) {
		buffer_append_string(&line,
			i == json_first(tape, asked)
				? "still asked for their tools, which are offered as they answer: "
				: ", ");
		terminal_append_value(&line, tape, i);
	}
	terminal_print_paragraph(&line, 0, 2);
}

int ctl_reload(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer changes = {0};
	int r = ctl_session_open(options, &session);

	if (r == 0 && !ctl_session_is_http(session))
		ctl_session_listen(session, topics, 1, take_changes, &changes);
	if (r == 0)
		r = ctl_session_ask_reload(session, options, &response);
	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, print_loaded);
	if (r == 0 && !options->json)
		print_asked(&response);
	if (!options->json)
		terminal_print(&changes);
	if (ctl_response_complain_each(&response, "failed", complain_failed, options->json) > 0)
		r = CTL_ERROR;
	if (ctl_response_complain_mistakes(&response, options->json) > 0)
		r = CTL_ERROR;
	return r;
}
