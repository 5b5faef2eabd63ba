/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/* Append the JSON Pointer (RFC 6901) of token @index of @tape, from the root. A key has the pointer
 * of its value. Nothing is appended for the root. */
void json_pointer_write(const struct json_tape *tape, uint32_t index, struct buffer *out);

/*
 * Return the token named by the NUL-terminated @pointer. Without such a token, return the deepest
 * token on its way: the line of a missing value is reported there.
 */
uint32_t json_pointer_nearest(const struct json_tape *tape, const char *pointer);

/* The latest positions in the arrays on the way of a pointer, so lookups of one element after the
 * other ("/rows/0/cells/0", "/rows/0/cells/1", …) do not count from the first one each time. One
 * for each of the outermost arrays. Zeroed for a new tape. */
#define JSON_CURSORS 4
struct json_cursors {
	struct json_cursor {
		uint32_t array;
		uint32_t position; /* the index of @child in it */
		uint32_t child;    /* JSON_NONE: not used yet */
	} at[JSON_CURSORS];
};

/* The token named by the NUL-terminated @pointer, the root for "". Whether there is one. @cursors
 * of this tape, or NULL. */
bool json_pointer_find(const struct json_tape *tape, const char *pointer,
	struct json_cursors *cursors, uint32_t *ret_index);
