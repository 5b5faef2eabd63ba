/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/calls/query.h"

#include <stdlib.h>

#include "ctl/session.h"
#include "ctl/terminal.h"

/* List the calls of @response. Return 0, or CTL_ERROR after a complaint. */
static int read_calls(const struct ctl_response *response, struct call_list *ret_list)
{
	const struct json_tape *tape = &response->tape;
	uint32_t list = ctl_response_find(response, 0, "calls", JSON_ARRAY);
	size_t n_calls = list != JSON_NONE ? json_count(tape, list) : 0;
	uint32_t *calls = calloc(n_calls + 1, sizeof(*calls));
	size_t left = n_calls;

	if (!calls || list == JSON_NONE) {
		terminal_complain(calls ? "the response has no calls" : "out of memory");
		free(calls);
		return CTL_ERROR;
	}
	json_each(i, tape, list)
		calls[--left] = i;
	free(ret_list->calls);
	*ret_list = (struct call_list){calls, n_calls};
	return 0;
}

int call_list_ask(struct ctl_session *session, const struct buffer *data,
	struct ctl_response *ret_response, struct call_list *ret_list)
{
	int r = ctl_response_judge(
		ctl_session_ask(session, "ovos.tools.calls", data, ret_response), ret_response);

	return r == 0 ? read_calls(ret_response, ret_list) : r;
}

void call_list_deinit(struct call_list *list)
{
	free(list->calls);
	*list = (struct call_list){0};
}
