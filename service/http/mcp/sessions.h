/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "http/mcp/ended.h"
#include "http/mcp/session_id.h"
#include "util/list.h"

/*
 * The sessions of the legacy era of MCP (2025-11-25, Transports, Session Management): `initialize`
 * makes one, and every later request names it.
 *
 *                      in memory ──── not used for an hour, gives way, the service ends
 *   initialize ───▶ ╱      │                                     │
 *                          │                   named again  ◀────┤
 *                          ▼                                     ▼
 *                   DELETE: unknown                  its era is over: unknown
 *
 * An id proves by itself who began the session, and when (http/mcp/session_id.h): a session that is
 * not in memory is taken in again until its era is over (http/mcp/ended.h), with the same name,
 * without streams. So a client does not notice that the service was started again.
 *
 * One that is not used for an hour leaves memory, unless it has a stream open: its client waits for
 * notifications. One holder (http_identity.holder) may have half of what the others leave of
 * MCP_SESSIONS_MAX. Beyond this share, or at the total limit, the session used longest ago gives
 * way, a session with a stream only if all have streams.
 */
#define MCP_SESSIONS_MAX    256
#define MCP_SESSION_IDLE_MS 3600000

/* Room for the holder of a session; a longer one is compared as far. */
#define MCP_HOLDER_BYTES 64

struct mcp_session {
	struct list link;
	struct mcp_session_id
		id; /* known only to the client; its name is the session_id of calls */
	char holder[MCP_HOLDER_BYTES];
	uint64_t used_ms;
	unsigned int n_streams; /* that are open */
};

struct mcp_sessions {
	struct list list; /* the session used longest ago comes first */
	size_t n;
	struct mcp_ended ended;
};

/* A time by both clocks: without jumps, and of the system, since 1970. */
struct mcp_time {
	uint64_t ms;
	uint64_t s;
};

/* Make @sessions ready, with what the state folder @folder (NULL: there is none) has of earlier
 * ones. Return 0, -EIO without random bytes, or -ENOMEM. */
int mcp_sessions_init(struct mcp_sessions *sessions, const char *folder);
void mcp_sessions_deinit(struct mcp_sessions *sessions);

/* Make a session of @identity. Return 0; -EIO without random bytes; or -ENOMEM. */
int mcp_sessions_add(struct mcp_sessions *sessions, const struct http_identity *identity,
	struct mcp_time now, struct mcp_session **ret_session);

/* Find the session @id of @identity, which is used now. Return 0; -ENOENT: there is none; or
 * -ENOMEM. */
int mcp_sessions_find(struct mcp_sessions *sessions, const char *id,
	const struct http_identity *identity, struct mcp_time now,
	struct mcp_session **ret_session);

/* Note that a stream of @session opens; and that a stream of the session called @name ends at
 * @now_ms, if the session still exists. */
void mcp_sessions_open_stream(struct mcp_session *session);
void mcp_sessions_end_stream(struct mcp_sessions *sessions, const char *name, uint64_t now_ms);

/* End @session for good. Return 0, or as mcp_ended_add() when that cannot be remembered: then the
 * session stays. */
int mcp_sessions_end(
	struct mcp_sessions *sessions, struct mcp_session *session, struct mcp_time now);
