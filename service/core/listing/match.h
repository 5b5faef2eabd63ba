/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "regex/regex.h"
#include "util/log.h"

/*
 * Find the tool meant by an utterance (contract.md, Requests): the first, in list order, with a
 * matching trigger. The catalogue holds only tools passed by the filter, so no other can be
 * matched.
 *
 * The search runs in the loop at once, and so it has three bounds: the length of the utterance, the
 * steps of each match (limits.pattern_steps), and the time of all matches together.
 */

#define MATCH_UTTERANCE_BYTES_MAX 4096 /* minutes of speech */
#define MATCH_MS_MAX              100  /* this thread's time, for one utterance */

/* The result of a search. */
struct match {
	const struct tool *tool;   /* NULL: none */
	size_t trigger;            /* index of the trigger that matched */
	const struct tool *costly; /* the first with a trigger of too many steps, or NULL */
	size_t costly_trigger;     /* index of that trigger */
	uint64_t spent_ns;
};

/* Positive results. */
enum match_status {
	MATCH_E_TOO_COSTLY = 1, /* the time was up before all triggers were tried */
};

/* Find the tool meant by the @size bytes of UTF-8 at @text, in at most @most_ns of this thread's
 * time. A trigger of too many steps counts as not matching. 0 or MATCH_E_TOO_COSTLY. */
int match_find(const struct catalogue *catalogue, struct regex_scratch *scratch, const char *text,
	size_t size, uint64_t most_ns, struct match *ret_match);

/* Serve ovos.tools.match. A trigger of too many steps is logged, held to @costly. Return the
 * thread's time for the search and the arguments; 0: too little to be measured. */
uint64_t match_answer(struct request_scope *scope, const struct config_limits *limits,
	struct log_rate *costly, struct answer *answer);
