/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/caller.h"

#include <stdlib.h>
#include <string.h>

#include "util/text/glob.h"

const char *call_door_name(enum call_door door)
{
	static const char *const names[] = {
		[CALL_DOOR_BUS] = "bus",
		[CALL_DOOR_HTTP] = "http",
		[CALL_DOOR_MCP] = "mcp",
	};

	return names[door];
}

/* Copy the text of *@view to @place, have @view point there, and return the place after it. */
static char *move_text(struct text_view *view, char *place)
{
	if (!view->text)
		return place;
	memcpy(place, view->text, view->size);
	view->text = place;
	return place + view->size;
}

struct policy_caller *policy_caller_copy(const struct policy_caller *caller)
{
	size_t size = caller->source.size + caller->session_id.size + caller->site_id.size +
		      caller->profile.size;
	size_t granted_size = caller->granted ? strlen(caller->granted) + 1 : 0;
	struct policy_caller *copy = malloc(sizeof(*copy) + size + granted_size);
	char *place;

	if (!copy)
		return NULL;
	*copy = *caller;
	place = move_text(&copy->source, (char *)(copy + 1));
	place = move_text(&copy->session_id, place);
	place = move_text(&copy->site_id, place);
	place = move_text(&copy->profile, place);
	if (caller->granted)
		copy->granted = memcpy(place, caller->granted, granted_size);
	copy->view = NULL; /* by then there may be another policy */
	account_ref(copy->account);
	return copy;
}

void policy_caller_free(struct policy_caller *caller)
{
	if (!caller)
		return;
	account_unref(caller->account);
	free(caller);
}

/* Return whether @view is there, and what @pattern wants. */
static bool member_matches(const char *pattern, const struct text_view *view)
{
	if (!view->text)
		return false;
	/* Most rules are for other callers, and their first byte shows it. */
	if (view->size > 0 && *pattern != '*' && *pattern != *view->text)
		return false;
	return glob_matches(pattern, strlen(pattern), view->text, view->size);
}

bool policy_caller_matches(const struct policy_caller *caller, const struct config_match *match)
{
	/* A member left out by the rule may be anything, also absent. */
	return (!match->source || member_matches(match->source, &caller->source)) &&
	       (!match->session_id || member_matches(match->session_id, &caller->session_id)) &&
	       (!match->site_id || member_matches(match->site_id, &caller->site_id));
}

bool policy_caller_is_clear(const struct policy_caller *caller)
{
	return !caller->is_unclear && caller->source.size <= CALLER_TEXT_BYTES &&
	       caller->session_id.size <= CALLER_TEXT_BYTES &&
	       caller->site_id.size <= CALLER_TEXT_BYTES;
}
