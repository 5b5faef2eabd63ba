/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/listing_state.h"

#include "moves.h"

/* The moves of a listing: every arrow of the drawing in ctl/mcp/listing_state.h. */

static const struct move legal[] = {
	{LISTING_DONE, LISTING_FULL},
	{LISTING_FULL, LISTING_MCP},
	{LISTING_FULL, LISTING_DONE},
	{LISTING_MCP, LISTING_DONE},
};

TEST_MOVES(listing_state, listing_state_move, LISTING_N_STATES, legal)
