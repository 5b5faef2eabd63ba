/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "loop/loop.h"
#include "util/buffer.h"

struct runner;
struct runner_worker;

/* A call's place in the schedule of its runner; embedded in what it belongs to. */
struct runner_call {
	struct runner_call *next;
	struct runner *runner;
	struct runner_worker *worker; /* that runs it, or NULL: it waits */
	bool is_ahead;           /* it waits, and the host has it already: runner/runner_ahead.c */
	uint64_t id;             /* chosen by the owner, unique while it is in flight */
	uint32_t tool;           /* index in the toolbox */
	uint64_t left_ms;        /* of its time, while the clock stands */
	struct loop_timer clock; /* the deadline, while the clock runs */
	struct buffer arguments; /* JSON text, while it waits */
	struct buffer caller;    /* JSON text, of kinds that ask who calls; the owner's to set */
	uint64_t submitted_ns;
};

/*
 * Calls that wait, first come first served. Their clocks run while they wait, unless what they wait
 * for is not counted (a host that starts): then all of them stand.
 */
struct queue {
	struct runner_call *first;
	struct runner_call **last_link;
	uint32_t n_calls;
	bool clocks_stand;
};

void queue_init(struct queue *queue);

/* Put @call, with left_ms to go, behind the last. */
void queue_push(struct queue *queue, struct runner_call *call);

/* Take @call, which is in it, out; its clock runs. */
void queue_remove(struct queue *queue, struct runner_call *call);

/* What is left of the time of @call, which may wait, or be about to run. */
uint64_t queue_left_ms(const struct runner_call *call);

/* From now on the clocks of those that wait stand, or run. */
void queue_set_clocks(struct queue *queue, bool stand);
