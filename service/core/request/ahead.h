/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "catalogue/tool_schemas.h"
#include "core/request/answer.h"
#include "core/request/held.h"
#include "core/request/request_scope.h"
#include "loop/aside.h"

/*
 * Requests that may take long: they are read, and their arguments are checked, beside the loop
 * (loop/aside.h), so no other request waits for this work.
 *
 *   request ─▶ has many values, or checks for       ─▶ ahead_hold ─▶ oldest first, one at a time
 *              its tool have taken long before                               │ owes by now? busy
 *                                                                            ▼
 *   loop       served again, with what was found ◀───────┐          copy of its message
 *   thread                                               └── read ─ check ◀──┘
 *
 * A request is kept as the received text, and everything else about it is looked at again. The
 * arguments were checked for one tool: if the name means another tool by then, or the time is over
 * (AHEAD_MS), the loop reads and checks the request after all. Shorter and later requests may be
 * answered sooner.
 */

/* The longest wait of a request, and the most waiting requests. */
#define AHEAD_MS  10000
#define AHEAD_MAX 256

/* The time after which the sender may try again when there are more. */
#define AHEAD_FULL_NS (UINT64_C(1000) * 1000 * 1000)

/* One request, as a thread has it. */
struct ahead_work {
	struct inbox_frame *frame; /* counted reference; NULL: there is no work */
	struct held_check check;   /* with a counted reference to its package */
	struct bus_envelope envelope;
	struct arguments arguments;
	struct schema_context *context;
	struct arguments_limits limits;
	uint64_t reading_ns; /* the thread's time */
	int reading;         /* result of request_text_read() */
	int checking;        /* result of arguments_check() */
	bool is_checked;
	bool is_done;
};

struct ahead {
	struct loop *loop; /* borrowed, as all pointers up to the requests */
	const struct config *config;
	struct bus *bus;
	struct limit_hold *hold; /* the hold of the request being served */
	struct held_requests requests;
	struct ahead_work work;
	struct aside *aside; /* it is running */
};

/* Make @ahead empty. @config has the limits; bus and hold are set later. @function is called with
 * @data for each request after its wait. 0 or -ENOMEM. */
int ahead_init(struct ahead *ahead, struct loop *loop, const struct config *config,
	held_function function, void *data);

/* Forget all requests, without an answer. Takes a zeroed struct. */
void ahead_deinit(struct ahead *ahead);

/* Hold the request in @scope, whose topic reads @fields, until it is read, and checked for @tool
 * (NULL: only read). @is_counted: it has passed the limits of its caller. Return false when there
 * is no room for it: none waits while more than half of limits.peer_bytes is used. */
bool ahead_hold(struct ahead *ahead, const struct request_scope *scope, unsigned int fields,
	const struct tool *tool, bool is_counted);

/* Move what was found out about @held into @scope; *ret_reading is the result of
 * request_text_read(). Return false when it is nothing. */
bool ahead_take(struct ahead *ahead, const struct held *held, struct request_scope *scope,
	int *ret_reading);

/* As ahead_admit(), for a tool with long checks before. */
bool ahead_admit_costly(struct ahead *ahead, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer);

/* Return whether the arguments in @scope may be checked for @tool now, or were. Else the error is
 * in @answer, or @answer is given up, and the request is held until they are checked. */
static inline bool ahead_admit(struct ahead *ahead, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer)
{
	return !tool->schemas->arguments.was_costly || scope->checked == tool ||
	       ahead_admit_costly(ahead, tool, scope, answer);
}
