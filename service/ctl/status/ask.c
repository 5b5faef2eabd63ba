/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status/ask.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/guess.h"
#include "ctl/request.h"
#include "json/member.h"
#include "util/cleanup.h"

#define TOPIC "ovos.tools.status"

int status_ask(
	struct ctl_session *session, const char *toolbox_id, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "toolbox_id", toolbox_id);
	return ctl_session_ask(session, TOPIC, &data, ret_response);
}

/* Compare the ids of the list @list of @response. Return whether one is the wanted one itself. */
static bool compare_ids(
	const struct ctl_response *response, const char *list, struct token_guess *guess)
{
	const struct json_tape *tape = &response->tape;
	uint32_t entries = ctl_response_find(response, 0, list, JSON_ARRAY);

	json_each_found(i, tape, entries) {
		cleanup_free char *id = json_find_dup(tape, i, "toolbox_id");

		if (id && strcmp(id, guess->wanted) == 0)
			return true;
		if (id)
			guess_compare(guess, id);
	}
	return false;
}

int status_expect_toolbox(struct ctl_session *session, const char *id)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	struct token_guess guess = {.wanted = id};
	int r = status_ask(session, NULL, &response);
	bool is_there;

	if (r == 0)
		r = ctl_response_status(&response);
	/* Over HTTP only an administrator knows the others. */
	if (r == CTL_ERROR && ctl_response_has_code(&response, "forbidden")) {
		guess_complain(&guess, "toolbox", "see toolboxctl list");
		return r;
	}
	if (r != 0) {
		if (response.text.size > 0)
			ctl_response_complain(&response);
		return r;
	}
	is_there = compare_ids(&response, "toolboxes", &guess) ||
		   compare_ids(&response, "failed", &guess) ||
		   compare_ids(&response, "not_offered", &guess);
	if (!is_there)
		guess_complain(&guess, "toolbox", "see toolboxctl status");
	guess_deinit(&guess);
	return is_there ? 0 : CTL_ERROR;
}

const char *status_toolbox(const struct ctl_options *options)
{
	return options->n_positional > 1 ? options->positional[1] : NULL;
}
