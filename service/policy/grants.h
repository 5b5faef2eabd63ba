/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/toolbox.h"
#include "util/list.h"

/*
 * Session grants: a person has approved a tool for a whole session of one source.
 *
 *   (toolbox_id, name, definition, session_id, source) ─▶ its calls ask no more
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

/* Note that @tool is approved for the session @session of @source: texts of any form that is the same
 * for the same value. Return 0, -ENOMEM, or -EIO when libcrypto fails. */
int grants_add(struct grants *grants, const struct tool *tool, const char *session,
	size_t session_size, const char *source, size_t source_size);

/* Return whether such a grant was added. */
bool grants_have(const struct grants *grants, const struct tool *tool, const char *session,
	size_t session_size, const char *source, size_t source_size);
