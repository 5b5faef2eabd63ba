/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/answer.h"
#include "core/events.h"
#include "core/invocation.h"

/* The inside of a call, for the files that are one: invocation.c, which begins it,
 * invocation_flight.c, which keeps it, and invocation_end.c, which ends it. */

struct invocation {
	struct runner_call call; /* first: a call is its invocation */
	struct invocation *next; /* of those in flight, or of the spare ones */
	struct invocation **link;
	struct service *service;
	const struct tool *tool;
	struct toolbox *toolbox; /* held until it is over */
	struct answer answer;
	uint64_t timeout_ms;
	struct buffer call_id; /* JSON text, for events and for cancelling; empty: none */
	struct buffer source;  /* context.source as JSON text; empty: none */
	bool has_events;
	uint64_t progressed_ms; /* when progress was told last; 0: not yet */
};

/* A call of @tool by the request in service->envelope, in flight from now on. @answer is taken
 * over. NULL without memory; then it is still the caller's. */
struct invocation *invocation_open(struct service *service, const struct tool *tool,
	uint64_t timeout_ms, struct answer *answer);

/* It is over: what it holds is given back, its memory is kept for the next one. */
void invocation_close(struct invocation *invocation);

/* What its events tell of it. */
struct events_call invocation_event(const struct invocation *invocation);
