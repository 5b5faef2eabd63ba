/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/moves.h"

/*
 * The states of a session. MCP_ACT_READY follows the move to READY; MCP_ACT_OVER precedes the move
 * to OVER.
 *
 *   BEGUN ──▶ PROBING ── a result of server/discover ─────────────▶ READY
 *     │         │  └─ refused, with a modern version named ──┐
 *     │         │ an error, or silence                       ▼
 *     ├─────────│──── it has ended on initialize ────▶ PROBING_AGAIN ── a result ──▶ READY
 *     │         ▼                                            ▲
 *     └──▶ INITIALIZING                                      │
 *           ▲   │  └─ refused, after such a silence ─────────┘
 *           │   └─ a result of initialize, or a late one of server/discover ──▶ READY
 *           └─ the server has forgotten the session ── READY
 *
 *   each state ── refused, the time is over, or mcp_client_end() ──▶ OVER
 */

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
	[MCP_CLIENT_BEGUN] = 1 << MCP_CLIENT_PROBING | 1 << MCP_CLIENT_INITIALIZING |
			     1 << MCP_CLIENT_PROBING_AGAIN | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_PROBING] = 1 << MCP_CLIENT_INITIALIZING | 1 << MCP_CLIENT_PROBING_AGAIN |
			       1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_INITIALIZING] =
		1 << MCP_CLIENT_PROBING_AGAIN | 1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_PROBING_AGAIN] = 1 << MCP_CLIENT_READY | 1 << MCP_CLIENT_OVER,
	[MCP_CLIENT_READY] = 1 << MCP_CLIENT_INITIALIZING | 1 << MCP_CLIENT_OVER,
};
MOVES_DEFINE(mcp_client_state)
