/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/tape.h"
#include "util/buffer.h"

/* The properties that a schema declares for an object: the names that a manifest may use. */

/* Return whether @schema declares the property @name, of @size bytes: in `properties` at the root,
 * in an alternative, or at the target of a reference. */
bool property_is_declared(const struct json_tape *schema, const char *name, size_t size);

/* Append the names of the properties at the root of @schema, for a person: `a, b`. */
void property_write_names(const struct json_tape *schema, struct buffer *out);
