/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/catalogue.h"
#include "config/http.h"
#include "mcp/server/tools.h"
#include "util/list.h"

/*
 * The lists of tools by HTTP: /mcp has the tools of all toolboxes, with names by `http.mcp_names`,
 * /mcp/{toolbox_id} the tools of a single toolbox, with their own names. A list is made once for a
 * view, and some lists are kept.
 */

#define MCP_LISTS_MAX 8

/* The one that was used longest ago comes first. */
struct mcp_lists {
	struct list list;
	size_t n;
};

void mcp_lists_init(struct mcp_lists *lists);
void mcp_lists_deinit(struct mcp_lists *lists);

/* Return the list of the toolbox @toolbox_id (NULL: of all, named as @http has it) in @view, valid
 * until the next call; NULL without memory. The list is lazy if it has more than `lazy_over` tools
 * of @http. */
const struct mcp_tools *mcp_lists_find(struct mcp_lists *lists, const struct catalogue *view,
	const struct config_http *http, const char *toolbox_id);
