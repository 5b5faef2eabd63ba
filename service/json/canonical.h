/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The one text of a value, however the sender wrote the value: no white space, keys sorted by their
 * UTF-8 bytes at every level, strings with the fewest escapes (RFC 8785 §3.2.2.2). Unlike there,
 * numbers keep their text: 1.0 and 1 may mean different things to a tool.
 */

/* Append the canonical text of the value at @index of @tape to @out, which records -ENOMEM. */
void json_write_canonical(struct buffer *out, const struct json_tape *tape, uint32_t index);
