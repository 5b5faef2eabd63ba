/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/request/ahead.h"
#include "core/request/answer.h"
#include "core/call/approval.h"
#include "core/call/calls.h"
#include "core/call/events.h"
#include "core/request/held.h"
#include "core/request/late.h"
#include "offer/outages.h"
#include "core/history/history.h"
#include "core/metrics/metrics.h"
#include "offer/offer.h"
#include "core/request/request_scope.h"

/*
 * A call, from its request to its one response.
 *
 *   received ─ fields ─ name ─ tool ─ arguments ─ cooldown ─ approval ─ queue ─▶ runner
 *       │                                                                          │
 *       │ any check fails                              result, failure, timeout, … │
 *       ▼                                                                          ▼
 *   error response ◀────────────────────────────────────── output schema ─ size ─ response
 *
 * The response is begun when the request is read (its context, name and call_id are written then),
 * so that the request need not be kept. core/request/topics.c begins it, and sends it unless the
 * call was accepted: then the call takes it over, and invocation_done() sends it.
 */

/* The parts of the service that a call passes through, all borrowed. They outlive every call. */
struct invoker {
	const struct config *config;
	struct bus *bus;
	const struct offer *offer;
	struct calls *calls;
	struct approval *approval;
	const struct events *events;
	const struct recorder *recorder;
	struct held_requests *held;
	struct late *late;
	struct ahead *ahead;
	struct history *history;
	struct metrics *metrics;
	struct outages *outages;
	struct schema_context *context;
};

/* Serve a request for a call: submit it to the runner of its tool, with @answer taken over, or
 * write the error of the first check that fails to @answer. */
void invocation_begin(struct invoker *invoker, struct request_scope *scope, struct answer *answer);

/* Note that the request of @scope, for a call, is refused with the error in @answer before its tool
 * is looked for. */
void invocation_note_refused(
	struct invoker *invoker, const struct request_scope *scope, const struct answer *answer);

/* Serve ovos.tools.validate: every check of the request and its arguments, without a call. Its tool
 * may be asked, too: then @answer is taken over. */
void invocation_validate(
	struct invoker *invoker, struct request_scope *scope, struct answer *answer);

/* Send the answer of a call that is over, and close it (struct runner_handler; @data is not used).
 */
void invocation_done(void *data, struct runner_call *call, const struct call_result *result);

/* Send how far a call is to those who want it, in its pace (struct runner_handler; @data is not
 * used). */
void invocation_progressed(void *data, struct runner_call *call, const struct json_tape *progress);

/* Return whether the tool of @call is another one now than the one that was asked about; and run
 * @call, or answer it, after its question has ended (struct approval_handler; @data is the
 * invoker). */
bool invocation_is_changed(
	void *data, const struct call *call, const struct pending_question *question);
void invocation_decided(void *data, struct call *call, const struct pending_question *question,
	const struct approval_outcome *outcome);
