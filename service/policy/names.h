/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "util/text/text_list.h"

/*
 * The names by which an operator means tools: in the filter, in profiles, and in approval.allow.
 *
 *   get_time          the tools of this name, in every toolbox; in profiles and approval.allow
 *                     without tools of kind mcp, if another tool has it
 *   clock/get_time    this one
 *   clock/get_*       `*` is any run of characters, none among them, on either side of the slash
 *
 * Exact, with their case.
 */

/* Return whether @name means the tool @tool of the toolbox @toolbox_id. */
bool name_means(const char *name, const char *toolbox_id, const char *tool);

/* Return whether one of @names means that tool. */
bool names_mean(const struct text_list *names, const char *toolbox_id, const char *tool);

/* Return whether one of @names means every present and future tool of the toolbox @toolbox_id. */
bool names_mean_toolbox(const struct text_list *names, const char *toolbox_id);

/* Return whether one of @names may mean a tool of the toolbox @toolbox_id, whatever it is
 * called. */
bool names_may_mean(const struct text_list *names, const char *toolbox_id);

/* Add to @set, which may be NULL, the tools of @catalogue meant by @name. Return whether there is
 * one. Without a star the time is one lookup. */
bool name_select(const char *name, const struct catalogue *catalogue, struct catalogue_set *set);

/*
 * The filter: which tools there are at all (contract.md, Filter).
 *
 *   enabled list set (not empty)  → only what it names
 *   else disabled list set        → all but what it names
 *   else                          → all
 */
struct filter {
	const struct text_list *enabled; /* borrowed */
	const struct text_list *disabled;
};

/* Return whether @filter lets the tool be offered. */
bool filter_offers(const struct filter *filter, const char *toolbox_id, const char *tool);

/* Return whether @filter lets the toolbox @toolbox_id offer a tool, as far as can be known before
 * its tools are. */
bool filter_offers_any(const struct filter *filter, const char *toolbox_id);
