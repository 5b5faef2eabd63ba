/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/request/answer.h"
#include "core/call/approval.h"
#include "core/call/calls.h"
#include "core/call/events.h"
#include "offer/outages.h"
#include "core/history/history.h"
#include "core/metrics/metrics.h"
#include "offer/offer.h"
#include "core/request/offload.h"
#include "core/request/waiting.h"
#include "core/request/request_scope.h"

/*
 * A call, from the request to the response.
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

struct batches;
struct jobs;

/* The parts of the service on the way of a call, all borrowed. They outlive every call. */
struct invoker {
	const struct config *config;
	struct bus *bus;
	const struct offer *offer;
	struct calls *calls;
	struct approval *approval;
	const struct events *events;
	const struct recorder *recorder;
	struct waiting_room *waiting;
	struct offload *offload;
	struct history *history;
	struct metrics *metrics;
	struct outages *outages;
	struct batches *batches;                   /* core/call/batch.h */
	struct jobs *jobs;                         /* core/job/job.h */
	const struct conversations *conversations; /* core/voice/conversation.h */
	bool (*begin_job)(struct jobs *jobs, const struct request_scope *scope,
		const struct tool *tool, struct answer *answer); /* jobs_begin() */
	struct schema_context *context;
};

/* Serve a request for a call: submit it to the runner of its tool, with @answer taken over, or
 * write the error of the first failing check to @answer. */
void invocation_begin(struct invoker *invoker, struct request_scope *scope, struct answer *answer);

/* Note the refusal of the request of @scope, for a call, with the error in @answer before a search
 * for its tool. */
void invocation_note_refused(
	struct invoker *invoker, const struct request_scope *scope, const struct answer *answer);

/* Serve ovos.tools.validate: every check of the request and its arguments, without a call. Its tool
 * may be asked, too: then @answer is taken over. */
void invocation_validate(
	struct invoker *invoker, struct request_scope *scope, struct answer *answer);

/* Send the answer of an ended call, and close it (struct runner_handler; @data is not used).
 */
void invocation_done(void *data, struct runner_call *call, const struct call_result *result);

/* Send the progress of a call to its readers, in the call's pace (struct runner_handler; @data is
 * not used). */
void invocation_progressed(void *data, struct runner_call *call, const struct json_tape *progress);

/* Return whether the tool of @call differs now from the tool in the question; and run @call, or
 * answer it, after the end of its question (struct approval_handler; @data is the invoker). */
bool invocation_is_changed(
	void *data, const struct call *call, const struct pending_question *question);
void invocation_decided(void *data, struct call *call, const struct pending_question *question,
	const struct approval_outcome *outcome);
