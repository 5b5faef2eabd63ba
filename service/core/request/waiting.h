/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/account.h"
#include "bus/bus.h"
#include "core/request/address.h"
#include "core/request/answer.h"
#include "offer/reload.h"
#include "core/request/request_scope.h"
#include "loop/loop.h"
#include "policy/audit.h"
#include "policy/limits.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * The waiting room: requests served later, each for a reason.
 *
 *   request ─▶ waiting_begin ─▶ queue of its reason ─┬─ the event has come ─┬─▶ serve(): from the
 *     ▲                                              ├─ its time is over ───┤   beginning again
 *     │                                              ├─ it is cancelled ────┤       │
 *     │                                              └─ the service ends ───┘       │
 *     └── it waits for another reason, in the same place ◀──────────────────────────┘
 *
 *   reason     event                              at most               next reasons
 *   ─────────  ─────────────────────────────────  ────────────────────  ────────────────────
 *   CATALOGUE  the first catalogue is loaded                            CHECK, CHANGE, LINE,
 *                                                                       INDEX
 *   CHECK      a thread has read and checked the  WAITING_CHECK_MS      CHANGE, LINE, INDEX
 *              request (core/request/offload.h)
 *   CHANGE     a reload is done; the tool is      WAITING_UNKNOWN_MS,   CHECK, CHANGE, LINE
 *              unknown, or has changed            WAITING_CHANGED_MS
 *   LINE       a line about its beginning is on   start_timeout_ms      CHECK, CHANGE
 *              the disk (audit.required)
 *   INDEX      the words of the tools are indexed WAITING_CHECK_MS      none
 *              (core/listing/search.h)
 *
 * The time for CHANGE counts from the first wait for a change, so no request waits for ever. A
 * request that was cancelled, or has a line that could not be written, waits no more.
 *
 * The room keeps the text of a request as it arrived, and everything about the request is looked at
 * again, by the catalogue of then; other requests go on meanwhile. A tool that the caller may not
 * see is unknown here, too, and its request waits as long as a request for a tool that does not
 * exist.
 *
 * The sender pays for the text (bus/account.h), and for a place. A holder is a token, a user or an
 * address, and may have half of the places that other holders leave. On the bus, a source may have
 * half of these that other sources leave, and half of the bytes of its account, but at least one
 * request.
 */

/* The places, for all reasons together. */
#define WAITING_MAX 1024

/* The longest wait for the thread, for an unknown tool, and for a tool that has changed: its caller
 * would rather wait than fail. */
#define WAITING_CHECK_MS   10000
#define WAITING_UNKNOWN_MS 500
#define WAITING_CHANGED_MS 5000

/* A sender without a place may try again after this time. */
#define WAITING_FULL_NS (UINT64_C(1000) * 1000 * 1000)

enum waiting_reason {
	WAITING_CATALOGUE,
	WAITING_CHECK,
	WAITING_CHANGE,
	WAITING_LINE,
	WAITING_INDEX,
};
#define WAITING_REASONS 5

struct call_summary;

/* The work of the thread on a request (core/request/offload.h). */
struct waiting_check {
	const struct tool *tool; /* its arguments are checked; NULL: the request is only read */
	struct package *package; /* that has @tool: counted reference, or NULL */
	unsigned int fields;     /* that its topic reads (core/request/request.h) */
};

/* A waiting request, or a request served again after its wait. */
struct waiting_request {
	struct list place; /* in the places of the room; in no list once it is forgotten */
	struct list link;  /* in the queue of its reason while it waits */
	struct waiting_room *room;
	enum waiting_reason reason; /* the last one */
	unsigned int references;    /* the room's, and the thread's */
	struct account *account;    /* pays: counted reference, or NULL */
	struct address *address;    /* counted reference; NULL: its answer goes to the bus */
	uint64_t holder;            /* hash of the holder, or number of the account */
	uint64_t source_key;        /* see checks_source_key() */
	uint64_t due_ms;            /* UINT64_MAX: its time is never over */
	uint64_t change_ms;         /* the end of its waits for changes; 0: there was none */
	bool is_cancelled;
	bool is_counted;        /* it has passed the limits of its caller */
	bool is_read;           /* the thread has read it, or reads it now */
	struct limit_hold hold; /* it is in flight for these limits */
	struct buffer call_id;  /* its origin, as in struct call */
	struct buffer source;
	struct waiting_check check;
	struct audit_wait line;       /* for which it waits */
	bool has_line;                /* the line is on the disk */
	uint64_t call_number;         /* the id of the call in its line; 0: there was no line */
	struct call_summary *summary; /* that shows the call: owned, or NULL */
	struct request_text text;     /* a copy, in bytes */
	char bytes[];
};

