/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/entry_state.h"

#include "moves.h"

/* The moves of a half-made connection: every arrow of the drawing in bus/entry.h. */

static const struct move legal[] = {
	{ENTRY_READING, ENTRY_REFUSED},
	{ENTRY_READING, ENTRY_TAKEN},
};

TEST_MOVES(entry_state, entry_state_move, ENTRY_N_STATES, legal)
