/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/source.h"

/*
 * The members and elements of a source by name and by number, for JSON Pointers. A small container
 * is searched; a large one gets an index at the first lookup, so a thousand references into one
 * `$defs` cost a thousand times one reference, not a million.
 */

/* The child of @container named by the @size bytes at @token, one reference token of a JSON Pointer
 * (RFC 6901 section 4) with its escapes decoded; JSON_NONE without such a child. 0 or -ENOMEM. */
int children_find(struct source *source, uint32_t container, const char *token, size_t size,
	uint32_t *ret_child);

/* Give back the indexes of @source. */
void children_deinit(struct source *source);
