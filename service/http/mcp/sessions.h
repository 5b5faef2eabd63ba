/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "policy/hex.h"
#include "util/list.h"

/*
 * The sessions of the legacy era of MCP (2025-11-25, Transports, Session Management): `initialize`
 * makes one, and every later request names it.
 *
 * One that is not used for an hour expires, unless it has a stream open: its client waits for
 * notifications. One holder (http_identity.holder) may have half of what the others leave of
 * MCP_SESSIONS_MAX. Beyond this share, or at the total limit, the session used longest ago gives
 * way, a session with a stream only if all have streams: its client gets 404, and makes another.
 */
#define MCP_SESSIONS_MAX    256
#define MCP_SESSION_IDLE_MS 3600000

/* Room for the source of a caller; a longer one is compared as far. */
#define MCP_SOURCE_BYTES 64

struct mcp_session {
	struct list link;
	char id[HEX_ID_CHARS + 1];     /* random: unguessable, and known only to the client */
	char name[HEX_ID_CHARS + 1];   /* random; the session_id of its calls, which others see */
	char source[MCP_SOURCE_BYTES]; /* the caller that began it */
	char holder[MCP_SOURCE_BYTES];
	uint64_t used_ms;
	unsigned int n_streams; /* that are open */
};

struct mcp_sessions {
	struct list list; /* the session used longest ago comes first */
	size_t n;
};

void mcp_sessions_init(struct mcp_sessions *sessions);
void mcp_sessions_deinit(struct mcp_sessions *sessions);

/* Make a session of @source, which is @holder's, at @now_ms; NULL without memory or random
 * bytes. */
struct mcp_session *mcp_sessions_add(
	struct mcp_sessions *sessions, const char *source, const char *holder, uint64_t now_ms);

/* Return the session @id of @source, which is used at @now_ms; NULL: there is none. */
struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *sessions, const char *id, const char *source, uint64_t now_ms);

/* Note that a stream of @session opens; and that a stream of the session called @name ends at
 * @now_ms, if the session still exists. */
void mcp_sessions_open_stream(struct mcp_session *session);
void mcp_sessions_end_stream(struct mcp_sessions *sessions, const char *name, uint64_t now_ms);

/* End @session. */
void mcp_sessions_drop(struct mcp_sessions *sessions, struct mcp_session *session);
