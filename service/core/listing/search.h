/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "core/request/waiting.h"
#include "loop/aside.h"
#include "offer/offer.h"
#include "search/index.h"

/*
 * ovos.tools.search: the tools that fit a query (search/rank.h).
 *
 *   request ─▶ is there an index, and up to date? ── yes ─▶ ranked at once
 *                 │ no                                            ▲
 *                 ▼                                               │
 *              waiting room (WAITING_INDEX) ◀── a thread indexes what is new
 *
 * The first search makes the index: a service without searches has none. From then on each reload
 * brings it up to date, so a later search does not wait. While the thread has the index, searches
 * wait.
 */
struct search {
	struct loop *loop; /* borrowed, as config, offer and room */
	const struct config *config;
	const struct offer *offer;
	struct waiting_room *room;
	struct search_index *index; /* NULL: there was no search yet */
	const char *stemmer;        /* the stemmer of the index */
	struct aside *aside;        /* it indexes */
	bool was_costly;            /* one took more than DEBT_FREE_NS (util/debt.h) */
};

/* Make @search ready, without an index. */
void search_init(struct search *search, struct loop *loop, const struct config *config,
	const struct offer *offer, struct waiting_room *room);

/* Wait for the thread, and free the index. Takes a zeroed struct. */
void search_deinit(struct search *search);

/* Bring the index, if there is one, up to date with the catalogue and the configuration in
 * force. */
void search_follow(struct search *search);

/* Serve ovos.tools.search: write the answer, or give it up, since the request waits. Return the
 * thread's time for it. */
uint64_t search_answer(
	struct search *search, const struct request_scope *scope, struct answer *answer);
