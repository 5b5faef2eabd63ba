/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The root of a portable schema as one object with properties, among them all properties of the
 * alternatives (catalogue/model_schema.h). An alternative that takes no object does not count.
 */

/* Append the root of the schema in the first element of @tape, an array; the second element is an
 * object with its definitions, to which references are @base and a name. The definitions are not
 * appended. @out records -ENOMEM. Return whether the root is such an object already. */
bool merged_root_write(const struct json_tape *tape, const char *base, struct buffer *out);
