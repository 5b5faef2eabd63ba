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
 *   the address of the answer ──┘      ├─ its request waits ────────────▶ waiting_cancel
 *                                      └─ all of a batch, those to come, too
 *
 * Each way answers with `cancelled`, as for any other end.
 */

/* Serve ovos.tools.cancel: end the call in flight with the request's id, if the caller sees its
 * tool; or every call or batch with the request's call_id from the same context.source. */
void cancel_serve(
	const struct invoker *invoker, const struct request_scope *scope, struct answer *answer);

/* Serve ovos.tools.job.cancel. */
void cancel_serve_job(
	const struct invoker *invoker, const struct request_scope *scope, struct answer *answer);

/* Cancel the calls with answers to @address, and the requests waiting for it. */
void cancel_address(const struct invoker *invoker, const struct address *address);
