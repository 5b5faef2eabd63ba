/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/history/call_summary.h"
#include "core/request/inbox.h"
#include "loop/loop.h"
#include "policy/audit.h"
#include "policy/limits.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * Held requests: until a line about their beginning is on the disk (audit.required), or, without a
 * line, until a pending change is done (core/request/late.h), or until they are read and checked
 * beside the loop (core/request/ahead.h).
 *
 *   request ─▶ held_add ─▶ audit_record_write(…, &held->wait) ─┬─ written, or not ──┐
 *                                                        ├─ its time is over ─┼─▶ handler(): served again
 *                                                        └─ the service ends ─┘
 *
 * A request is kept as the received text, and everything about it is looked at again. So no other
 * request waits for its line, and it sees no catalogue of an earlier time.
 */

/* The work on a request beside the loop (core/request/ahead.h). */
struct held_check {
	const struct tool *tool; /* its arguments are checked; NULL: the request is only read */
	struct package *package; /* that has @tool: counted reference, or NULL */
	unsigned int fields;     /* that its topic reads (core/request/request.h) */
	uint64_t source_key;     /* its source in the account (checks_source_key) */
	bool is_counted;         /* it has passed the limits of its caller */
};

/* A held request, from held_add() to the end of the handler. */
struct held {
	struct list link;
	struct held_requests *requests;
	struct audit_wait wait;
	struct inbox_frame *frame;
	struct limit_hold hold;      /* it is in flight for the limits of its caller */
	uint64_t call_number;        /* the id in its line */
	struct call_summary summary; /* as it is shown */
	struct buffer call_id;       /* its origin, as in struct call */
	struct buffer source;
	struct held_check check;
	uint64_t due_ms;
	/* 0: the line is written, the change is done, the check too; else a negative errno */
	int status;
	bool is_cancelled;
};

typedef void (*held_function)(void *data, struct held *held);

struct held_requests {
	struct list list; /* the oldest first */
	uint32_t n;
	struct loop_timer due;
	held_function function;
	void *data;
};

/* Make @requests empty. @function is called with @data, from the loop, for each request after its
 * wait. Return 0 or -ENOMEM. */
int held_init(
	struct held_requests *requests, struct loop *loop, held_function function, void *data);

/* Drop all requests, without an answer. Takes a zeroed struct. */
void held_deinit(struct held_requests *requests);

/* Hold the request @text, charged to @account and with a reference to @address (NULL: the bus), for
 * at most @wait_ms. Set its origin and number, and pass its wait to audit_record_write(). Return
 * NULL when @max are held already, or memory is short. */
struct held *held_add(struct held_requests *requests, uint32_t max, struct account *account,
	struct address *address, const struct request_text *text, uint64_t wait_ms);

/* Return the oldest request, of one or more. */
static inline struct held *held_first(const struct held_requests *requests)
{
	return container_of(requests->list.next, struct held, link);
}

/* Serve @held with @status. */
void held_serve(struct held *held, int status);

/* Forget the unserved @held. */
void held_drop(struct held *held);

/* Forget the requests charged to @account, whose peer has gone. */
void held_drop_account(struct held_requests *requests, const struct account *account);

/* Let the requests of the bus with this origin be cancelled, and served soon. Return whether there
 * was one. */
bool held_cancel(
	struct held_requests *requests, const struct buffer *source, const struct buffer *call_id);

/* Cancel the requests of @address, as held_cancel() does. */
void held_cancel_address(struct held_requests *requests, const struct address *address);

/* Return the request with the daemon's id @id, or NULL; and cancel one, as held_cancel() does. */
struct held *held_find_id(const struct held_requests *requests, const struct text_view *id);
void held_cancel_one(struct held *held);

/* Serve all requests held now, with @status. */
void held_serve_all(struct held_requests *requests, int status);
