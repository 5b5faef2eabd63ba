/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

/*
 * The part of the sessions of MCP that outlives the service: the key of their ids, and the sessions
 * ended by their clients, in the file mcp.sessions of the state folder, which only its owner may
 * read. The key is made once.
 *
 *   file     "toolboxd mcp 1\n" \0 │ key, 32 bytes │ entry │ entry │ …
 *   entry    holder │ start │ tag    one session has ended; numbers in this machine's order
 *            holder │ start │ 0      a cut: all sessions of the holder begun by then have ended
 *
 * An entry counts until the era of its session is over: MCP_ERA_S from its start. When there are
 * MCP_ENDED_MAX entries, the holder with the most of them pays: its two oldest become one cut. So
 * nothing that has ended counts again, and no session of another holder ends by it.
 *
 * One service has the file at a time, by a lock (flock). Without the file, sessions end with the
 * service.
 */
#define MCP_ENDED_FILE        "mcp.sessions"
#define MCP_ENDED_MAX         1024
#define MCP_ERA_S             UINT64_C(604800)
#define MCP_SESSION_KEY_BYTES 32

struct mcp_ended_entry {
	uint64_t holder; /* a keyed hash of its name */
	uint64_t start_s;
	uint64_t tag; /* a part of the id of the session; 0: a cut */
};

struct mcp_ended {
	unsigned char key[MCP_SESSION_KEY_BYTES];
	struct mcp_ended_entry *items;
	size_t n_items;
	int fd;               /* the file; -1: there is none */
	struct log_rate rate; /* for lines about the file */
};

/* Read the file of the folder @folder (NULL: there is none), made if absent. Return 0; -EIO without
 * random bytes; or -ENOMEM. Without a usable file log one line, and make a key for this run. */
int mcp_ended_open(struct mcp_ended *ended, const char *folder);

/* Free the members of @ended. */
void mcp_ended_close(struct mcp_ended *ended);

/* Return whether the era of a session that has begun at @start_s is over at @now_s, both in seconds
 * since 1970. A clock that was set back ends no era. */
bool mcp_era_is_over(uint64_t start_s, uint64_t now_s);

/* Return whether the session @entry has ended. */
bool mcp_ended_has(const struct mcp_ended *ended, const struct mcp_ended_entry *entry);

/* Remember at @now_s that the session @entry has ended. Return 0; -ENOSPC when there are too many
 * holders; or -ENOMEM. A file that cannot be written is logged. */
int mcp_ended_add(struct mcp_ended *ended, const struct mcp_ended_entry *entry, uint64_t now_s);
