/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/tool_names.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "policy/names.h"
#include "util/cleanup.h"
#include "util/text/text.h"

int tool_names_check(const char *name)
{
	static const char letters[] = TEXT_ALPHANUMERIC "_-*";
	size_t first = strspn(name, letters);
	const char *rest = name + first;

	if (first > 0 && *rest == '/')
		rest += 1 + strspn(rest + 1, letters);
	if (first > 0 && *rest == '\0' && rest[-1] != '/')
		return 0;
	terminal_complain(
		"'%s' is no name of tools: TOOL, TOOLBOX/TOOL, with * for any characters", name);
	return CTL_USAGE;
}

static int ask(struct ctl_session *session, const char *topic, const char *profile,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "profile", profile);
	return ctl_response_judge(
		ctl_session_ask(session, topic, &data, ret_response), ret_response);
}

int tool_names_list(
	struct ctl_session *session, const char *profile, struct ctl_response *ret_response)
{
	return ask(session, "ovos.tools.list", profile, ret_response);
}

int tool_names_ask_status(struct ctl_session *session, struct ctl_response *ret_response)
{
	return ask(session, "ovos.tools.status", NULL, ret_response);
}

bool tool_names_mean(const struct ctl_response *response, uint32_t entry, const char *name)
{
	cleanup_free char *id = json_find_dup(&response->tape, entry, "toolbox_id");
	cleanup_free char *tool = json_find_dup(&response->tape, entry, "name");
	char *text = (char *)name;
	const struct text_list one = {&text, 1};

	if (!tool)
		return id && strchr(name, '/') && names_may_mean(&one, id);
	return id && name_means(name, id, tool);
}

bool tool_names_mean_any(const struct ctl_response *response, const char *list, const char *name)
{
	const struct json_tape *tape = &response->tape;
	uint32_t entries = ctl_response_find(response, 0, list, JSON_ARRAY);

	json_each_found(i, tape, entries)
		if (tool_names_mean(response, i, name))
			return true;
	return false;
}

/* Complain about each tool that @name means and that is not offered. */
static void complain_left_out(const struct ctl_response *status, const char *name)
{
	const struct json_tape *tape = &status->tape;
	uint32_t entries = ctl_response_find(status, 0, "not_offered", JSON_ARRAY);

	json_each_found(i, tape, entries) {
		cleanup(buffer_deinit) struct buffer line = {0};

		if (!tool_names_mean(status, i, name))
			continue;
		terminal_append_member(&line, tape, i, "toolbox_id");
		if (ctl_response_find(status, i, "name", JSON_STRING) != JSON_NONE) {
			buffer_append_char(&line, '/');
			terminal_append_member(&line, tape, i, "name");
		}
		buffer_append_string(&line, " is still not offered: ");
		terminal_append_member(&line, tape, i, "why");
		terminal_complain_text(&line);
	}
}

int tool_names_complain(
	struct ctl_session *session, const char *const *names, size_t n_names, bool is_enabled)
{
	cleanup(ctl_response_deinit) struct ctl_response list = {0};
	cleanup(ctl_response_deinit) struct ctl_response status = {0};
	int r = tool_names_list(session, NULL, &list);

	if (r == 0)
		r = tool_names_ask_status(session, &status);
	for (size_t i = 0; r == 0 && i < n_names; i++) {
		if (!tool_names_mean_any(&list, "tools", names[i]) &&
			!tool_names_mean_any(&status, "not_offered", names[i]))
			terminal_complain("no tool is called '%s' now", names[i]);
		else if (is_enabled)
			complain_left_out(&status, names[i]);
	}
	return r;
}
