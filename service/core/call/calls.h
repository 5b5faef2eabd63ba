/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/account.h"
#include "catalogue/package.h"
#include "config/config.h"
#include "core/request/answer.h"
#include "core/call/audit_record.h"
#include "loop/loop.h"
#include "policy/limits.h"
#include "policy/caller.h"
#include "runner/runner.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/pace.h"
#include "util/siphash.h"
#include "util/text/text_view.h"

/*
 * The calls in flight: a record for each, from acceptance to answer.
 *
 *             calls_new              calls_open                       calls_close
 *   (spare) ───────────▶ CALL_NEW ───────────────▶ CALL_IN_FLIGHT ───────────────▶ (spare)
 *      ▲                    │                        counted, found by its origin      │
 *      │                    └── calls_close                                            │
 *      └───────────────────────────────────────────────────────────────────────────────┘
 *
 * A host knows a call by its id. The caller knows a call by its origin: the door of the request,
 * the source and the call_id. Several calls may have one origin.
 *
 * The record of an ended call is kept for the next call, with the memory of its buffers unless
 * large.
 */

enum call_state {
	CALL_SPARE,
	CALL_NEW,
	CALL_IN_FLIGHT,
};

struct invoker;
struct pending_question;

/* The record of one call. The texts are JSON, with one spelling for one string; empty: absent. */
struct call {
	struct list link;     /* in calls->in_flight, or in calls->spare */
	struct list key_link; /* in the bucket of its key; in no list without a call_id */
	uint64_t key;         /* hash of its door and call_id */
	uint32_t process;     /* see call_write_id() */
	enum call_state state;
	enum call_door door;
	struct buffer source;    /* the caller's address at the door: context.source */
	struct buffer session;   /* context.session.session_id */
	struct buffer call_id;   /* the caller's id of the call, for events and for cancelling */
	struct buffer trace;     /* members (core/request/trace.h) */
	size_t held_bytes;       /* bytes of the request, held until the call is over */
	struct account *account; /* charged with them: counted reference, or NULL */
	const struct tool *tool; /* NULL: a refused request for a tool not found */
	struct buffer name;      /* as it asked for it */
	struct package *package; /* package of the tool: counted reference */
	struct answer answer;    /* begun with the request, sent when the call is over */
	uint64_t timeout_ms;
	struct pending_question
		*question;          /* its tool is asked about its arguments before a person is
					    * asked this, else NULL */
	struct audit_record record; /* for the audit log */
	struct limit_hold hold;     /* it is in flight for the limits of its caller */
	bool has_events;            /* its events are broadcast */
	bool wants_progress;        /* its caller gets its progress */
	struct pace pace;           /* for progress events */
	bool has_progress;          /* the call has reported a number; progress is the last */
	double progress;
	struct buffer progress_text; /* the last one */
	struct invoker *invoker;
	struct runner_call runner_call; /* id, start, and place in the schedule */
};

struct calls {
	struct loop *loop;
	struct list in_flight;
	struct list spare;
	struct siphash_key hash_key;
	struct list *buckets; /* calls with a call_id, by key */
	size_t n_buckets;     /* a power of two */
	uint32_t n_in_flight;
	size_t held_bytes;
	uint64_t last_id;
	uint64_t
		next_id; /* the id of the next call, where a line has it already; 0: the next one */
	uint32_t process; /* random: ids of two processes differ */
	struct limit_hold
		hold; /* the hold of the request being served: a call opened by it takes the hold
		       * over */
	bool is_stopping;           /* no further calls are taken */
	struct loop_task *on_close; /* posted when a call is closed; borrowed, or NULL */
};

/* Make @calls empty. Returns 0, -ENOMEM, or -EIO without random bytes. */
int calls_init(struct calls *calls, struct loop *loop);

/* Free every record, those in flight with their answers unsent. A zeroed @calls has none. */
void calls_deinit(struct calls *calls);

/* Return a record for a call of @tool, or of none, with the next id and empty texts; NULL without
 * memory. Set its origin, then call calls_open() or calls_close(). */
struct call *calls_new(struct calls *calls, const struct tool *tool);

/* Append @text as JSON, cut to SUMMARY_TEXT_BYTES. */
void call_write_cut_text(const struct buffer *text, struct buffer *out);

/* Keep the number of @progress, and the text as call_write_cut_text() writes it. An absent number
 * or text leaves the last one. */
void call_keep_progress(const struct json_tape *progress, bool *ret_has_number, double *ret_number,
	struct buffer *ret_text);

/* Write the daemon's id of the call with the number @number of the process @process,
 * NUL-terminated: six hexadecimal digits, the first digits unlike the ids of the calls around it,
 * and more after 2^24 calls. No two calls of a process have the same. */
#define CALL_ID_BYTES 24
void call_id_format(uint32_t process, uint64_t number, char ret_id[CALL_ID_BYTES]);

/* Return whether that is @id. */
bool call_has_id(uint32_t process, uint64_t number, const struct text_view *id);

/* Append the id of @call for events and the audit log, as JSON text: its caller's call_id, or one
 * of ours. */
void call_write_id(const struct call *call, struct buffer *out);

/* Return the time of a call of @tool (contract.md, Deadlines): @requested_ms (0: none) may only
 * shorten the time of the tool, its toolbox, or the configuration. */
uint64_t call_timeout_ms(
	const struct config *config, const struct tool *tool, uint64_t requested_ms);

/* As call_timeout_ms(), of a job. */
uint64_t call_job_timeout_ms(
	const struct config *config, const struct tool *tool, uint64_t requested_ms);

/* Return the time to which progress extends the deadline of a call of @tool; 0: no extension. */
uint64_t call_most_ms(const struct tool *tool);

/* Charge @account with the bytes to be held by @call, whose origin is set: @n_arguments of
 * arguments, and the bytes of @answer, which is still the caller's. One source may have half of
 * what the account may have. Return false when they exceed that. */
bool calls_charge(struct calls *calls, struct call *call, struct account *account,
	size_t n_arguments, const struct answer *answer);

/* Put @call in flight: it is counted and can be found. */
void calls_open(struct calls *calls, struct call *call);

/* Close @call, whose answer was sent or taken back. */
void calls_close(struct calls *calls, struct call *call);

/* Return a call in flight with exactly this origin, or NULL. @call_id is not empty. */
struct call *calls_find(const struct calls *calls, enum call_door door, const struct buffer *source,
	const struct buffer *call_id);

/* Return a call in flight with an answer to @address, or NULL. */
struct call *calls_find_address(const struct calls *calls, const struct address *address);

/* Return the call in flight with the daemon's id @id, or NULL. */
struct call *calls_find_id(const struct calls *calls, const struct text_view *id);
