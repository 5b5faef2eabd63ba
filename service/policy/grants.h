/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "policy/caller.h"
#include "util/list.h"

/*
 * Session grants: a person has approved a tool for a whole session of one caller.
 *
 *   (toolbox_id, name, definition, session_id, source, grantee) ─▶ its calls ask no more
 *
 * Every client can write any session_id and source. The grantee is a thing that a caller cannot
 * write: its token, or else its connection, whose end is then the end of the grant. On a bus of
 * others nothing is known of a caller.
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

/* Return the grantee of @caller; 0: nothing is known of it. @has_connections: on the bus its
 * account is that of its connection. */
uint64_t grantee_of(const struct policy_caller *caller, bool has_connections);

/* Note that @tool is approved for the session of @caller, which has a session_id and a source, as
 * @grantee. Return 0, -ENOMEM, or -EIO when libcrypto fails. */
int grants_add(struct grants *grants, const struct tool *tool, const struct policy_caller *caller,
	uint64_t grantee);

/* Return whether such a grant was added. */
bool grants_have(const struct grants *grants, const struct tool *tool,
	const struct policy_caller *caller, uint64_t grantee);
