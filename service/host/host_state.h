/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/moves.h"

/* The states of a host (drawn in host/host.h), and the moves between them. */

enum host_state {
	HOST_STARTING,
	HOST_READY,
	HOST_RUNNING,
	HOST_DISMISSED, /* nothing from the host is read any more */
	HOST_ENDED,
};
#define HOST_N_STATES 5

static const uint8_t host_state_moves[HOST_N_STATES] = {
	[HOST_STARTING] = 1 << HOST_READY | 1 << HOST_ENDED,
	[HOST_READY] = 1 << HOST_RUNNING | 1 << HOST_DISMISSED | 1 << HOST_ENDED,
	[HOST_RUNNING] = 1 << HOST_READY | 1 << HOST_DISMISSED | 1 << HOST_ENDED,
	[HOST_DISMISSED] = 1 << HOST_ENDED,
};
MOVES_DEFINE(host_state)
