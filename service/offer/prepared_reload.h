/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "util/buffer.h"
#include "util/diagnostic.h"
#include "util/text/text_list.h"

/*
 * The parts made for the next catalogue. Each takes time in proportion to the catalogue, so it is
 * made beside the loop, before the catalogue is put in place:
 *
 *   members                of ovos.tools.changed
 *   unknown, shared        names to warn of
 *   summary, details       what a person may read of it (offer/summary.h)
 *   tools                  of the answer to a request for the reload
 */
struct prepared_reload {
	bool is_detailed;           /* in: the details are wanted */
	bool is_answered;           /* in: the tools are wanted */
	bool keeps_packages;        /* the catalogue has the packages of the one in place */
	bool has_changes;           /* since the catalogue in place */
	struct buffer members;      /* loaded, total_tools, added, removed, changed: JSON text */
	struct diagnostics unknown; /* names in the configuration without a tool */
	struct text_list shared;    /* warnings of names in several toolboxes */
	struct buffer summary;      /* empty: nothing has changed, or nothing was in place */
	struct text_list details;
	struct buffer tools; /* the definitions of all tools, a JSON array */
	int status;          /* 0 or -ENOMEM: the catalogue cannot be put in place */
};

/* Make the parts for @catalogue, in place of @previous (NULL: none), by @config. @next is zeroed,
 * but for is_detailed and is_answered. Reads nothing changeable. */
void prepared_reload_make(struct prepared_reload *next, const struct config *config,
	const struct catalogue *previous, const struct catalogue *catalogue);

/* Free it: it is zeroed again. */
void prepared_reload_deinit(struct prepared_reload *next);

/* Append the array of the ids of toolboxes with tools in @catalogue. */
void prepared_reload_write_loaded(const struct catalogue *catalogue, struct buffer *out);
