/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/assert.h"

/* The states of a connection (drawn in http/connection.h), and the moves between them. */

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

/* Return @to. Abort unless a connection in the state @from may move there. */
static inline enum connection_state connection_state_move(
	enum connection_state from, enum connection_state to)
{
	static const uint8_t moves[CONNECTION_N_STATES] = {
		[CONNECTION_IDLE] =
			1 << CONNECTION_READING | 1 << CONNECTION_WAITING | 1 << CONNECTION_DOOMED,
		[CONNECTION_READING] = 1 << CONNECTION_WAITING | 1 << CONNECTION_DOOMED,
		[CONNECTION_WAITING] = 1 << CONNECTION_WRITING | 1 << CONNECTION_STREAMING |
				       1 << CONNECTION_DOOMED,
		[CONNECTION_WRITING] =
			1 << CONNECTION_IDLE | 1 << CONNECTION_LINGERING | 1 << CONNECTION_DOOMED,
		[CONNECTION_STREAMING] =
			1 << CONNECTION_IDLE | 1 << CONNECTION_LINGERING | 1 << CONNECTION_DOOMED,
		[CONNECTION_LINGERING] = 1 << CONNECTION_DOOMED,
		[CONNECTION_DOOMED] = 0,
	};

	check(moves[from] & (1u << to));
	return to;
}
