/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/assert.h"

/*
 * The reading of the list of tools by toolboxctl mcp, in two formats one after the other.
 *
 *              begun           the first response           the second response
 *      DONE ──────────▶ FULL ──────────────────────▶ MCP ──────────────────────▶ DONE
 *       ▲                │                            │
 *       └── no memory ───┴────── the connection was lost ──┘
 */

enum listing_state {
	LISTING_DONE,
	LISTING_FULL, /* the response in the format full is waited for */
	LISTING_MCP,
};
#define LISTING_N_STATES 3

/* Return @to. Abort unless a listing in the state @from may move there. */
static inline enum listing_state listing_state_move(enum listing_state from, enum listing_state to)
{
	static const uint8_t moves[LISTING_N_STATES] = {
		[LISTING_DONE] = 1 << LISTING_FULL,
		[LISTING_FULL] = 1 << LISTING_MCP | 1 << LISTING_DONE,
		[LISTING_MCP] = 1 << LISTING_DONE,
	};

	check(moves[from] & (1u << to));
	return to;
}
