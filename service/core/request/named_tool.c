/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/named_tool.h"

#include <string.h>

#include "core/request/errors.h"

bool named_tool_find(const struct offer *offer, const struct catalogue *view,
	const struct request *request, bool last_wins, struct answer *answer,
	const struct tool **ret_tool)
{
	int r = CATALOGUE_E_UNKNOWN;

	if (request->name == JSON_NONE ||
		(request->name_is_string && request->name_text.size == 0)) {
		errors_write_missing_name(answer);
		return false;
	}
	if (offer->closed) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: its configuration cannot be "
			"used: %s",
			offer->closed);
		return false;
	}
	if (request->name_is_string)
		r = catalogue_find(view, request->name_text.text, request->name_text.size,
			request->toolbox_id.text, request->toolbox_id.size, last_wins, ret_tool);
	if (r == CATALOGUE_E_UNKNOWN)
		errors_write_unknown_tool(answer, view, request);
	else if (r == CATALOGUE_E_AMBIGUOUS)
		errors_write_ambiguous_tool(answer, view, request);
	return r == 0;
}

const struct tool *named_tool_find_again(const struct offer *offer,
	const struct policy_caller *caller, const struct tool *tool, struct answer *answer)
{
	const struct request request = {
		.name = JSON_NONE + 1, /* there is one */
		.name_is_string = true,
		.name_text = {tool->name, strlen(tool->name)},
		.toolbox_id = {tool->toolbox->id, strlen(tool->toolbox->id)},
	};
	const struct catalogue *view = policy_view(offer->policy, caller);
	cleanup(answer_deinit) struct answer unused = {0};
	const struct tool *found = NULL;
	bool is_found =
		named_tool_find(offer, view, &request, false, answer ? answer : &unused, &found);

	return is_found ? found : NULL;
}
