/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "policy/caller.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/text/text_view.h"

/*
 * Session grants: a person has approved a tool for a whole session of one caller.
 *
 *   (toolbox_id, name, definition, session_id, source, grantee) ─▶ its calls ask no more
 *
 * A tool with a `grant_key` has a grant for each value of that argument.
 *
 * Every client can write any session_id and source. The grantee is beyond a caller's writing: its
 * token, or else its connection, whose end is then the end of the grant. On a bus of others nothing
 * is known of a caller.
 *
 * They last until the daemon ends. A tool whose definition changes is another tool: it asks again.
 * At most GRANTS_MAX are kept; the oldest gives way, and its calls ask again.
 */

#define GRANTS_MAX 1024

struct grants {
	struct list list; /* the oldest first */
	size_t n;
};

void grants_init(struct grants *grants);
void grants_deinit(struct grants *grants);

/* Return the grantee of @caller; 0 for an unknown caller. @has_connections: on the bus a caller's
 * account is the account of its connection. */
uint64_t grantee_of(const struct policy_caller *caller, bool has_connections);

/* Append what calls of @tool with @arguments, the JSON text of an object, are granted for: nothing,
 * or the value of its `grant_key`, as canonical JSON. */
void grants_write_scope(
	const struct tool *tool, const struct text_view *arguments, struct buffer *out);

/* Return whether a call of @tool with @arguments only reads: its `asked_key` is absent, null or
 * empty. */
bool grants_need_none(const struct tool *tool, const struct text_view *arguments);

/* Note that calls of @tool with @scope (grants_write_scope()) are approved for the session of
 * @caller, which has a session_id and a source, as @grantee. Return 0 or -ENOMEM. */
int grants_add(struct grants *grants, const struct tool *tool, const struct buffer *scope,
	const struct policy_caller *caller, uint64_t grantee);

/* Return whether such a grant was added. */
bool grants_have(const struct grants *grants, const struct tool *tool, const struct buffer *scope,
	const struct policy_caller *caller, uint64_t grantee);
