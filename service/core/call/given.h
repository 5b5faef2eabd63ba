/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/call/calls.h"
#include "core/request/request_scope.h"
#include "core/voice/conversation.h"

/*
 * Knowledge of the daemon, given to tools of plugins that ask for it (`given` in toolbox.h).
 *
 *   {"call_id", "session_id", "lang", …, "given": …}      the caller, in the frame of the call
 *    "statistics":   {"tools": [{"toolbox_id", "name", "calls", "errors", "p50_ms", "p99_ms"}, …],
 *                     "left_out": 0}      tools that were called, as far as the caller sees them
 *    "conversation": {"messages": [{"role", "text", "time"}, …]}      core/voice/conversation.h
 */

/* The most tools in "statistics"; the rest is counted. */
#define GIVEN_TOOLS_MAX 1000

/* Return whether the kind of the tool of @call asks for its caller, or the caller's session. */
static inline bool given_is_asked(const struct call *call)
{
	const struct kind_facts *kind = kind_facts(call->package->kind);

	return kind->asks_session || kind->asks_caller;
}

/* Write what the kind of the tool of @call asks for: the session, or the caller, from the record of
 * @call, as an object for the host, with the knowledge that the tool is given. calls_charge()
 * charges it. */
void given_write_caller(const struct conversations *conversations,
	const struct request_scope *scope, struct call *call);
