/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/call/calls.h"
#include "core/request/request_scope.h"
#include "loop/loop.h"
#include "runner/executor.h"
#include "util/list.h"
#include "util/log.h"

/*
 * The calls of guests, as messages (contract.md, Guests).
 *
 *   begin ── ovos.tools.guest.call ──▶ guest          call_id: ours, of the call in flight
 *            ovos.tools.guest.progress ◀── guest      any number
 *   finish ◀─ ovos.tools.guest.call.response ─ guest  once: a later one has no call
 *   cancel ── ovos.tools.guest.cancel ──▶ guest
 *
 * Only the owner of a guest may answer its calls. The messages of a guest are hostile input: a bad
 * response ends the call with an error, and any other message is dropped.
 */

/* The process with a toolbox to offer. */
struct guest_owner {
	char *source;        /* its context.source */
	uint64_t connection; /* the number of its account; 0: not known */
};

struct guest_calls {
	struct executor executor;
	const struct config *config;
	struct bus *bus; /* set once it is open */
	/* Return the owner of the guest with @package, or NULL: the guest has left. */
	const struct guest_owner *(*find_owner)(void *data, const struct package *package);
	void *data;
	struct list sent; /* calls that wait for their responses */
	struct list lost; /* calls that could not be sent: they end by the timer */
	struct loop_timer losing;
	struct log_rate dropped; /* lines about messages without a call */
};

/* Make @calls, with the members above set, ready. 0 or -ENOMEM. */
int guest_calls_init(struct guest_calls *calls, struct loop *loop);

/* Forget all calls. Takes a zeroed one. */
void guest_calls_deinit(struct guest_calls *calls);

/* Return whether @caller is @owner (NULL: no caller is): its source, on its connection. */
bool guest_owner_is(const struct guest_owner *owner, const struct policy_caller *caller);

/* Take a response, or progress, in @scope from a guest. */
void guest_calls_respond(struct guest_calls *calls, const struct request_scope *scope);
void guest_calls_progress(struct guest_calls *calls, const struct request_scope *scope);
