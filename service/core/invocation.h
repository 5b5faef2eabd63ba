/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/*
 * A call, from its request to its one response.
 *
 *   received ─ fields ─ name ─ tool ─ arguments ─ cooldown ─ approval ─ queue ─▶ runner
 *       │                                                                          │
 *       │ any check fails                              result, failure, timeout, … │
 *       ▼                                                                          ▼
 *   error response ◀────────────────────────────────────── output schema ─ size ─ response
 *
 * The response is begun when the request is read (its context, name and call_id stand in it from
 * then on), so that nothing of the request has to be kept.
 */

/* The members of the response (contract.md, Requests). */
enum invocation_style {
	INVOCATION_TOOLS,   /* ovos.tools.invoke: {name, result} */
	INVOCATION_PERSONA, /* ovos.persona.tools.call: {toolbox_id, result} */
};

/* Invoke what the request in service->envelope asks for. */
void invocation_begin(struct service *service);

/* The same by the persona topics; silence when the toolbox is not ours. @toolbox_id of the topic,
 * or NULL: of the data. */
void invocation_begin_persona(struct service *service, const struct request_text *toolbox_id);

/* Answer ovos.tools.cancel: end every call in flight that has the request's call_id and came from
 * the same context.source. Each of them answers with `cancelled`. */
void invocation_cancel(struct service *service);

/* Answer ovos.tools.validate: everything but the running. */
void invocation_validate(struct service *service);

/* The runner's word that a call is over (struct runner_handler). */
void invocation_done(void *data, struct runner_call *call, const struct call_result *ending);

/* A call tells how far it is. */
void invocation_progressed(void *data, struct runner_call *call, const struct json_tape *progress);

/* Free the spare ones, and those in flight without an answer. */
void invocation_free_all(struct service *service);
