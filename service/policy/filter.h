/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The filter: which tools there are at all (contract.md, Filter).
 *
 *   enabled list set (not empty)  → only what it names
 *   else disabled list set        → all but what it names
 *   else                          → all
 *
 * A name is `tool`, `toolbox_id/tool` or `toolbox_id/` + `*`: exact, with its case.
 */
struct filter {
	const char *const *enabled; /* borrowed */
	size_t n_enabled;
	const char *const *disabled; /* borrowed */
	size_t n_disabled;
};

/* Whether one of the @n_names names means the tool @name of the toolbox @toolbox_id. */
bool filter_names(
	const char *const *names, size_t n_names, const char *toolbox_id, const char *name);

/* Whether @filter lets the tool be offered. */
bool filter_offers(const struct filter *filter, const char *toolbox_id, const char *name);

/* Whether @pattern means the tool at all. */
bool filter_pattern_matches(const char *pattern, const char *toolbox_id, const char *name);
