/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/worker.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>

/* The moves between the states of a worker: every arrow of the drawing in runner/worker.h. */

struct move {
	enum worker_state from;
	enum worker_state to;
};

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
#define N_LEGAL   (sizeof(legal) / sizeof(*legal))
#define N_ILLEGAL ((size_t)WORKER_N_STATES * WORKER_N_STATES - N_LEGAL)

static bool is_legal(enum worker_state from, enum worker_state to)
{
	for (size_t i = 0; i < N_LEGAL; i++)
		if (legal[i].from == from && legal[i].to == to)
			return true;
	return false;
}

Test(worker, makes_every_move_of_the_drawing)
{
	for (size_t i = 0; i < N_LEGAL; i++)
		cr_expect_eq(worker_state_move(legal[i].from, legal[i].to), legal[i].to);
}

ParameterizedTestParameters(worker, aborts_at_any_other_move)
{
	static struct move illegal[N_ILLEGAL];
	size_t n = 0;

	for (enum worker_state from = 0; from < WORKER_N_STATES; from++)
		for (enum worker_state to = 0; to < WORKER_N_STATES; to++)
			if (!is_legal(from, to))
				illegal[n++] = (struct move){from, to};
	return cr_make_param_array(struct move, illegal, n);
}

ParameterizedTest(struct move *move, worker, aborts_at_any_other_move, .signal = SIGABRT)
{
	worker_state_move(move->from, move->to);
	cr_log_error("%d to %d was allowed", move->from, move->to);
}
