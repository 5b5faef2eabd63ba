/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/package.h"
#include "config/config.h"
#include "loader/describe_cache.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/text_list.h"

/*
 * Questions to servers (kind mcp) for their tools. Questions outlive their load, so a slow server
 * holds no other up: a load waits for a moment, goes on with the answers so far, and another load
 * takes the rest.
 *
 *   load ── asking_ask ──▶ question ── a host ──▶ answer ──┬─ the load still waits: it takes it
 *     │                        ▲                           └─ arrived(): a load takes it
 *     └── asking_let_go ───────┘ goes on
 *
 * The same server is not asked twice at a time. A refusal is kept until a load may ask again.
 */
struct asking;

/* An answer: the payload of LOADED of a host, or a refusal. Exactly one of the two is set. */
struct asking_answer {
	struct buffer described;
	const char *pointer;           /* the place of the refusal in the manifest */
	const char *refusal;           /* NULL: there is a description */
	const struct package *package; /* with the facts of its host */
};

/* @item has its @answer, good during the call only. */
typedef void (*asking_answered_function)(void *item, const struct asking_answer *answer);

/* Answers have come without a waiting load. */
typedef void (*asking_arrived_function)(void *data);

/* Make an empty set of questions. @host_program and @config outlive it. @arrived may be NULL. 0 or
 * -ENOMEM. */
int asking_new(struct loop *loop, const char *host_program, const struct config *config,
	asking_arrived_function arrived, void *data, struct asking **ret_asking);

/* Free all questions; their hosts are killed. Takes NULL. */
void asking_free(struct asking *asking);

/* A load begins. @answered is called for what it asks. */
void asking_begin(struct asking *asking, asking_answered_function answered);

/* Ask the server of @package, whose description has the key @key, for @item. A present answer, or a
 * refusal unless @may_ask_again, is taken, at once. 0 or -ENOMEM. */
int asking_ask(struct asking *asking, struct package *package, const char *key, void *item,
	bool may_ask_again);

/* Return the number of waiting items. */
size_t asking_n_waiting(const struct asking *asking);

/* Call @left for each waiting item; they wait no more, and their questions go on. */
void asking_let_go(struct asking *asking, void (*left)(void *item));

/* The load is over: drop its unasked questions. */
void asking_end(struct asking *asking);

/* Return whether there is an answer not taken by a load. */
bool asking_has_answers(const struct asking *asking);

/* Add the ids of the packages being asked to @ids, and, if @has_answers, of packages with answers
 * not taken by a load. 0 or -ENOMEM. */
int asking_list(const struct asking *asking, bool has_answers, struct text_list *ids);

CLEANUP_DEFINE(asking, struct asking *, asking_free)
