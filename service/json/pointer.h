/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/* Append the JSON Pointer (RFC 6901) of token @index of @tape, from the root. Of a key: that of its
 * value. Nothing is appended for the root. */
void json_pointer_write(const struct json_tape *tape, uint32_t index, struct buffer *out);

/*
 * The token that the NUL-terminated @pointer names. Where it names nothing, the deepest token on
 * its way that is there: for telling the line of something that is missing.
 */
uint32_t json_pointer_nearest(const struct json_tape *tape, const char *pointer);

/* The token that the NUL-terminated @pointer names, which is the root for "". Whether there is one.
 */
bool json_pointer_find(const struct json_tape *tape, const char *pointer, uint32_t *ret_index);
