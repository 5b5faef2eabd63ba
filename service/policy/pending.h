/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/caller.h"
#include "policy/hex.h"
#include "policy/proof.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * The questions waiting for an answer.
 *
 *   pending_new ──▶ draft ── pending_ask ──▶ waits ─┬─ pending_find, by the id of an answer ──┐
 *                     │                             └─ pending_expired, when its time is over ┤
 *                     └───────────────────────────────────────────────────────────────────────┤
 *                                                                              pending_take ◀─┘
 */

struct pending_question {
	struct list link;
	bool is_asked;             /* no draft any more */
	bool is_cut;               /* it does not show all */
	uint64_t number;           /* in the order of asking, from 1 on */
	char id[HEX_ID_CHARS + 1]; /* 128 random bits: never used again */
	uint64_t expires_ms;
	uint64_t report_ms;    /* when it is next reported to its caller; 0: never */
	struct buffer members; /* the question's members as JSON text, but for `expires_s`
				       * and `seal` */
	char digest[PROOF_CHARS +
		    1]; /* the digest of the question, covered by its seal; "": not asked yet */
	struct buffer grant;          /* the scope of a session's approval (grants_write_scope()) */
	struct buffer arguments;      /* the arguments for its tool, as JSON text */
	void *call;                   /* the waiting call: the owner's */
	struct policy_caller *caller; /* its caller; owned, or NULL */
	bool is_withdrawn; /* its caller has gone, or other rights; it has expired, too */
};

struct pending {
	struct list drafts;
	struct list list; /* were asked, the oldest first */
	uint32_t n;       /* length of list */
	uint64_t n_asked; /* so far */
};

void pending_init(struct pending *pending);

/* Drop all questions. */
void pending_deinit(struct pending *pending);

/*
 * Return whether @caller may have one more of @most questions. As with the memory of waiting
 * requests (bus/account.h), one client may have half of the rest, and on the bus one source half of
 * the client's. A client over HTTP is a source by itself, not of its own choice, whatever
 * connections it opens.
 */
bool pending_has_room(
	const struct pending *pending, const struct policy_caller *caller, uint32_t most);

/* Draft a question about @call with a new id and empty texts; NULL without memory or random
 * bytes. */
struct pending_question *pending_new(struct pending *pending, void *call);

/* Ask the draft @question until @expires_ms; if its caller has gone, it expires at once. */
void pending_ask(struct pending *pending, struct pending_question *question, uint64_t expires_ms);

/* Return the question asked with the id of @size bytes at @id and not withdrawn, or NULL. */
struct pending_question *pending_find(const struct pending *pending, const char *id, size_t size);

/* Return the question asked about @call, or NULL. */
struct pending_question *pending_find_call(const struct pending *pending, const void *call);

/* Return a question with its time over at @now_ms, or NULL. */
struct pending_question *pending_expired(const struct pending *pending, uint64_t now_ms);

/* Return a question due for a report to its caller at @now_ms, or NULL. */
struct pending_question *pending_reported(const struct pending *pending, uint64_t now_ms);

/* Let the questions for which @is_over is true expire at once, withdrawn and not found any more.
 * Return whether one had been asked. */
bool pending_withdraw(struct pending *pending,
	bool (*is_over)(const struct pending_question *question, const void *data),
	const void *data);

/* Return when the next question expires, or is reported to its caller; UINT64_MAX without any. */
uint64_t pending_next_ms(const struct pending *pending);

/* Take @question off the table, a draft or not: its owner frees it. */
void pending_take(struct pending *pending, struct pending_question *question);

/* Free a question that was taken. Takes NULL. */
void pending_question_free(struct pending_question *question);
