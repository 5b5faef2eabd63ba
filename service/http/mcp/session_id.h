/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "http/identity.h"
#include "http/mcp/ended.h"
#include "policy/hex.h"

/*
 * The id of a session of MCP: visible ASCII, unguessable (2025-11-25, Transports, Session
 * Management), and enough to know the session again after a restart.
 *
 *   START, 16 digits │ NONCE, 16 digits │ PROOF, 32 digits            hexadecimal
 *
 *   HMAC-SHA256(key, "session" \n SOURCE \n TOKEN \n START NONCE)
 *     └─ first half: PROOF       second half: the name of the session, which others see
 *
 * START is a time in seconds since 1970, TOKEN the digest of the caller's token. So an id is of use
 * to its caller alone, and to no caller when the token is gone.
 */
#define MCP_SESSION_ID_CHARS 64

struct mcp_session_id {
	char text[MCP_SESSION_ID_CHARS + 1];
	char name[HEX_ID_CHARS + 1];
	struct mcp_ended_entry entry; /* if it ends */
};

/* Write a new id for the caller @identity, at @now_s seconds since 1970. Return 0, or -EIO without
 * random bytes. */
int mcp_session_id_make(const unsigned char key[MCP_SESSION_KEY_BYTES],
	const struct http_identity *identity, uint64_t now_s, struct mcp_session_id *ret_id);

/* Read @text, an id that the caller @identity shows. Return whether it was made with @key, for this
 * caller. */
bool mcp_session_id_read(const unsigned char key[MCP_SESSION_KEY_BYTES],
	const struct http_identity *identity, const char *text, struct mcp_session_id *ret_id);
