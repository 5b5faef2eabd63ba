/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "catalogue/toolbox.h"
#include "schema/schema.h"
#include "util/list.h"

/*
 * The schemas of a tool. A compiled schema takes ten times the memory of its text, and most tools
 * of a large catalogue are never called:
 *
 *   manifest ─▶ compiled: its mistakes are found ─▶ at rest: only the text
 *                                                     │    ▲
 *                                          first call │    │ others are called, and over
 *                                                     ▼    │ TOOL_SCHEMAS_BYTES_MAX are awake
 *                                                    compiled
 *
 * A schema slow to compile never rests, so no call waits for it. Only the loop compiles; the thread
 * for manifests puts new schemas to rest, and may be the last to free one. A thread may check with
 * a pinned schema.
 */
struct tool_schema {
	struct schema *compiled; /* NULL: at rest */
	bool asserts_formats;    /* an option of its compilation */
	bool ignores_mistakes;   /* likewise */
	bool ignores_patterns;   /* likewise */
	bool was_costly;         /* a check has taken more than DEBT_FREE_NS (util/debt.h) */
};

struct tool_schemas {
	struct tool_schema arguments; /* compiled from checked_schema, else argument_schema */
	struct tool_schema output;    /* compiled from output_schema */
	atomic_bool was_used;         /* since they were compiled, or looked at for a rest */
	size_t bytes;     /* bytes of both texts, while it is in the list of the awake */
	struct list link; /* in that list */
};

/* The text of all schemas awake after a rest. */
#define TOOL_SCHEMAS_BYTES_MAX ((size_t)2 << 20)

/* Schemas that took more of the thread's time do not rest: a call would hold the loop for as
 * long. */
#define TOOL_SCHEMAS_REST_NS_MAX (UINT64_C(5) * 1000 * 1000)

/* NULL without memory. */
struct tool_schemas *tool_schemas_new(void);

/* Takes NULL. */
void tool_schemas_free(struct tool_schemas *schemas);

/* Free what is compiled, until tool_schemas_wake(). */
void tool_schemas_rest(struct tool_schemas *schemas);

/* Compile the resting schemas of @tool. 0 or -ENOMEM. */
int tool_schemas_compile(const struct tool *tool);

/* Have the schemas of @tool compiled until another tool's are asked for. 0 or -ENOMEM. */
static inline int tool_schemas_wake(const struct tool *tool)
{
	atomic_store_explicit(&tool->schemas->was_used, true, memory_order_relaxed);
	return tool->schemas->output.compiled ? 0 : tool_schemas_compile(tool);
}

/* Keep the awake @schemas from resting until tool_schemas_unpin(). They are pinned once at a
 * time. */
void tool_schemas_pin(struct tool_schemas *schemas);

/* Let the pinned @schemas rest again. */
void tool_schemas_unpin(struct tool_schemas *schemas);
