/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/worker.h"

#include "moves.h"

/* The moves between the states of a worker: every arrow of the drawing in runner/worker.h. */

static const struct move legal[] = {
	{WORKER_FREE, WORKER_STARTING},
	{WORKER_STARTING, WORKER_IDLE},
	{WORKER_STARTING, WORKER_FREE},
	{WORKER_IDLE, WORKER_RUNNING},
	{WORKER_IDLE, WORKER_SHARED},
	{WORKER_IDLE, WORKER_GONE},
	{WORKER_IDLE, WORKER_FREE},
	{WORKER_RUNNING, WORKER_IDLE},
	{WORKER_RUNNING, WORKER_SHARED},
	{WORKER_RUNNING, WORKER_GONE},
	{WORKER_RUNNING, WORKER_FREE},
	{WORKER_SHARED, WORKER_IDLE},
	{WORKER_SHARED, WORKER_RUNNING},
	{WORKER_SHARED, WORKER_GONE},
	{WORKER_SHARED, WORKER_FREE},
	{WORKER_GONE, WORKER_FREE},
};

TEST_MOVES(worker, worker_state_move, WORKER_N_STATES, legal)
