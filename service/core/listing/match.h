/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "catalogue/catalogue.h"
#include "config/config.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "regex/regex.h"
#include "util/log.h"

/*
 * Find the tool meant by an utterance (contract.md, Utterances): the first, in list order, with a
 * trigger that matches and whose groups are good arguments; else the first with a trigger that
 * matches. The catalogue holds only tools passed by the filter, so no other can be matched.
 *
 *   triggers, in list order ─▶ matches? ─▶ arguments good? ─▶ complete
 *            ▲                     │ no          │ no: remembered, if it is the first
 *            └─────────────────────┴─────────────┘
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
	bool is_complete;          /* the search has taken it */
	const struct tool *costly; /* the first with a trigger of too many steps, or NULL */
	size_t costly_trigger;     /* index of that trigger */
	uint64_t spent_ns;
};

/* Positive results. */
enum match_status {
	MATCH_E_TOO_COSTLY = 1, /* the time was up before all triggers were tried */
};

/* Return whether the search takes @trigger of @tool, which matches; else the search goes on. */
typedef bool (*match_function)(void *data, const struct tool *tool, size_t trigger);

/* Find the tool meant by the @size bytes of UTF-8 at @text, in at most @most_ns of this thread's
 * time: the first that @takes takes, called with @data, else the first that matches. A trigger of
 * too many steps counts as not matching. 0 or MATCH_E_TOO_COSTLY. */
int match_find(const struct catalogue *catalogue, struct regex_scratch *scratch,
	const struct text_view *text, uint64_t most_ns, match_function takes, void *data,
	struct match *ret_match);

/* The common part of all searches. */
struct matcher {
	const struct config *config; /* borrowed, as bus */
	struct bus *bus;             /* set once it is open */
	struct log_rate costly;      /* lines about triggers of too many steps */
	bool was_costly;             /* one took more than DEBT_FREE_NS (util/debt.h) */
};

/* Find the tool that @text, of MATCH_UTTERANCE_BYTES_MAX at most, means to the caller in @scope, in
 * at most @most_ns; numbers are words of @language, a language tag. A trigger of too many steps is
 * logged. 0 or MATCH_E_TOO_COSTLY, with the arguments in @ret_args (reset; JSON text) if there is a
 * tool. */
int match_words(struct matcher *matcher, struct request_scope *scope, const struct text_view *text,
	struct text_view language, uint64_t most_ns, struct match *ret_match,
	struct buffer *ret_args);

/* Charge the sender of the message in @scope with a search of @spent_ns. */
void match_charge(struct matcher *matcher, const struct request_scope *scope, uint64_t spent_ns);

/* As match_words(), for the utterance of the request in @scope, whose sender pays for it. Return
 * false with the error in @answer. */
bool match_request(struct matcher *matcher, struct request_scope *scope, struct match *ret_match,
	struct buffer *ret_args, struct answer *answer);

/* Write the members of the response to ovos.tools.match: @match, with the arguments @args. */
void match_write(const struct match *match, const struct buffer *args, struct answer *answer);
