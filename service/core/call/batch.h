/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/call/invocation.h"
#include "core/request/address.h"
#include "core/request/request_scope.h"
#include "core/request/request_text.h"
#include "loop/loop.h"
#include "util/list.h"

/*
 * Batches: several calls in one request (contract.md, Batches).
 *
 *   request ─ batches_begin ─▶ entries, in order
 *                                │
 *              read: beside other│reads; any other: alone
 *                                ▼
 *                  serve(): a request for one call ─▶ checks, policy, limits, audit, runner
 *                                                                   │
 *        skipped, cancelled, over the deadline ─┐                   │ the answer at its address
 *                                               ▼                   ▼
 *                                            {name, call_id, result or error} ─▶ the next ones
 *
 *   all are over ─▶ {"results": […]} to the caller
 *
 * An entry is served like a request of its caller that came alone, so a batch has no rules of its
 * own but the order. Entries are begun from the loop, never while another request is served.
 *
 * The text of the request, and the answers until the end, are charged to the account of the caller.
 * Together the answers have a frame at most: the largest ones become too_large.
 */

/* Serve @text, the request of an entry with @address. Return 0: the answer goes to @address, now or
 * later; or an error without an answer. */
typedef int (*batch_function)(void *data, struct address *address, const struct request_text *text);

struct batches {
	const struct invoker *invoker; /* borrowed */
	batch_function serve;
	void *data;
	struct list all;   /* struct batch */
	struct list ready; /* batches of which an entry is over, or which are new */
	struct loop_task task;
	struct loop_timer rest; /* goes on with the ready ones */
	bool is_going_on;
	uint32_t n;
};

struct batch;

struct batch_entry {
	struct address address; /* for the answer; referred to while its call is served */
	struct batch *batch;
	struct buffer echo; /* the members `name` and `call_id`, JSON text */
	struct buffer rest; /* the other members, each after a comma */
	struct buffer name; /* decoded; JSON text if it is no string */
	struct buffer toolbox_id;
	struct buffer call_id; /* JSON text */
	struct buffer answer;  /* an object, once it is over */
	uint64_t timeout_ms;   /* 0: none */
	bool is_cancelled;     /* before it was begun */
	bool is_cut;
};

struct batch {
	struct list link;  /* in batches->all */
	struct list ready; /* in batches->ready, or in no list */
	struct batches *batches;
	struct answer answer; /* begun with the request */
	struct address_batch common;
	struct policy_caller *caller; /* owned, with the account that pays */
	struct buffer context;        /* the request's, JSON text; empty for a door */
	struct buffer call_id;        /* its origin, as in struct call */
	struct buffer source;
	size_t held_bytes;   /* charged to the account */
	size_t answer_bytes; /* the answers so far */
	uint64_t timeout_ms; /* 0: none */
	uint64_t due_ms;     /* the end of it */
	uint32_t n;
	uint32_t n_begun;
	uint32_t n_over;
	uint32_t denied; /* the first denied entry; n: none */
	bool goes_on;    /* after a denial */
	bool runs_alone; /* the entry that was begun last */
	bool is_cancelled;
	struct batch_entry entries[];
};

/* Make @batches empty. @serve is called with @data, from the loop. Return 0 or -ENOMEM. */
int batches_init(struct batches *batches, struct loop *loop, const struct invoker *invoker,
	batch_function serve, void *data);

/* Forget all batches, without their answers; no call is in flight any more. Takes a zeroed
 * struct. */
void batches_deinit(struct batches *batches);

/* Begin the batch of the good request in @scope. Return true with @answer taken over; else the
 * error is in it. */
bool batches_begin(
	struct batches *batches, const struct request_scope *scope, struct answer *answer);

/* Cancel the entries of @batch that were not begun. */
void batch_cancel_rest(struct batch *batch);
