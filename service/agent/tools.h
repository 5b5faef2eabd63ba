/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/model_names.h"
#include "json/tape.h"
#include "util/buffer.h"

/*
 * The tools of one turn: the answer to `ovos.tools.list` (full), the names by which the model knows
 * them, and the list that a request has.
 *
 *   definitions ─▶ table: model name ─▶ toolbox_id, name, faces
 *               ─▶ [{"type": "function", …}]              up to tools_max
 *               ─▶ search_tools, call_tool, and the few best found for the utterance
 *
 * A description is cut at TOOLS_DESCRIPTION_POINTS; text of tools is never in a system message. A
 * tool that is called search_tools or call_tool is offered as `toolbox__name`.
 */

#define TOOLS_DESCRIPTION_POINTS 1000

/* The tools that are offered beside the pair, and the most that one search finds. */
#define TOOLS_FOUND     8
#define TOOLS_FOUND_MAX 20

#define TOOLS_SEARCH "search_tools"
#define TOOLS_CALL   "call_tool"

struct offered_tool {
	char model_name[MODEL_NAME_BYTES];
	char *toolbox_id;
	char *name;
	char *spoken;           /* its faces, as JSON; NULL: none */
	struct buffer function; /* its definition for the model; freed once it is in a list */
};

/* A zeroed struct has no tools. */
struct tools {
	struct offered_tool *items;
	size_t n_items;
	bool is_lazy;       /* the model gets the pair */
	struct buffer json; /* the value of `tools`, without brackets; empty: none */
};

/* Read the tools of the response at the root of @response. 0 or -ENOMEM. */
int tools_read(struct tools *tools, const struct json_tape *response);

/* Make the list for the model: of all tools, or, with more than @tools_max, of the pair and the
 * tools of @found, the response to a search; NULL: none. 0 or -ENOMEM. */
int tools_offer(struct tools *tools, size_t tools_max, const struct json_tape *found);

/* Return whether there are more than @tools_max tools: a search is worth it. */
static inline bool tools_are_many(const struct tools *tools, size_t tools_max)
{
	return tools->n_items > tools_max;
}

/* Return the tool that the model calls @name, of @size bytes; NULL: there is no such tool. */
const struct offered_tool *tools_find(const struct tools *tools, const char *name, size_t size);

/* Append the result of search_tools for the model: the tools of @found, a response to a search. */
void tools_write_found(
	const struct tools *tools, const struct json_tape *found, struct buffer *out);

void tools_deinit(struct tools *tools);
