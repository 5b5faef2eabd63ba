/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/text/text_view.h"

/*
 * The tools that a client of MCP sees, and the way back from its names, which is a table:
 *
 *   add                      of the only toolbox that is served
 *   math_tools__add          of several; in the forms of catalogue/model_names.h
 *   add                      in a call also then, if only one of them has it
 */
struct mcp_tools {
	struct mcp_tool {
		char *toolbox_id;
		char *name;   /* in its toolbox */
		char *listed; /* its name for the client */
		bool has_content;
	} * items;
	struct text_view *texts; /* each a Tool of MCP, one line; owned */
	size_t n_items;
	struct mcp_tool **by_listed; /* ordered by `listed` */
	struct mcp_tool **by_name;   /* ordered by `name` */
	uint64_t digest;             /* two lists that differ have another one */
};

/*
 * Make the list from @tape, a response to ovos.tools.list in the format mcp. Only the @n_ids
 * toolboxes @ids are taken; 0: all. Return 0 with @ret_tools, which the caller deinits; -ENOMEM; or
 * -EPROTO when it has no list.
 */
int mcp_tools_make(const struct json_tape *tape, const char *const *ids, size_t n_ids,
	struct mcp_tools *ret_tools);

/* Return the tool that the string at @name of @tape means, or NULL. */
const struct mcp_tool *mcp_tools_find(
	const struct mcp_tools *tools, const struct json_tape *tape, uint32_t name);

/* Free the list, which may be zeroed. */
void mcp_tools_deinit(struct mcp_tools *tools);
