/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "catalogue/model_names.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/text/text_view.h"

/*
 * The tools of a view as MCP lists them, each with its name there:
 *
 *   /mcp               toolbox__name, or a shorter one with digits of its SHA-256
 *   /mcp/{toolbox_id}  name
 *
 * A name leads back to its tool by this table: it is never split. A list is made once for a view,
 * and some are kept.
 */

#define MCP_LISTS_MAX 8

struct mcp_tool {
	char name[MODEL_NAME_BYTES];
	const struct tool *tool; /* lives as long as the view that the list was made for */
};

struct mcp_list {
	struct list link;
	uint64_t serial;  /* catalogue_serial() of the view */
	char *toolbox_id; /* NULL: the tools of all */
	size_t n_tools;
	struct text_view *texts; /* the definitions, in list order */
	struct mcp_tool *tools;  /* by name */
	struct buffer text;      /* the definitions, without anything between them */
};

/* The one that was used longest ago comes first. */
struct mcp_lists {
	struct list list;
	size_t n;
};

void mcp_lists_init(struct mcp_lists *lists);
void mcp_lists_deinit(struct mcp_lists *lists);

/* Return the list of the toolbox @toolbox_id (NULL: of all) in @view, valid until the next call;
 * NULL without memory. */
const struct mcp_list *mcp_lists_find(
	struct mcp_lists *lists, const struct catalogue *view, const char *toolbox_id);

/* Return the tool that is called @name in @list, or NULL. */
const struct tool *mcp_list_find(const struct mcp_list *list, const char *name);
