/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/moves.h"

/* The states of a connection (drawn in http/connection/connection.h), and the moves between
 * them. */

enum connection_state {
	CONNECTION_IDLE,
	CONNECTION_READING,
	CONNECTION_WAITING,
	CONNECTION_WRITING,
	CONNECTION_STREAMING,
	CONNECTION_LINGERING,
	CONNECTION_DOOMED, /* to be freed in the next turn of the loop */
};
#define CONNECTION_N_STATES 7

static const uint8_t connection_state_moves[CONNECTION_N_STATES] = {
	[CONNECTION_IDLE] =
		1 << CONNECTION_READING | 1 << CONNECTION_WAITING | 1 << CONNECTION_DOOMED,
	[CONNECTION_READING] = 1 << CONNECTION_WAITING | 1 << CONNECTION_DOOMED,
	[CONNECTION_WAITING] =
		1 << CONNECTION_WRITING | 1 << CONNECTION_STREAMING | 1 << CONNECTION_DOOMED,
	[CONNECTION_WRITING] =
		1 << CONNECTION_IDLE | 1 << CONNECTION_LINGERING | 1 << CONNECTION_DOOMED,
	[CONNECTION_STREAMING] =
		1 << CONNECTION_IDLE | 1 << CONNECTION_LINGERING | 1 << CONNECTION_DOOMED,
	[CONNECTION_LINGERING] = 1 << CONNECTION_DOOMED,
};
MOVES_DEFINE(connection_state)
