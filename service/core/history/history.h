/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/call/calls.h"
#include "core/history/call_log.h"
#include "core/history/call_summary.h"
#include "core/request/trace.h"
#include "core/request/waiting.h"
#include "core/request/request_scope.h"
#include "util/log.h"

/*
 * The history: the last HISTORY_CALLS ended calls, each as a summary in a ring.
 *
 *   a call ends, or is refused ─▶ history_add ─┬─▶ ring ─▶ ovos.tools.calls, with calls in flight
 *                                              └─▶ a line of the log, if it failed
 *
 * The memory is allocated once and never grows: HISTORY_CALLS summaries. Nothing is formatted
 * before it is asked for.
 */

#define HISTORY_CALLS 1000

/* The logged lines about failed calls with one code in LOG_RATE_INTERVAL_MS. */
#define HISTORY_LINES 20

/* The same with the codes busy and unavailable: the service lacks something, which has its own
 * line. */
#define HISTORY_SHORTAGE_LINES 2

struct history {
	struct call_summary *slots; /* HISTORY_CALLS */
	uint64_t n_added;           /* the last one is in slot (n_added - 1) % HISTORY_CALLS */
	struct log_rate rates[ANSWER_CODES];
	int64_t real_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC: see history_query() */
};

/* Make @history empty. Return 0 or -ENOMEM. */
int history_init(struct history *history);

/* Free the memory of @history, which may be zeroed. */
void history_deinit(struct history *history);

/* Add the ended @call, with the arguments of call_summary_end(), and log it. */
static inline void history_add(struct history *history, const struct call *call,
	uint64_t duration_us, int code, const struct buffer *reason)
{
	struct call_summary *summary = &history->slots[history->n_added++ % HISTORY_CALLS];

	call_summary_describe(call, summary);
	call_summary_end(summary, duration_us, code, reason);
	if (code >= 0 || log_is_on(LOG_LEVEL_DEBUG))
		call_log_write(history->rates, summary, trace_parent(&call->trace));
}

/* Return the call added @index calls before the last; NULL: forgotten, or never added. */
const struct call_summary *history_at(const struct history *history, size_t index);

/* Return whether the caller of @scope sees the call of @summary: a call of a permitted tool; or a
 * call without a tool, from the caller's own source. @sees_all: it may use every tool, and sees all
 * calls. */
bool history_shows(
	const struct request_scope *scope, bool sees_all, const struct call_summary *summary);

/* Serve ovos.tools.calls: list the calls seen by @scope's caller and asked for by the request.
 * Times are shown by the clock of now: one that was set since counts for earlier calls, too. */
void history_query(struct history *history, const struct calls *calls,
	const struct waiting_room *waiting, const struct request_scope *scope, bool sees_all,
	struct answer *answer);