/* Serve @request again. It may begin to wait again; else it is forgotten afterwards. */
typedef void (*waiting_function)(void *data, struct waiting_request *request);

/* The requests with one reason, sorted by the ends of their times. */
struct waiting_queue {
	struct list list;
	uint32_t n;
};

struct waiting_room {
	struct bus *bus; /* borrowed, as reload and hold; set by the owner */
	struct reload *reload;
	struct limit_hold *hold; /* the hold of the request that is served now */
	struct list places;      /* all requests */
	uint32_t n;
	struct waiting_queue queues[WAITING_REASONS];
	struct loop_timer due;
	waiting_function serve;
	void *data;
};

/* Make @room empty. @serve is called with @data, from the loop, for each request that has waited.
 * Return 0 or -ENOMEM. */
int waiting_init(struct waiting_room *room, struct loop *loop, waiting_function serve, void *data);

/* Forget all requests, without an answer. Takes a zeroed struct. */
void waiting_deinit(struct waiting_room *room);

/* Return whether @request (NULL: one that has not waited yet) may wait for @reason now. */
bool waiting_may(const struct waiting_request *request, enum waiting_reason reason);

/* Let the request in @scope wait for @reason, at most @wait_ms (UINT64_MAX: without end). The hold
 * of the room goes to it. Return NULL when it may not, there is no place for it, or memory is
 * short. */
struct waiting_request *waiting_begin(struct waiting_room *room, const struct request_scope *scope,
	enum waiting_reason reason, uint64_t wait_ms);

/* Return the first request of the queue of @reason, or NULL. */
struct waiting_request *waiting_first(const struct waiting_room *room, enum waiting_reason reason);

/* Return whether @request waits for @reason now. */
bool waiting_is_for(const struct waiting_request *request, enum waiting_reason reason);

/* Return whether @request (or NULL) was cancelled before it had a line. */
static inline bool waiting_has_ended(const struct waiting_request *request)
{
	return request && request->is_cancelled && request->call_number == 0;
}

/* Serve the waiting @request with @status. */
void waiting_serve(struct waiting_request *request, int status);

/* Serve the requests waiting for @reason now, or all, with @status. */
void waiting_serve_queue(struct waiting_room *room, enum waiting_reason reason, int status);
void waiting_serve_all(struct waiting_room *room, int status);

/* Forget @request: its wait could not begin. */
void waiting_drop(struct waiting_request *request);

/* Forget the requests of @account, whose peer has gone, unless they have a line, or were there
 * before the first catalogue: their senders need no answer. */
void waiting_forget_peer(struct waiting_room *room, const struct account *account);

/* Cancel @request: the loop serves it soon, and nothing is served or freed before this returns. So
 * a walk over the places may cancel each of them. */
void waiting_cancel(struct waiting_request *request);

/* Cancel the requests of the bus with this origin. Return whether there was one. */
bool waiting_cancel_origin(
	struct waiting_room *room, const struct buffer *source, const struct buffer *call_id);

/* Cancel the requests of @address. */
void waiting_cancel_address(struct waiting_room *room, const struct address *address);

/* Let the request in @scope wait if @answer has the error unknown_tool, and a change is pending for
 * which it has not waited long enough. Return true with @answer given up; else nothing has
 * changed. */
bool waiting_for_unknown(
	struct waiting_room *room, const struct request_scope *scope, struct answer *answer);

/* See waiting_admit(). @tool is not what it was when it was loaded. */
bool waiting_admit_changed(struct waiting_room *room, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer);

/* Return whether @tool, which @scope asks for, is what it was when it was loaded. Else begin a
 * reload unless a change is pending, and let the request wait, with @answer given up. When it
 * cannot wait any longer, the error is in @answer; or true, if no new program would run. */
static inline bool waiting_admit(struct waiting_room *room, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	return tool_is_current(tool) || waiting_admit_changed(room, scope, tool, answer);
}

/* Take a reference. */
static inline struct waiting_request *waiting_ref(struct waiting_request *request)
{
	request->references++;
	return request;
}

/* Drop a reference to @request, which may be NULL. The last reference frees the request, and takes
 * back its charge. */
void waiting_unref(struct waiting_request *request);
