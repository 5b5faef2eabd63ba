/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "schema/schema.h"
#include "util/buffer.h"

/* Append the JSON text of an object with the required members of an object of @schema, each with a
 * value suggested by its schema: a constant, a default, an example, the least number, a short text.
 * Set *ret_fits to whether it satisfies @schema: a `pattern`, for one, suggests nothing. Return 0
 * or -ENOMEM. */
int sample_write(const struct schema *schema, struct buffer *out, bool *ret_fits);
