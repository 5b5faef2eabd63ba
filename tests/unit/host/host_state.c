/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host_state.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The moves between the states of a host: every arrow of the drawing in host/host.h. */

struct move {
	enum host_state from;
	enum host_state to;
};

static const struct move legal[] = {
	{HOST_STARTING, HOST_READY},
	{HOST_STARTING, HOST_ENDED},
	{HOST_READY, HOST_RUNNING},
	{HOST_READY, HOST_DISMISSED},
	{HOST_READY, HOST_ENDED},
	{HOST_RUNNING, HOST_READY},
	{HOST_RUNNING, HOST_DISMISSED},
	{HOST_RUNNING, HOST_ENDED},
	{HOST_DISMISSED, HOST_ENDED},
};
#define N_LEGAL   (sizeof(legal) / sizeof(*legal))
#define N_ILLEGAL ((size_t)HOST_N_STATES * HOST_N_STATES - N_LEGAL)

static bool is_legal(enum host_state from, enum host_state to)
{
	for (size_t i = 0; i < N_LEGAL; i++)
		if (legal[i].from == from && legal[i].to == to)
			return true;
	return false;
}

Test(host_state, makes_every_move_of_the_drawing)
{
	for (size_t i = 0; i < N_LEGAL; i++)
		cr_expect_eq(host_state_move(legal[i].from, legal[i].to), legal[i].to);
}

ParameterizedTestParameters(host_state, aborts_at_any_other_move)
{
	static struct move illegal[N_ILLEGAL];
	size_t n = 0;

	for (enum host_state from = 0; from < HOST_N_STATES; from++)
		for (enum host_state to = 0; to < HOST_N_STATES; to++)
			if (!is_legal(from, to))
				illegal[n++] = (struct move){from, to};
	return cr_make_param_array(struct move, illegal, n);
}

ParameterizedTest(struct move *move, host_state, aborts_at_any_other_move, .signal = SIGABRT)
{
	host_state_move(move->from, move->to);
	cr_log_error("%d to %d was allowed", move->from, move->to);
}
