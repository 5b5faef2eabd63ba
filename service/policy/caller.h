/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/account.h"
#include "catalogue/catalogue.h"
#include "config/config.h"
#include "util/cleanup.h"
#include "util/text/text_view.h"

/*
 * The caller of a request, as far as policy looks at it. The texts are the decoded strings of the
 * request: what a client of an open bus writes there is not proved.
 */

/* The longest source, session_id and site_id for matching with rules. */
#define CALLER_TEXT_BYTES 1024

/* The ways into the service. */
enum call_door {
	CALL_DOOR_BUS,
	CALL_DOOR_HTTP,
	CALL_DOOR_MCP, /* over HTTP, too */
};

/* Return the name of @door: a constant text. */
const char *call_door_name(enum call_door door);

/* The texts are absent when the request has no such member, or a value other than a string. */
struct policy_caller {
	struct text_view source;      /* context.source */
	struct text_view session_id;  /* context.session.session_id */
	struct text_view site_id;     /* context.session.site_id */
	struct text_view profile;     /* the request's `profile`, which only narrows */
	const char *granted;          /* the profile of its door, which only narrows; NULL: none */
	const struct catalogue *view; /* the result of policy_view() for this request; NULL: not
	                               * asked yet, or a copy */
	uint64_t token;               /* hash of the token shown at its door; 0: none */
	bool is_unclear;              /* a text is not whole: memory was short */
	struct account *account;      /* the account of its connection, or NULL; borrowed */
	enum call_door door;
};

/* Return whether rules can judge @caller: its texts are whole, and of CALLER_TEXT_BYTES at most. */
bool policy_caller_is_clear(const struct policy_caller *caller);

/* Return whether @match is for @caller, which is clear. An absent text matches no pattern, not even
 * `*`. */
bool policy_caller_matches(const struct policy_caller *caller, const struct config_match *match);

/* Return a copy of @caller with texts of its own and a reference to the account, for a request
 * whose answer comes later; NULL without memory. */
struct policy_caller *policy_caller_copy(const struct policy_caller *caller);

/* Free a copy. Takes NULL. */
void policy_caller_free(struct policy_caller *caller);

CLEANUP_DEFINE(policy_caller, struct policy_caller *, policy_caller_free)
