/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/moves.h"

/* The states of a half-made connection (drawn in bus/entry.h), and the moves between them. */

enum entry_state {
	ENTRY_READING,
	ENTRY_REFUSED, /* the response was sent, and the peer should close */
	ENTRY_TAKEN,   /* the handler has the socket */
};
#define ENTRY_N_STATES 3

static const uint8_t entry_state_moves[ENTRY_N_STATES] = {
	[ENTRY_READING] = 1 << ENTRY_REFUSED | 1 << ENTRY_TAKEN,
};
MOVES_DEFINE(entry_state)
