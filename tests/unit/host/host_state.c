/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host_state.h"

#include "moves.h"

/* The moves between the states of a host: every arrow of the drawing in host/host.h. */

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

TEST_MOVES(host_state, host_state_move, HOST_N_STATES, legal)
