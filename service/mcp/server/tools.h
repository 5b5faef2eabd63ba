/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The tools that clients of MCP see, each with its name there:
 *
 *   toolbox__name, or a shorter one with digits of its SHA-256     several toolboxes are served
 *   name                                                           one is, or names are bare, and
 *                                                                  no other tool has this one
 *
 * A name leads back to its tool by this table: it is never split.
 */

/* The texts are borrowed: they live as long as the door keeps the list. */
struct mcp_listed_tool {
	const char *listed; /* its name for clients; first, for text_compare() */
	const char *toolbox_id;
	const char *name;   /* in its toolbox */
	const char *schema; /* its argument schema, for headers that repeat arguments; or NULL */
	bool has_content;   /* its results are rich content */
	bool may_be_task;   /* its calls become tasks where the client knows tasks (mcp/task.h) */
	bool must_be_task;  /* they are nothing else */
	size_t index;       /* in list order; mcp_tools_add() sets it */
};

/* The tools of a lazy list (mcp/server/lazy.h). */
#define MCP_LAZY_TOOLS 3

struct mcp_tools {
	struct mcp_listed_tool *items; /* after mcp_tools_end(): by `listed` */
	struct text_view *texts;       /* each a Tool of MCP, one line, in list order */
	size_t n_items;
	struct buffer text; /* the bytes of all */
	uint64_t id;        /* another list has another one */
	bool is_lazy;       /* clients get the three tools of `lazy` in its place */
	struct text_view lazy[MCP_LAZY_TOOLS];
	struct buffer lazy_text; /* the bytes of these */
};

/* Make room in @tools, zeroed, for @n_most tools. Return 0 or -ENOMEM. */
int mcp_tools_begin(struct mcp_tools *tools, size_t n_most);

/* Add @tool, whose text is what was appended to `text` since the last one. */
void mcp_tools_add(struct mcp_tools *tools, const struct mcp_listed_tool *tool);

/* Complete the list. Return 0, or -ENOMEM when an append has failed. */
int mcp_tools_end(struct mcp_tools *tools);

/* Return the tool that the client calls by the string at @name of @tape, or NULL. */
const struct mcp_listed_tool *mcp_tools_find(
	const struct mcp_tools *tools, const struct json_tape *tape, uint32_t name);

/* Free the members of @tools, which may be zeroed. */
void mcp_tools_deinit(struct mcp_tools *tools);
