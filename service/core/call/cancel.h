/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/request/address.h"
#include "core/request/answer.h"
#include "core/call/invocation.h"
#include "core/request/request_scope.h"

/*
 * Cancelling: which calls end on request, wherever they are.
 *
 *   the daemon's id ────────────┐      ┌─ runs, or waits for its turn ─▶ runner_cancel
 *   call_id and context.source ─┼─▶ ───┼─ waits for a person ──────────▶ approval_cancel
 *   the address of the answer ──┘      └─ its request is held ─────────▶ held_cancel
 *
 * Each of them answers with `cancelled`, by the way that it would end anyway.
 */

/* Serve ovos.tools.cancel: end the call in flight with the request's id, if its caller sees its
 * tool; or every one that has its call_id and came from the same context.source. */
void cancel_serve(
	const struct invoker *invoker, const struct request_scope *scope, struct answer *answer);

/* Cancel the calls whose answers go to @address, and the requests that are held for it. */
void cancel_address(const struct invoker *invoker, const struct address *address);
