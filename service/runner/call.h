/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/list.h"

/*
 * A call and its result, as a runner and its workers see them.
 *
 *   waiting ──▶ running ──▶ done     exactly once, whatever happens
 */

struct runner;
struct worker;

/* One call; embedded in its owner's record. */
struct runner_call {
	struct list link;         /* in the queue, while the call waits */
	struct runner *runner;    /* set by runner_submit() */
	struct worker *worker;    /* the worker with the call, or NULL */
	struct list running_link; /* among the runner's calls, while an executor runs it */
	void *execution;          /* the executor's own record, while it runs the call */
	bool is_taken;            /* from runner_submit() to the owner's done() */
	bool is_ahead;            /* the call waits, and the worker has it already */
	uint64_t id;         /* chosen by the owner, not 0, unique while the call is in flight */
	uint32_t tool;       /* index in the package */
	bool is_check;       /* only ask whether the tool takes the arguments: nothing cools down */
	uint64_t left_ms;    /* the rest of its time, while the clock does not run */
	uint64_t most_ms;    /* its progress begins the deadline anew, up to this time since it was
				  submitted; 0: it does not. Set by the owner */
	uint64_t timeout_ms; /* the deadline, begun anew by progress */
	struct loop_timer clock; /* the deadline, while the clock runs */
	struct buffer arguments; /* JSON text, while the call waits */
	struct buffer caller;    /* JSON text, for kinds that ask for the caller; set by the
	                          * owner */
	uint64_t submitted_ns;
};

enum call_outcome {
	CALL_RESULT, /* text and tape: the JSON result */
	CALL_FAILED, /* text: the message of the tool, UTF-8 */
	CALL_ERROR,  /* text and tape: the failure with its facts, as WIRE_ERROR has them */
	/* the deadline passed, waiting or running; text: a fault of the toolbox meanwhile, or
	 * NULL */
	CALL_TIMED_OUT,
	CALL_CANCELLED,   /* by runner_cancel() */
	CALL_CRASHED,     /* exit: how the worker ended */
	CALL_TOO_LARGE,   /* exit: the size of the answer, and the limit */
	CALL_COOLING,     /* the tool was on cooldown when its turn came; it has not run */
	CALL_UNAVAILABLE, /* text: the reason */
	CALL_DENIED,      /* text: the reason; it has not run */
};

struct call_result {
	enum call_outcome outcome;
	const char *text; /* valid during the callback only */
	size_t size;
	const struct json_tape *tape;
	uint64_t reading_ns; /* CALL_RESULT: as in struct host_answer */
	const char *refused; /* CALL_FAILED, CALL_ERROR: as in struct host_answer, or NULL */
	const struct host_exit *exit;
	uint64_t
		timeout_ms; /* CALL_TIMED_OUT: the time that is over; 0: the deadline of the call */
};

/* Return how much of the time of @call is left, in ms; 0 after its deadline. */
static inline uint64_t runner_call_left_ms(const struct runner_call *call)
{
	uint64_t now_ns;

	if (!loop_timer_is_armed(&call->clock))
		return call->left_ms;
	now_ns = clock_now_ns();
	return call->clock.due_ns > now_ns ? (call->clock.due_ns - now_ns) / 1000000 : 0;
}
