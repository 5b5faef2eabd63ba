/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/assert.h"

/* The states of a half-made connection (drawn in bus/entry.h), and the moves between them. */

enum entry_state {
	ENTRY_READING,
	ENTRY_REFUSED, /* the response was sent, and the peer should close */
	ENTRY_TAKEN,   /* the handler has the socket */
};
#define ENTRY_N_STATES 3

/* Return @to. Abort unless an entry in the state @from may move there. */
static inline enum entry_state entry_state_move(enum entry_state from, enum entry_state to)
{
	static const uint8_t moves[ENTRY_N_STATES] = {
		[ENTRY_READING] = 1 << ENTRY_REFUSED | 1 << ENTRY_TAKEN,
		[ENTRY_REFUSED] = 0,
		[ENTRY_TAKEN] = 0,
	};

	check(moves[from] & (1u << to));
	return to;
}
