/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a server is still alive, when calls reach their deadlines. A slow server is not a dead
 * one: it counts as dead when MCP_SILENT_CALLS calls in a row have reached their deadlines without
 * any message of it, and a ping, sent at the first of these deadlines, had no response for
 * MCP_PING_MS.
 */
#define MCP_SILENT_CALLS 3
#define MCP_PING_MS      10000

struct mcp_silence {
	uint64_t n_messages;  /* messages sent by the server */
	unsigned int n_calls; /* calls late since the last message */
	uint64_t ping_id;     /* 0: none is in flight */
	uint64_t ping_due_ms; /* since when an unanswered ping counts */
	bool has_pinged;      /* since the last message */
};

/* Note a message of the server. */
static inline void mcp_silence_end(struct mcp_silence *silence)
{
	silence->n_messages++;
	silence->n_calls = 0;
	silence->has_pinged = false;
}

/* Note a late call, begun when the server had sent @n_messages. Return whether to send a ping. */
static inline bool mcp_silence_note(struct mcp_silence *silence, uint64_t n_messages)
{
	if (n_messages != silence->n_messages)
		return false;
	silence->n_calls++;
	return !silence->has_pinged;
}

/* Note the ping @id, sent now. */
static inline void mcp_silence_ping(struct mcp_silence *silence, uint64_t id, uint64_t now_ms)
{
	silence->ping_id = id;
	silence->ping_due_ms = now_ms + MCP_PING_MS;
	silence->has_pinged = true;
}

/* Return the moment at which the server counts as dead, unless it sends something; UINT64_MAX: it
 * does not. */
static inline uint64_t mcp_silence_due_ms(const struct mcp_silence *silence)
{
	return silence->has_pinged && silence->n_calls >= MCP_SILENT_CALLS ? silence->ping_due_ms
									   : UINT64_MAX;
}
