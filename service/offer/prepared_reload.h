/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "util/buffer.h"
#include "util/diagnostic.h"
#include "util/text/text_list.h"

/*
 * The parts that come with the next catalogue. Each takes time in proportion to the catalogue, so
 * it is made beside the loop, before the catalogue is put in place:
 *
 *   members                of ovos.tools.changed
 *   unknown, shared        names to warn of
 *   summary, details       what a person may read of it (offer/summary.h)
 */
struct prepared_reload {
	bool is_detailed;           /* in: the details are wanted */
	bool has_changes;           /* since the catalogue that is in place */
	struct buffer members;      /* loaded, total_tools, added, removed, changed: JSON text */
	struct diagnostics unknown; /* names in the configuration that no tool has */
	struct text_list shared;    /* warnings of names that several toolboxes have */
	struct buffer summary;      /* empty: nothing has changed, or nothing was in place */
	struct text_list details;
	int status; /* 0 or -ENOMEM: the catalogue cannot be put in place */
};

/* Make the parts that come with @catalogue, in place of @previous (NULL: of none), by @config.
 * @next is zeroed, but for is_detailed. Reads nothing that changes. */
void prepared_reload_make(struct prepared_reload *next, const struct config *config,
	const struct catalogue *previous, const struct catalogue *catalogue);

/* Free it: it is zeroed again. */
void prepared_reload_deinit(struct prepared_reload *next);

/* Append the array of the ids of toolboxes that have tools in @catalogue. */
void prepared_reload_write_loaded(const struct catalogue *catalogue, struct buffer *out);
