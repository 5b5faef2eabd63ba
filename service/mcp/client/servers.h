/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/tape.h"

/*
 * A list of servers as desktop programs keep it, as equivalent manifests:
 *
 *   {"mcpServers": {NAME: {"command", "args", "env", "cwd"} | {"url", "headers"}, …}}
 *
 * Other keys are ignored: a key for running tools without asking in another program gives no right
 * here. A wrong server costs only itself.
 */

/* The most servers of a file. */
#define MCP_SERVERS_MAX 1000

struct mcp_server_entry {
	char *name; /* its key in the file */
	/* the toolbox_id: other characters of the name are `_`; without ASCII it has a digest */
	char *id;
	char *manifest;   /* JSON, of kind mcp; NULL: it is not offered */
	char *reason;     /* a clause, when it is not offered */
	bool is_disabled; /* it is not offered on purpose */
};

/* Zero it before use; free it with mcp_server_entries_deinit(). */
struct mcp_server_entries {
	struct mcp_server_entry *items;
	size_t n_items;
	size_t n_more; /* servers after the first MCP_SERVERS_MAX */
};

/* Return the key that makes the value at the root such a list for another program, or NULL. */
const char *mcp_other_list_key(const struct json_tape *tape);

/* Return whether the value at the root is such a list, well-formed or not. */
bool mcp_is_server_list(const struct json_tape *tape);

/* Read the list at the root. @home: the folder of a server without one. Return 0; -ENOMEM; or
 * -EINVAL: `mcpServers` is no object. */
int mcp_server_entries_read(
	const struct json_tape *tape, const char *home, struct mcp_server_entries *ret_entries);

void mcp_server_entries_deinit(struct mcp_server_entries *entries);
