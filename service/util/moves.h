/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/assert.h"

/*
 * The moves between the states of a machine, as a table that refuses all others:
 *
 *	static const uint8_t door_state_moves[DOOR_N_STATES] = {
 *		[DOOR_OPEN] = 1 << DOOR_SHUT,
 *		[DOOR_SHUT] = 1 << DOOR_OPEN | 1 << DOOR_LOCKED,
 *	};
 *	MOVES_DEFINE(door_state)
 *
 * A state without an entry is the last one; there are at most eight.
 */

/* Define @name_move(from, to) for `enum @name`: return @to, or abort unless @name_moves has the
 * move. The function in which a machine changes its state calls it. */
#define MOVES_DEFINE(name)                                                                         \
	static inline enum name name##_move(enum name from, enum name to)                          \
	{                                                                                          \
		check(name##_moves[from] & (1u << to));                                            \
		return to;                                                                         \
	}
