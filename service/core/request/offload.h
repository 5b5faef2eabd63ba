/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/tool_schemas.h"
#include "core/request/answer.h"
#include "core/request/waiting.h"
#include "core/request/request_scope.h"
#include "loop/aside.h"

/*
 * The thread beside the loop (loop/aside.h) that reads and checks long requests, so that no other
 * request waits for this work.
 *
 *   request ─▶ has many values, or checks for  ─▶ offload_begin ─▶ waiting room (WAITING_CHECK)
 *              its tool have taken long before                       │ the oldest, unless its
 *                                                                    │ sender owes
 *   loop       served again, with the findings ◀────┐                ▼
 *   thread                                          └── read ─ check ─ one at a time
 *
 * The arguments are checked for one tool. If the name means another tool by then, or the time of
 * the request is over, the loop reads and checks the request after all. Shorter requests that come
 * later may be answered sooner.
 */

/* The request that the thread has. */
struct offload_work {
	struct waiting_request *request; /* counted reference; NULL: there is no work */
	struct waiting_check check;      /* with a counted reference to its package */
	struct bus_envelope envelope;
	struct arguments arguments;
	struct schema_context *context;
	struct arguments_limits limits;
	size_t counted_bytes; /* tokens counted by bus_begin_reading() */
	uint64_t reading_ns;  /* the thread's time */
	int reading;          /* result of request_text_read() */
	int checking;         /* result of arguments_check() */
	bool is_checked;
	bool is_done;
};

struct offload {
	struct loop *loop; /* borrowed, as config and room */
	const struct config *config;
	struct waiting_room *room;
	struct offload_work work;
	struct aside *aside; /* it is running */
};

/* Make @offload ready. @config has the limits. Return 0 or -ENOMEM. */
int offload_init(struct offload *offload, struct loop *loop, const struct config *config,
	struct waiting_room *room);

/* Wait for the thread, and free what @offload has. Takes a zeroed struct. */
void offload_deinit(struct offload *offload);

/* Let the request in @scope wait until it is read, and checked for @tool (NULL: only read).
 * @is_counted: it has passed the limits of its caller. Return false when there is no room for it:
 * none waits while more than half of limits.peer_bytes is used. */
bool offload_begin(struct offload *offload, const struct request_scope *scope,
	const struct tool *tool, bool is_counted);

/* Move the findings about the request that is served again into @scope; *ret_reading is the result
 * of request_text_read(). Return false when there are no findings. */
bool offload_take(struct offload *offload, struct request_scope *scope, int *ret_reading);

/* As offload_admit(), for a tool whose checks have taken long. */
bool offload_admit_costly(struct offload *offload, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer);

/* Return whether the arguments in @scope may be checked for @tool now, or were. Else the error is
 * in @answer, or @answer is given up, and the request waits until they are checked. */
static inline bool offload_admit(struct offload *offload, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer)
{
	return !tool->schemas->arguments.was_costly || scope->checked == tool ||
	       offload_admit_costly(offload, tool, scope, answer);
}
