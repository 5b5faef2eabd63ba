/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "ctl/calls/query.h"
#include "ctl/calls/row.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/member.h"

/*
 * toolboxctl cancel: end calls by their ids or call_ids, or by the beginnings of those.
 *
 *   ID ──▶ ovos.tools.calls ──▶ the one call in flight that has it ──▶ ovos.tools.cancel
 *                         └──▶ several, one that is over, or none: a complaint
 */

/* The calls that an ID means. */
struct found {
	uint32_t call; /* any of the calls */
	size_t n_running;
	size_t n_over;
	struct buffer ids; /* their ids, as far as they are in flight */
};

/* Return whether the string @key of the call at @index begins with @id; *ret_is_whole is whether
 * that is all of it. */
static bool has_prefix(const struct ctl_response *response, uint32_t index, const char *key,
	const char *id, struct buffer *whole, bool *ret_is_whole)
{
	size_t size = strlen(id);

	buffer_reset(whole);
	if (!json_read_text(&response->tape, json_find(&response->tape, index, key), whole))
		return false;
	*ret_is_whole = whole->size == size;
	return whole->size >= size && memcmp(whole->data, id, size) == 0;
}

/* As has_prefix(), for its id or its call_id. */
static bool has_id(const struct ctl_response *response, uint32_t index, const char *id,
	struct buffer *whole, bool *ret_is_whole)
{
	return has_prefix(response, index, "id", id, whole, ret_is_whole) ||
	       has_prefix(response, index, "call_id", id, whole, ret_is_whole);
}

/* Find the calls that @id means. A call in flight counts before those that are over. */
static void find_calls(const struct ctl_response *response, const struct call_list *list,
	const char *id, struct found *ret_found)
{
	cleanup(buffer_deinit) struct buffer whole = {0};
	bool is_whole;

	for (size_t i = 0; i < list->n_calls; i++) {
		if (!has_id(response, list->calls[i], id, &whole, &is_whole))
			continue;
		if (!row_is_running(response, list->calls[i])) {
			ret_found->n_over++;
			if (ret_found->n_running == 0)
				ret_found->call = list->calls[i];
			continue;
		}
		ret_found->call = list->calls[i];
		if (is_whole) {
			ret_found->n_running = 1;
			return;
		}
		buffer_append_string(&ret_found->ids, ret_found->n_running++ > 0 ? ", " : "");
		buffer_append_buffer(&ret_found->ids, &whole);
	}
}

static int complain_call(
	const struct ctl_response *response, const char *id, const struct found *found)
{
	cleanup(buffer_deinit) struct buffer outcome = {0};

	if (found->n_running > 1) {
		terminal_complain("several calls have an id that begins with '%s': %.*s", id,
			(int)found->ids.size, found->ids.data);
		return CTL_USAGE;
	}
	if (found->n_over == 1) {
		row_write(response, found->call, ROW_OUTCOME, &outcome);
		terminal_complain("call %s is over: %.*s", id, (int)outcome.size, outcome.data);
	} else if (found->n_over > 1) {
		terminal_complain("no call in flight has an id that begins with '%s'; %zu that are "
				  "over have; see toolboxctl calls --running",
			id, found->n_over);
	} else {
		terminal_complain("no call has an id that begins with '%s': it is forgotten, or "
				  "never existed; see toolboxctl calls --running",
			id);
	}
	return CTL_ERROR;
}

/* Cancel the call at @call of @calls. */
static int cancel_one(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *calls, uint32_t call)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer id = {0};
	uint32_t is_cancelled;
	int r;

	row_write(calls, call, ROW_ID, &id);
	if (!buffer_terminate(&id))
		return CTL_ERROR;
	ctl_request_member(&data, "id", id.data);
	r = ctl_session_ask(session, "ovos.tools.cancel", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, NULL);
	is_cancelled = ctl_response_find(&response, 0, "cancelled", JSON_TRUE);
	if (r != CTL_DONE)
		return r;
	if (is_cancelled == JSON_NONE) {
		terminal_complain("call %s has just ended", id.data);
		return CTL_ERROR;
	}
	if (!options->json)
		printf("%s cancelled\n", id.data);
	return CTL_DONE;
}

int ctl_cancel(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response calls = {0};
	cleanup(call_list_deinit) struct call_list list = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = ctl_session_open(options, &session);

	buffer_append_string(&data, "\"limit\":1000");
	if (r == 0)
		r = call_list_ask(session, &data, &calls, &list);
	if (r != 0)
		return r;
	for (size_t i = 1; i < options->n_positional; i++) {
		struct found found = {0};
		int status;

		find_calls(&calls, &list, options->positional[i], &found);
		status = found.n_running == 1
				 ? cancel_one(session, options, &calls, found.call)
				 : complain_call(&calls, options->positional[i], &found);
		buffer_deinit(&found.ids);
		r = status > r ? status : r;
	}
	return r;
}
