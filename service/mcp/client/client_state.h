/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/moves.h"

/* The states of a session with a server (drawn in mcp/client/client.c), and the moves between
 * them. */

enum mcp_client_state {
	MCP_CLIENT_BEGUN,
	MCP_CLIENT_PROBING,       /* server/discover is sent */
	MCP_CLIENT_INITIALIZING,  /* initialize is sent */
	MCP_CLIENT_PROBING_AGAIN, /* server/discover is sent, after a refusal */
	MCP_CLIENT_READY,
	MCP_CLIENT_OVER,
};
#define MCP_CLIENT_N_STATES 6

static const uint8_t mcp_client_state_moves[MCP_CLIENT_N_STATES] = {
	[MCP_CLIENT_BEGUN] =
		1 << MCP_CLIENT_PROBING | 1 << MCP_CLIENT_INITIALIZING | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_PROBING] = 1 << MCP_CLIENT_INITIALIZING | 1 << MCP_CLIENT_PROBING_AGAIN |
			       1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_INITIALIZING] =
		1 << MCP_CLIENT_PROBING_AGAIN | 1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_PROBING_AGAIN] = 1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_READY] = 1 << MCP_CLIENT_INITIALIZING | 1 << MCP_CLIENT_OVER,
};
MOVES_DEFINE(mcp_client_state)
