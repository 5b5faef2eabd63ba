/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/model_names.h"
#include "json/tape.h"
#include "mcp/server/tools.h"

/* The tools that the service lists in the format mcp, under their names for the client. */
struct listed_tools {
	struct mcp_tools tools;        /* `id`: the digest of their texts */
	struct model_candidate *parts; /* the parts of the names; owned */
	char (*names)[MODEL_NAME_BYTES];
};

/*
 * Make the list from @tape, a response to ovos.tools.list in the format mcp. Only the @n_ids
 * toolboxes @ids are taken; 0: all. @is_bare: a tool has its own name unless another one has the
 * same. Return 0 with @ret_listed, which the caller deinits; -ENOMEM;
 * or -EPROTO when it has no list.
 */
int listed_tools_read(const struct json_tape *tape, const char *const *ids, size_t n_ids,
	bool is_bare, struct listed_tools *ret_listed);

/* Make @listed, read from @tape, lazy (mcp/server/lazy.h). @tape has the toolboxes, too. Return 0,
 * or -ENOMEM with @listed freed. */
int listed_tools_make_lazy(struct listed_tools *listed, const struct json_tape *tape);

/* Return the only tool whose name, in its toolbox or as `toolbox__name`, is the string at @name of
 * @tape; or NULL. */
const struct mcp_listed_tool *listed_tools_find_other(
	const struct listed_tools *listed, const struct json_tape *tape, uint32_t name);

/* Return whether the list has tools of the toolbox @toolbox_id. */
bool listed_tools_have(const struct listed_tools *listed, const char *toolbox_id);

/* Free the list, which may be zeroed. */
void listed_tools_deinit(struct listed_tools *listed);
