/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/reader.h"

/* Targets of references in one schema document, found by looking at the whole document each time.
 * For the oracle only. @is_old: draft-07. */

/* Return the resource root of @schema: the innermost object around it with an `$id`. */
uint32_t place_resource(const struct json_tape *tape, bool is_old, uint32_t schema);

/* Find the object in the resource @root whose @key is the text @name. */
bool place_find_anchor(const struct json_tape *tape, bool is_old, uint32_t root, const char *key,
	const char *name, uint32_t *ret);

/* Find what the text of a reference in @from means: "#", "#/KEY/NAME", "#ANCHOR", "ID", "ID#…".
 * False for another or a missing place. */
bool place_resolve(
	const struct json_tape *tape, bool is_old, uint32_t from, const char *text, uint32_t *ret);
