/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/history.h"
#include "agent/model/reply.h"
#include "agent/tools.h"
#include "json/tape.h"
#include "util/buffer.h"

/*
 * The calls of one answer of a model, from its text to the messages with their results.
 *
 *   reply ─▶ names by the table, arguments read, ids made different
 *            │
 *            ├─ answered at once: broken arguments, one call too many, the third time
 *            ├─ search_tools: a search
 *            └─ all else: an entry of one batch (contract.md, Batches)
 *                         │
 *            results ◀────┘  each result, or the error in its own words, is a tool message
 *
 * Every call of an answer gets exactly one message, else servers refuse the next request.
 */

/* The most calls of one answer that are run; further ones are answered with `busy`. */
#define TURN_CALLS_MAX 32

/* The same call with the same arguments is run so often in one turn. */
#define CALLS_REPEATS 2

enum turn_call_state {
	TURN_CALL_NEW,    /* to be run */
	TURN_CALL_SEARCH, /* a search of tools, not made yet */
	TURN_CALL_ENDED,
};

struct turn_call {
	enum turn_call_state state;
	struct reply_call call;   /* as the model made it; its id is made different */
	struct buffer name;       /* the name for the tool service, or as it came */
	struct buffer toolbox_id; /* empty: unknown */
	struct buffer args;       /* an object as JSON; for a search its query, as text */
	const char *spoken;       /* the faces of the tool, borrowed; or NULL */
	uint64_t digest;          /* digest of its name and arguments */
	struct buffer content;    /* for the model, once it has ended */
	struct buffer result;     /* the result as JSON; empty after a failure */
	struct buffer error;      /* the text of the error */
	bool is_ok;
	bool is_quiet; /* its flag run_llm is false */
};

struct turn_calls {
	struct turn_call *items;
	size_t n_items;
};

/* How often calls were made in one turn. A zeroed struct has none. */
struct call_counts {
	struct call_count {
		uint64_t digest;
		unsigned int n;
	} * items;
	size_t n_items;
};

void call_counts_deinit(struct call_counts *counts);

/* Take the calls out of @reply. @tools outlives @calls. 0 or -ENOMEM. */
int turn_calls_take(struct turn_calls *calls, struct reply *reply, const struct tools *tools,
	const struct call_counts *counts);

/* Let @calls be one call of @tool with the arguments @args. 0 or -ENOMEM. */
int turn_calls_take_one(
	struct turn_calls *calls, const struct offered_tool *tool, const struct buffer *args);

/* Return the next search among the calls, or NULL. */
struct turn_call *turn_calls_next_search(struct turn_calls *calls);

/* End @call, which is a search, with its response; NULL: the service is away. */
void turn_call_end_search(struct turn_call *call, const struct tools *tools,
	const struct json_tape *found, size_t chars_max);

/* Append the entries of a batch with the ids @prefix-N. Return their number. */
size_t turn_calls_write_batch(
	const struct turn_calls *calls, const char *prefix, struct buffer *out);

/* End the calls of the batch by its response; NULL: the service is away. @chars_max: the most code
 * points of a message. */
void turn_calls_end_batch(struct turn_calls *calls, const struct json_tape *response,
	struct call_counts *counts, size_t chars_max);

/* End the unfinished calls as cancelled. */
void turn_calls_cancel(struct turn_calls *calls);

/* Add a message for each call. 0 or -ENOMEM. */
int turn_calls_keep(const struct turn_calls *calls, struct history *history);

/* Return whether the model is silent after these calls: all were good, and the last has the flag
 * (contract.md, Speaking after a tool). */
bool turn_calls_are_quiet(const struct turn_calls *calls);

/* Append `{"name", "ok", "duration_ms"}` of each call, after a comma where @out has something. */
void turn_calls_list(const struct turn_calls *calls, uint64_t duration_ms, struct buffer *out);

void turn_calls_deinit(struct turn_calls *calls);
